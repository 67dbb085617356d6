"""Every tab, dialog and view passes axe, in light and dark; dialogs take the focus and give it back."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe

from hetdp.studio.gallery import GALLERY
from hetdp.studio.layout import TABS, WAYS
from hetdp.studio.verdict import PATH

LIGHT = {"resultTypes": ["violations"]}
DARK = {**LIGHT, "runOnly": ["color-contrast"]}  # the dark page has the same names and roles


class Checker:
    """Runs axe on one page, and collects what it finds."""

    def __init__(self, opened: Any) -> None:
        self.opened = opened
        self.faults: list[str] = []
        opened.page.evaluate(Axe().axe_script)

    def check(self, state: str) -> None:
        """Checks the page in light and dark."""
        for scheme, options in (("light", LIGHT), ("dark", DARK)):
            self.set_scheme(scheme)
            found = self.opened.page.evaluate("(options) => axe.run(document, options)", options)["violations"]
            self.faults += [
                f"{state}, {scheme}: {one['id']} {[(node['target'], node['html'][:120]) for node in one['nodes']]}"
                for one in found
            ]
        self.set_scheme("light")

    def set_scheme(self, scheme: str) -> None:
        self.opened.settle()
        self.opened.page.evaluate(
            """(scheme) => { if (document.documentElement.dataset.theme !== scheme) {
                document.getElementById("night").click(); } }""",
            scheme,
        )
        self.opened.page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)
        self.opened.settle()


def test_every_tab_dialog_and_view_passes_axe_in_light_and_dark(studio):
    opened = studio(GALLERY["three-voters"].make())
    page, checker = opened.page, Checker(opened)
    page.locator("#open").focus()
    page.keyboard.press("Enter")
    for way, words in WAYS.items():
        page.click(f"#way label:has-text('{words}')")
        page.wait_for_selector(f"#way-{way}:visible")
        checker.check(f"open, {way}")
    page.fill("#form-epsilon", "nothing")
    page.click("#make")
    opened.wait("nothing", "#refused")
    checker.check("a refusal")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.id === 'open'")
    for tab, words in reversed(TABS.items()):
        page.click(f"#tab label:has-text('{words}')")
        page.wait_for_selector(f"#tab-{tab}:visible")
        checker.check(f"tab {tab}")
    for kind in ("dataset", "edge"):
        opened.press(kind, 0)
        checker.check(f"a selected {kind}")
    page.click("#help")
    page.wait_for_selector("#glossary[open]")
    checker.check("the glossary")
    page.click("#glossary-tour")
    page.wait_for_selector("#tour:visible")
    checker.check("the tour")
    page.keyboard.press("Escape")
    page.wait_for_selector("#tour", state="hidden")
    page.locator("#present").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#story [data-step]")
    checker.check("the story")
    page.keyboard.press("Escape")
    page.wait_for_selector("#story [data-step]", state="detached")
    opened = studio(GALLERY["survey"].make())
    for view in ("Map", "Summary", "Neighbourhood"):
        page.click(f"#view label:has-text('{view}')")
        checker.check(view)
    opened = studio(GALLERY["contradiction"].make())
    checker.check("a contradiction")
    for button in ("repair", "forget"):
        page.click(f"#{button}")
        checker.check(button)
    printed = page.context.new_page()
    printed.goto(f"{opened.place.address}{PATH}")
    printed.evaluate(Axe().axe_script)
    found = printed.evaluate("(options) => axe.run(document, options)", LIGHT)["violations"]
    printed.close()
    assert [one["id"] for one in found] == []
    assert checker.faults == []


def test_code_is_copied_by_keyboard(studio):
    opened = studio(GALLERY["three-voters"].make())
    page = opened.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#tab label:has-text('Export')")
    opened.wait("hetdp", "#lines-shell")
    page.locator("[data-copy=lines-shell]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-copy=lines-shell]:has-text('Copied')")
    assert page.evaluate("() => navigator.clipboard.readText()") == page.inner_text("#lines-shell")
    assert page.get_attribute("html", "lang") == "en"
