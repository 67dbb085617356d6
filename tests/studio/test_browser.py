"""User actions on the page, whose numbers must be those of the library."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.mechanism.formatting import format_percentage
from hetdp.studio.drawing import NEIGHBOURHOOD_SIZE
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.panels import BEST_AT
from hetdp.studio.server import create_server
from hetdp.studio.session import PageView, Session, new_document

PATH = ["none", "one", "two", "three", "four"]


def path_document(labels: list[str] = PATH):
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], [1.0, 0.5, 1.0, 1.0], datasets=labels)
    problem = hetdp.Problem(graph, [2, 2, 1, 1, 1])
    return new_document("a path", problem, hetdp.PartialMechanism(p={labels[1]: 0.4, labels[2]: 0.6}))


def shown_p(page) -> float:
    return float(page.inner_text("#selected-p"))


def test_a_dataset_is_clicked_and_its_binding_path_is_highlighted(studio):
    opened = studio(GALLERY["three-voters"].make())
    problem = opened.session.document.problem
    expected = hetdp.design(problem)
    opened.wait("Private, and as accurate as possible")
    opened.press("dataset", 0)
    opened.wait("yes,yes,yes", "#inspect-words")
    assert shown_p(opened.page) == pytest.approx(expected["yes", "yes", "yes"], abs=5e-7)
    path = expected.explain(("yes", "yes", "yes"))
    rows = opened.page.locator("#inspect-more ol li").all_inner_texts()
    assert [row.split("\n")[0] for row in rows] == [",".join(name) for name in path.crossing]
    assert len(path.crossing) == len(path.datasets) + 1
    assert f"{path.bounds[-1]:.6g}" in rows[-1]
    highlighted = sorted(problem.graph.index(name) for name in path.crossing)
    opened.until("(cy) => cy.nodes('.highlighted').map((one) => one.data('at')).sort()", highlighted)
    opened.page.locator("#inspect-more ol button").first.click()
    first = problem.graph.index(path.crossing[0])
    opened.until("(cy) => cy.nodes('.highlighted').map((one) => one.data('at'))", [first])


def test_the_path_across_the_boundary_is_drawn_step_by_step_on_the_map_and_in_the_summary(studio):
    opened = studio(document_from_form("tallies", "pupils=12, staff=5", "", "0.3", "staff=0.1"))
    page, problem = opened.page, opened.session.document.problem
    path = hetdp.design(problem).explain((10, 4)).crossing
    page.evaluate(
        """() => { window.animated = 0; const animate = Element.prototype.animate; Element.prototype.animate =
        function () { window.animated += 1; return animate.apply(this, arguments); }; }"""
    )
    drawn = """() => { const plot = document.querySelector("#chart-box .js-plotly-plot");
        const trace = plot._fullData.find((one) => one.name === "path"); return [trace.x.length, window.animated]; }"""
    page.mouse.click(*opened.place_of_cell(10, 4))
    opened.settle()
    page.wait_for_function("() => window.animated > 0")
    assert page.evaluate(drawn) == [len(path), 2 * (len(path) + 1)]  # each mark and the line, and their white edges
    page.locator("#inspect-more ol button").nth(1).click()
    page.wait_for_function(f"() => ({drawn})()[0] === 2")
    page.emulate_media(reduced_motion="reduce")
    opened.show_view("Summary")
    before = page.evaluate(drawn)[1]
    x, y = page.evaluate(
        """() => { const plot = document.querySelector("#chart-box .js-plotly-plot");
        const box = plot.getBoundingClientRect(), { xaxis, yaxis } = plot._fullLayout;
        return [box.x + xaxis._offset + xaxis.d2p(-3.5), box.y + yaxis._offset + yaxis.d2p(0.1)]; }"""
    )
    page.mouse.click(x, y)
    opened.wait("pupils 0, staff 5", "#inspect-words")
    opened.settle()
    other = hetdp.design(problem).explain((0, 5)).crossing
    assert page.evaluate(drawn) == [len(other), before]
    page.emulate_media(reduced_motion="no-preference")


def test_moving_an_epsilon_updates_the_mechanism_as_in_the_library(studio):
    opened = studio(path_document())
    page, before = opened.page, opened.session.document.problem
    where = opened.in_graph("(cy) => cy.nodes().map((one) => [one.position('x'), one.position('y')])")
    opened.press("edge", 2)
    opened.wait("two", "#inspect-words")
    opened.type_number("epsilon", "0.25")
    opened.page.wait_for_function("() => document.querySelector('#undo:not([disabled])')")
    graph = hetdp.DatasetGraph.from_edges(PATH[:-1], PATH[1:], [1.0, 0.5, 0.25, 1.0], datasets=PATH)
    expected = hetdp.extend(hetdp.Problem(graph, before.answers), {"one": 0.4, "two": 0.6})
    opened.wait(f"p = {expected['three']:.6g}", "#inspect-words")
    assert opened.in_graph("(cy) => cy.nodes().map((one) => [one.position('x'), one.position('y')])") == where
    page.locator("#mover-epsilon input[type=range]").press("ArrowRight")
    opened.page.wait_for_function("() => document.querySelector('#mover-epsilon input[type=text]').value === '0.26'")
    opened.page.locator("header").click()
    page.keyboard.press("Control+z")  # the slider, and then the typed number
    opened.page.wait_for_function("() => document.querySelector('#mover-epsilon input[type=text]').value === '0.25'")
    page.keyboard.press("Control+z")
    original = hetdp.extend(before, {"one": 0.4, "two": 0.6})
    opened.wait(f"p = {original['three']:.6g}", "#inspect-words")
    page.keyboard.press("Control+Shift+z")
    opened.page.wait_for_function("() => document.querySelector('#mover-epsilon input[type=text]').value === '0.25'")
    page.keyboard.press("Control+Shift+z")
    opened.page.wait_for_function("() => document.querySelector('#mover-epsilon input[type=text]').value === '0.26'")


def test_a_slider_for_many_edges_stays_under_the_pointer_while_numbers_before_and_after_follow(studio):
    opened = studio(GALLERY["three-voters"].make())
    page, session = opened.page, opened.session
    session.set_objective("weighted-vote")  # which the change ends: the verdict becomes longer, and a note appears
    session.select("dataset", 0)
    page.evaluate("() => dash_clientside.set_props('refresh', {data: 'again'})")
    opened.settle(session.revision)
    before = session.answer.mechanism["yes", "yes", "yes"]
    page.click("#tab label:has-text('What if?')")
    page.wait_for_selector("#scope-rows .mover")
    names = page.locator("#scope-rows .mover bdi").all_inner_texts()
    assert names == ["Every ε", "Ann", "Bob", "Cyd", "ε = 0.2", "ε = 1"]
    slider = page.locator("#scope-rows input[type=range]").nth(4)
    opened.settle()
    box, past = slider.bounding_box(), len(session.past)
    x, y = box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for move in range(1, 9):
        page.mouse.move(x + 0.05 * move * box["width"], y)
    opened.wait("privacy rules for people", "#side-effect")
    opened.settle()
    assert slider.bounding_box() == box
    page.mouse.up()
    opened.settle()
    value = float(slider.input_value())
    assert value > 1.0
    problem = GALLERY["three-voters"].make().problem
    expected = hetdp.design(problem.with_epsilon(lambda _one, _other, epsilon: value if epsilon == 0.2 else epsilon))
    table = page.inner_text("#compared")
    assert f"{before:.6g}\t{expected['yes', 'yes', 'yes']:.6g}" in table
    assert len(session.past) == past + 1  # all moves are one change
    values = [[row["at"], row["text"]] for row in page.evaluate("() => hetdp.read('scopes', 'data').rows")]
    assert values[4] == [0.2, f"{value:g}"]
    field = page.locator("#scope-rows input[type=text]").nth(1)
    field.fill("0.5")
    field.press("Enter")
    opened.wait("0.5", "#compared, #scope-rows")
    opened.settle()
    page.wait_for_function("() => document.querySelectorAll('#scope-rows input[type=text]')[1].value === '0.5'")
    page.click("#compare label:has-text('Balanced')")
    opened.wait("Balanced", "#compared thead")
    opened.wait("Balanced → Fair", "#key")


def test_values_that_contradict_each_other_show_a_witness_and_are_repaired(studio):
    opened = studio(path_document())
    problem = opened.session.document.problem
    opened.press("dataset", 2)
    opened.wait("two", "#inspect-words")
    opened.type_number("p", "0.9")
    opened.wait("No private mechanism has these values")
    verdict = hetdp.check(problem, {"one": 0.4, "two": 0.9})
    assert f"{verdict.witness.path.bounds[-1]:.6g}" in opened.page.inner_text("#status")
    opened.page.wait_for_function("() => document.getElementById('graph')._cyreg.cy.edges('.highlighted').length === 1")
    labels = opened.in_graph("(cy) => cy.nodes('.highlighted').map((one) => one.data('label'))")
    assert any("but 0.9" in label for label in labels)
    opened.page.click("#repair")
    opened.wait("Private, but worse than a coin at 1 of 5 datasets")
    expected = hetdp.extend(problem, verdict.repair.pins)
    opened.page.wait_for_selector("#selected-p")
    assert shown_p(opened.page) == pytest.approx(expected["two"], abs=5e-7)


def test_exported_code_runs_and_gives_the_same_result(studio, tmp_path, monkeypatch):
    opened = studio(GALLERY["three-voters"].make())
    page = opened.page
    opened.press("edge", 0)
    opened.wait("Neighbours", "#inspect-words")
    opened.type_number("epsilon", "0.125")
    page.wait_for_function("() => document.querySelector('#undo:not([disabled])')")
    page.click("#tab label:has-text('Export')")
    opened.wait("hetdp.design", "#lines-python")
    for name in ("problem", "mechanism", "script", "png", "svg"):
        with page.expect_download() as download:
            page.click(f"#save-{name}")
        download.value.save_as(tmp_path / download.value.suggested_filename)
    height = int.from_bytes((tmp_path / "mechanism.png").read_bytes()[20:24], "big")  # as PNG stores it
    boxes = [page.locator(part).bounding_box()["height"] for part in ("#graph", "#key")]
    assert height == pytest.approx(2 * sum(boxes), abs=6), "the picture has its legend"
    (tmp_path / "mechanism.png").rename(tmp_path / "network.png")
    opened.show_view("Summary")
    with page.expect_download() as download:
        page.click("#save-png")
    download.value.save_as(tmp_path / download.value.suggested_filename)
    expected = opened.session.answer.mechanism.probabilities.tolist()
    exported = json.loads((tmp_path / "mechanism.json").read_text())
    assert [row["p"] for row in exported["datasets"]] == expected
    pictures = [(tmp_path / name).read_bytes() for name in ("network.png", "mechanism.png")]
    assert [content[1:4] for content in pictures] == [b"PNG"] * 2
    assert pictures[0] != pictures[1]
    assert "<svg" in (tmp_path / "mechanism.svg").read_text()
    assert (tmp_path / "studio.py").read_text() == page.inner_text("#lines-python")
    (tmp_path / "mechanism.json").unlink()
    subprocess.run([sys.executable, "studio.py"], cwd=tmp_path, check=True, capture_output=True)
    assert [row["p"] for row in json.loads((tmp_path / "mechanism.json").read_text())["datasets"]] == expected
    monkeypatch.chdir(tmp_path)
    lines = [line for line in page.inner_text("#lines-shell").splitlines() if not line.startswith("#")]
    assert [main(shlex.split(line)[1:]) for line in lines] == [0, 0]


def test_every_entry_of_the_gallery_opens(studio):
    opened = studio(path_document())
    page = opened.page
    for entry in GALLERY.values():
        page.click("#open")
        page.click(f".entry:has-text('{entry.title}')")
        opened.wait(entry.title, "#title")
        page.wait_for_selector("#shade", state="hidden")
        for tab, name in (("Odds", "odds"), ("Export", "lines-shell")):
            page.click(f"#tab label:has-text('{tab}')")
            page.wait_for_function(f"() => document.getElementById('{name}').innerText.length > 20")
    assert page.locator("#view label").all_inner_texts() == ["Map", "Summary", "Neighbourhood"]


def test_accuracy_is_shown_beside_the_baselines_and_follows_the_objective(studio):
    opened = studio(GALLERY["school"].make())
    page, problem = opened.page, opened.session.document.problem
    page.click("#tab label:has-text('Accuracy')")
    for name in ("Fair", "Average"):
        page.click(f"#objective label:has-text('{name}')")
        opened.wait(name.lower(), "#accuracy .ours")
        expected = hetdp.accuracy(problem, hetdp.design(problem, name.lower()))
        opened.wait(f"{format_percentage(expected[name.lower()].mean_error)} %", "#accuracy .ours")
    assert page.locator("#accuracy .baseline").count() == sum(each.baseline for each in expected.methods)


def test_everything_can_be_reached_by_keyboard(studio):
    opened = studio(path_document())
    page = opened.page
    page.keyboard.press("/")
    page.keyboard.type("four")
    page.keyboard.press("Enter")
    opened.wait("four", "#inspect-words")
    page.locator("#inspect-more ul button.chip").first.focus()
    page.keyboard.press("Enter")
    opened.wait("Neighbours", "#inspect-words")
    page.locator("#objective input").last.focus()
    page.keyboard.press("ArrowLeft")
    opened.wait("mean accuracy", "#objective-words")
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    page.wait_for_selector("#shade:not([hidden])")
    page.wait_for_function("() => document.activeElement.classList.contains('entry')")
    for _ in range(40):
        page.keyboard.press("Tab")
        assert page.evaluate("document.getElementById('shade').contains(document.activeElement)")
    page.keyboard.press("Escape")
    page.wait_for_selector("#shade", state="hidden")
    before = page.evaluate("document.documentElement.dataset.theme")
    page.locator("#night").press("Enter")
    page.wait_for_function("(before) => document.documentElement.dataset.theme !== before", arg=before)


HOSTILE = [
    "<script>window.hurt = 1</script>",
    "<img src=x onerror='window.hurt = 1'>",
    "a" * 3000,
    "\u202eשלום \u202e</bdi>",
    '👩‍👩‍👧 "quoted" & {{7*7}} %{x}',
]


def test_hostile_labels_are_shown_as_plain_text(studio):
    opened = studio(path_document(labels=HOSTILE))
    page = opened.page
    for at, name in enumerate(HOSTILE):
        opened.session.select("dataset", at)
        page.fill("#find", name[:2000])
        page.locator("#find").press("Enter")
        if len(name) < 100:
            opened.wait(re.sub(r"[^\x20-\x7e]+", "|", name).split("|")[0][:12], "#inspect-words")
    for tab in ("Odds", "Accuracy", "Export"):
        page.click(f"#tab label:has-text('{tab}')")
    opened.show_view("Summary")
    opened.wait("hetdp", "#lines-python")
    assert page.evaluate("window.hurt") is None
    assert page.locator("main script, main img").count() == 0


def test_a_problem_of_5000_datasets_is_a_summary_and_a_neighbourhood(studio):
    rows, columns = 50, 100
    names = [f"{row}:{column}" for row in range(rows) for column in range(columns)]
    down = [(at, at + columns) for at in range((rows - 1) * columns)]
    across = [(at, at + 1) for at in range(rows * columns) if (at + 1) % columns]
    source, target = zip(*down, *across, strict=True)
    graph = hetdp.DatasetGraph.from_edges(
        [names[at] for at in source], [names[at] for at in target], 0.5, datasets=names
    )
    problem = hetdp.Problem(graph, [1 if at % columns >= 50 else 2 for at in range(len(names))])
    opened = studio(new_document("large", problem))
    page = opened.page
    opened.wait("Neighbourhood", "#view")  # the first search of this size may be compiled anew
    assert page.locator("#view label").all_inner_texts() == ["Summary", "Neighbourhood"]
    page.fill("#find", "25:60")
    page.locator("#find").press("Enter")
    opened.wait("25:60", "#inspect-words")
    assert shown_p(page) == pytest.approx(hetdp.design(problem)["25:60"], abs=5e-7)
    opened.show_view("Neighbourhood")
    opened.until("(cy) => cy.nodes('.selected').map((one) => one.data('at'))", [names.index("25:60")])
    opened.until("(cy) => cy.nodes().length", NEIGHBOURHOOD_SIZE)
    page.locator("#inspect-more .chip").first.click()
    opened.wait("Neighbours", "#inspect-words")
    opened.until("(cy) => cy.edges('.selected').length", 1)
    opened.until("(cy) => cy.nodes().some((one) => one.data('at') === 2560)", True)
    opened.type_number("epsilon", "0.05")
    page.wait_for_function("() => document.querySelector('#undo:not([disabled])')")
    assert opened.session.answer.mechanism is not None


def test_problems_can_be_made_with_a_form_and_faults_are_reported(studio):
    opened = studio(path_document())
    page = opened.page
    page.click("#open")
    page.click("#way label:has-text('People')")
    page.click("#space label:has-text('Tallies')")
    page.fill("#form-people", "pupils=20, staff=5")
    page.fill("#form-at-least", "3")
    page.fill("#form-epsilon", "pupils=0.3")
    page.click("#make")
    opened.wait("staff", "#refused")
    page.fill("#form-epsilon", "pupils=0.3, staff=1")
    page.click("#make")
    opened.wait("126 datasets", "#title")
    expected = hetdp.spaces.tallies(
        {"pupils": 20, "staff": 5}, hetdp.questions.count("yes", 3), {"pupils": 0.3, "staff": 1}
    )
    assert opened.session.document.problem.identity == expected.identity


def test_dropped_files_are_opened_and_faults_are_reported_without_local_paths(studio, tmp_path):
    opened = studio(path_document())
    page = opened.page
    page.click("#open")
    page.click("#way label:has-text('File')")
    faulty = tmp_path / "faulty.json"
    faulty.write_text('{"schema_version": 1, "datasets": [{"dataset": "a", "query": 3}], "edges": []}')
    page.set_input_files("#upload input", str(faulty))
    opened.wait("faulty.json", "#refused")
    assert "/tmp" not in page.inner_text("#refused")
    page.evaluate("() => { document.querySelector('.dropzone').dataset.most = '10'; }")
    page.set_input_files("#upload input", str(faulty.rename(tmp_path / "large.json")))
    opened.wait("hetdp studio PROBLEM opens any size", "#refused")
    page.evaluate("() => { document.querySelector('.dropzone').dataset.most = '1000'; }")
    (tmp_path / "my-edges.csv").write_text("source,target,epsilon\na,b,0.5\n")
    (tmp_path / "my-datasets.csv").write_text("dataset,query\na,1\nb,2\n")
    page.set_input_files("#upload input", [str(tmp_path / "my-edges.csv"), str(tmp_path / "my-datasets.csv")])
    opened.wait("2 datasets", "#title")


def test_the_dark_page_is_dark(studio):
    opened = studio(GALLERY["council"].make())
    opened.page.evaluate("() => window.localStorage.clear()")
    opened.page.emulate_media(color_scheme="dark")
    opened.page.reload()
    opened.wait("Private")
    ground = opened.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    opened.save_screenshot("dark")
    opened.page.emulate_media(color_scheme="light")
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) < 100


def test_on_a_phone_the_page_ends_where_the_studio_ends(studio):
    opened = studio(path_document())
    opened.resize(390, 844)
    try:
        opened.page.wait_for_function("() => document.querySelector('main').scrollHeight > innerHeight")
        assert opened.page.evaluate("document.documentElement.scrollHeight") == 844
    finally:
        opened.resize(1440, 900)


def test_a_second_page_and_a_second_studio_in_one_browser_do_not_mix(studio):
    opened = studio(path_document())
    page, other_session = opened.page, Session(path_document())
    elsewhere = create_server(other_session)
    threading.Thread(target=elsewhere.serve, daemon=True).start()
    second = page.context.new_page()
    try:
        for address in (elsewhere.address, opened.place.address):  # cookies would be shared by all ports
            second.goto(address)
            second.wait_for_selector("#status h2")
        assert page.context.cookies() == []
        choose = "(value) => document.querySelector(`#objective input[value=${value}]`).click()"
        settled = "() => document.querySelector('#studio').getAttribute('aria-busy') === 'false'"
        shows = "(words) => document.querySelector('#verdict').innerText.includes(words)"
        for chosen in (("balanced", "average"), ("fair",)):  # by two pages almost at once, and by one
            for one, value in zip((second, page), chosen, strict=False):
                one.evaluate(choose, value)
            for one in (second, page):
                one.wait_for_function(settled)
            assert opened.session.document.objective in chosen
            for one in (page, second):  # a page that has lost shows the other's change without being asked
                one.wait_for_function(shows, arg=BEST_AT[opened.session.document.objective])
        page.locator("#tab label", has_text="Export").click()
        page.wait_for_selector("#save-problem:visible")
        with opened.session.acting_for(PageView("another page", opened.session.revision, 0)):
            opened.session.set_parameter(2, "epsilon", 0.25)
        page.click("#save-problem")
        opened.wait("Nothing was saved", "#saved")
        opened.page.wait_for_function("() => document.querySelector('#undo:not([disabled])')")  # it shows it now
        with page.expect_download() as download:
            page.click("#save-problem")
        found = json.loads(Path(download.value.path()).read_text())
        assert found["edges"][2]["epsilon"] == 0.25
        assert other_session.revision == 1
    finally:
        second.close()
        elsewhere.stop()
