"""The pages for tables in a real browser: by keyboard alone, with axe at three widths, in light and dark.

The page announces on #studio when it is ready and when it is busy; tests wait for these states only.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from axe_playwright_python.sync_playwright import Axe

import hetdp
from hetdp.studio.opening import open_path
from hetdp.studio.people.session import NAMES
from hetdp.studio.server import create_server
from tests.stress import STRESSED
from tests.studio.conftest import SCREENSHOTS
from tests.studio.people.conftest import write_table

WIDTHS = (1440, 1024, 390)
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in WIDTHS]
COLOURS = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}
ALL_RULES = {"resultTypes": ["violations"]}
# What axe looks for: colours do not depend on the width, and names and roles do not depend on colours.
BY_AXE = dict.fromkeys(LOOKS, ALL_RULES) if STRESSED else {("light", 390): ALL_RULES, ("dark", 1440): COLOURS}


class Browsed:
    """A studio for a table, and one page that shows it."""

    def __init__(self, browser, path: Path) -> None:
        found = open_path(str(path))
        self.session = found.people
        self.place = create_server(found.session, people=found.people, first=found.first)
        threading.Thread(target=self.place.serve, daemon=True).start()
        self.page = browser.new_context(
            viewport={"width": 1440, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
        ).new_page()
        self.complaints: list[str] = []
        self.requested: list[str] = []
        self.watch(self.page)
        self.page.goto(self.place.address)
        self.settle()

    def watch(self, page) -> None:
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.extend([message.text] * (message.type == "error")))
        page.on("request", lambda request: self.requested.append(request.url))

    def close(self) -> None:
        self.page.context.close()
        self.place.stop()
        assert self.complaints == []
        root = self.place.address.removesuffix("people/")
        assert all(url.startswith((root, "data:")) for url in self.requested), self.requested

    def settle(self) -> None:
        self.page.wait_for_selector("#studio[data-ready=yes][aria-busy=false]", state="attached")

    def step(self) -> str:
        return self.page.get_attribute("#studio", "data-step")

    def tab_to(self, name: str) -> None:
        """Presses Tab until an element has the focus; whatever Tab does not reach cannot be used by keyboard."""
        for _ in range(120):
            if self.page.evaluate("() => document.activeElement.id") == name:
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach #{name}")

    def type_into(self, name: str, text: str) -> None:
        self.tab_to(name)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)
        self.settle()

    def choose(self, name: str, words: str) -> None:
        """Chooses an option by typing its first words."""
        self.tab_to(name)
        chosen = ""
        for _ in range(3):  # a browser that gets the keys more than a second apart begins the word again
            self.page.keyboard.type(words)
            chosen = self.page.evaluate("() => document.activeElement.selectedOptions[0].text")
            if chosen.startswith(words):
                break
        assert chosen.startswith(words)
        self.settle()

    def press(self, name: str, leads_to: str) -> None:
        """Presses a button and waits for the step that it leads to."""
        self.tab_to(name)
        self.page.evaluate("() => { document.getElementById('studio').dataset.old = 'yes'; }")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("#studio[data-ready=yes]:not([data-old])", state="attached")
        said = self.page.locator("#faults, .box.note[role=status]").all_inner_texts()
        assert self.step() == leads_to, said


@pytest.fixture
def browse(browser):
    opened: list[Browsed] = []

    def start(path: Path) -> Browsed:
        opened.append(Browsed(browser, path))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def walk(one: Browsed, several: bool = False) -> Browsed:
    """From a table to a published record, by keyboard alone; of one question, or of two with all that can be chosen."""
    for at, role in enumerate(("identifies", "public", "public", "private")):
        one.choose(f"role-{at}", role)
    assert "Town 80" in one.page.inner_text("#live-role-1")
    one.press("next", "question")
    one.type_into("value", "move")
    one.choose("direction", "more than")
    one.type_into("share", "50")
    one.type_into("title", "Do we move?")
    assert "Do more than 50% of all 100 people have “move”" in one.page.inner_text("#sentence")
    if several:
        one.press("add-question", "question")
        one.type_into("all-title", "Staff survey")
        one.type_into("value", "stay")
        one.type_into("share", "20")
        assert "Do we move?" in one.page.inner_text("#questions")
        one.tab_to("title")
    one.page.keyboard.press("Enter")  # in a field it is the same as the button below
    one.page.wait_for_selector("#studio[data-step=protection][data-ready=yes]", state="attached")
    one.tab_to("protection-one")
    one.page.keyboard.press("ArrowDown")
    one.settle()
    one.choose("level", "level")
    one.type_into("epsilon-0", "1")
    assert "Not chosen yet." in one.page.inner_text("#live-epsilon-1")
    assert "unset" in one.page.get_attribute("[data-for=epsilon-1]", "class")
    one.type_into("epsilon-1", "5")
    assert "unset" not in one.page.get_attribute("[data-for=epsilon-1]", "class")
    assert "protects practically nobody" in one.page.inner_text("#live-epsilon-1")
    one.page.keyboard.press("Shift+Tab")
    one.page.keyboard.press("Home")  # the slider of this level
    for _ in range(100):
        one.page.keyboard.press("ArrowRight")
    one.settle()
    assert one.page.input_value("#epsilon-1") == "0.1"
    assert "instead of 47" in one.page.inner_text("#live-epsilon-1")
    if several:
        one.tab_to("decides")
        one.page.keyboard.press("Space")
        one.settle()
        one.type_into("deciding", "0.05")
    one.press("next", "promise")
    if several:
        one.choose("question-at", "1. Do we move?")
    before = one.page.inner_html("#live-promise")
    one.type_into("share-at", "60")
    assert "If 60 people truly have “move”" in one.page.inner_text("#live-at-share")
    one.type_into("epsilon-1", "0.3")
    assert one.page.inner_html("#live-promise") != before
    if several:
        drag_slider_on_phone(one)
        one.type_into("epsilon-1", "0.3")
    one.press("next", "plan")
    one.type_into("plan-name", "plan.json")
    one.press("save-plan", "plan")
    one.tab_to("plan-lines")
    one.page.keyboard.press("Enter")
    one.tab_to("copy-plan-shell")
    one.page.keyboard.press("Enter")
    one.page.wait_for_selector("#copy-plan-shell:has-text('Copied')")
    assert one.page.evaluate("() => navigator.clipboard.readText()").endswith("--dry-run\n")
    one.press("next", "release")
    one.type_into("times", "2")
    one.press("make-ledger", "release")
    one.tab_to("confirm")
    one.page.keyboard.press("Space")
    one.press("release", "record")
    return one


CURVES = "all => all.map(one => one.getAttribute('points')).join()"


def drag_slider_on_phone(one: Browsed) -> None:
    """Moves a slider with the pointer held until the curves follow it, in copies that stay in sight."""
    one.page.set_viewport_size({"width": 390, "height": 844})
    slider = one.page.locator("[data-for=epsilon-1]")
    slider.evaluate("slider => slider.scrollIntoView({block: 'center'})")
    box, before = slider.bounding_box(), one.page.eval_on_selector_all(".charts .line.ours", CURVES)
    one.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    one.page.mouse.down()
    for step in range(2000):  # without a pause
        one.page.mouse.move(box["x"] + box["width"] * (0.5 + step % 100 / 250), box["y"] + box["height"] / 2)
        if one.page.eval_on_selector_all(".charts .line.ours", CURVES) != before:
            break
    else:
        raise AssertionError("the curves do not follow the slider")
    assert one.page.locator(".preview .line.ours").count() == 2
    one.page.mouse.up()
    one.settle()
    shown, copied = (one.page.eval_on_selector_all(f"{where} .line.ours", CURVES) for where in (".charts", ".preview"))
    assert shown == copied != before
    one.page.set_viewport_size({"width": 1440, "height": 900})


def test_a_spreadsheet_is_published_by_keyboard_alone(browse, tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["these are notes"])
    sheet = book.create_sheet("Staff")
    for line in write_table(tmp_path / "people.csv").read_text().splitlines():
        sheet.append(line.split(","))
    book.save(tmp_path / "staff.xlsx")
    one = browse(tmp_path / "staff.xlsx")
    one.choose("sheet", "Staff")
    one.press("open-sheet", "table")
    walk(one)
    assert hetdp.read_record(tmp_path / "plan-record.json")["plan"]["table"] == {"file": "staff.xlsx", "table": "Staff"}


def test_a_table_is_published_by_keyboard_alone_and_every_step_is_accessible(browse, tmp_path):
    walked = walk(browse(write_table(tmp_path / "people.csv")), several=True)
    for number, record in enumerate(hetdp.read_record(tmp_path / "plan-record.json")["releases"], 1):
        assert walked.page.inner_text(f"#answer-{number}") == record["answers"][0]["words"]
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    found = []
    for step in NAMES:
        walked.page.goto(f"{walked.place.address}{step}")
        walked.page.evaluate(Axe().axe_script)
        for part in walked.page.query_selector_all("details:not([open]) > summary"):
            part.click()
        for scheme, width in LOOKS:
            walked.page.emulate_media(color_scheme=scheme)
            walked.page.set_viewport_size({"width": width, "height": 900})
            walked.settle()
            across = walked.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
            found += [f"{step} {scheme} {width}: {across} pixels too wide"] if across > 0 else []
            if (scheme, width) not in BY_AXE:
                continue
            walked.page.screenshot(path=str(SCREENSHOTS / f"people-{step}-{scheme}-{width}.png"), full_page=True)
            checked = walked.page.evaluate("(options) => axe.run(document, options)", BY_AXE[scheme, width])
            found += [
                f"{step} {scheme} {width}: {one['id']} {[node['html'][:200] for node in one['nodes']]}"
                for one in checked["violations"]
            ]
    assert found == []


def test_a_reload_and_a_second_page_come_back_to_the_same_state(browse, tmp_path):
    one = browse(write_table(tmp_path / "people.csv"))
    for at, role in enumerate(("identifies", "public", "public", "private")):
        one.choose(f"role-{at}", role)
    one.press("next", "question")
    one.type_into("title", "Do we move?")
    one.page.reload()
    one.settle()
    assert one.step() == "question"
    assert one.page.input_value("#title") == "Do we move?"
    other = one.page.context.new_page()
    one.watch(other)
    other.goto(one.place.address)
    other.wait_for_selector("#studio[data-step=question][data-ready=yes]", state="attached")
    one.type_into("title", "Another title")
    other.fill("#value", "stay")
    other.wait_for_selector("text=Another page has changed this plan")
    assert other.input_value("#title") == "Another title"
    assert one.session.draft["value"] == ""
    assert [text for text in one.complaints if "409" not in text] == []
    one.complaints.clear()


def test_mistakes_are_said_beside_their_fields(browse, tmp_path):
    one = browse(write_table(tmp_path / "people.csv"))
    one.press("next", "table")
    assert "one column must identify each person" in one.page.inner_text("#faults")
    assert one.page.evaluate("() => document.activeElement.id") == "faults"
    for role, missing in (("person", "at least one column is private"), ("", "one column must identify each person")):
        one.page.select_option("#role-0", role)  # the box follows although it has the focus
        one.page.wait_for_selector(f"#faults:has-text('{missing}')")
    pass_roles(one)
    for at, role in enumerate(("identifies", "public", "public", "private")):
        one.choose(f"role-{at}", role)
    one.press("next", "question")
    one.type_into("share", "0.5")
    one.tab_to("title")
    assert "write 50% or 0.5%" in one.page.inner_text("#share-fault")
    assert one.page.get_attribute("#share", "aria-invalid") == "true"
    assert "share-fault" in one.page.get_attribute("#share", "aria-describedby")
    press_before_the_answer(one)


def pass_roles(one: Browsed) -> None:
    """Passes "public" with the keys, however slowly, which must not show what a column holds; then returns."""
    one.tab_to("role-3")
    for _ in range(2):
        one.page.keyboard.press("ArrowDown")
        one.settle()
    assert one.page.input_value("#role-3") == "public"
    one.page.evaluate("() => document.getElementById('role-0').dispatchEvent(new Event('input', {bubbles: true}))")
    one.settle()  # another field has been sent, and the menu has not
    assert "when you leave the menu" in one.page.inner_text("#live-role-3")
    table = one.session.require_table()
    assert (table.roles, table.seen) == ({}, set())
    one.page.keyboard.press("ArrowDown")
    one.page.keyboard.press("Shift+Tab")
    one.settle()
    assert one.session.require_table().roles == {"answer": "counted"}  # each change makes a new object
    assert "Private" in one.page.inner_text("#live-role-3")
    one.page.select_option("#role-1", "public")  # as a pointer does, which passes nothing
    one.page.wait_for_selector("#live-role-1:has-text('Town 80')")


def press_before_the_answer(one: Browsed) -> None:
    """Types on and presses Enter while an answer about the first letters is on its way."""
    late: list[Any] = []

    def answer_late(route) -> None:
        if late or "live=yes" not in (route.request.post_data or ""):
            route.continue_()
            return
        late.append(route.fetch())  # the server has taken what was typed; the page does not know it yet
        one.page.keyboard.insert_text(" move?")
        one.page.keyboard.press("Enter")
        route.fulfill(response=late[0])

    one.page.evaluate("() => { document.getElementById('studio').dataset.old = 'yes'; }")
    one.page.route("**/people/question", answer_late)
    one.page.keyboard.insert_text("Do we")  # at once, on a busy machine, too
    one.page.wait_for_selector("#studio[data-ready=yes]:not([data-old])", state="attached")
    assert one.page.locator("text=Another page").all_inner_texts() == []
    assert one.page.input_value("#title") == one.session.draft["title"] == "Do we move?"
    assert "question" in one.session.tried
    one.page.unroute("**/people/question")


def test_the_start_dialog_offers_a_table_and_a_problem(browser, tmp_path, monkeypatch):
    write_table(tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    found = open_path(None)
    place = create_server(found.session, start=True, people=found.people, first=found.first)
    threading.Thread(target=place.serve, daemon=True).start()
    page = browser.new_context().new_page()
    page.goto(place.address)
    page.wait_for_selector("#open-table")
    assert page.is_visible("text=Open a problem")
    assert "people.csv" in page.inner_text("#open-table")
    page.click("#open-table")
    page.click("text=people.csv")
    page.wait_for_selector("#role-0")
    page.context.close()
    place.stop()
