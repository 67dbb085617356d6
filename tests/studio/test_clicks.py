"""No click and no file is lost, even if it is the same as the one before or follows it at once."""

from __future__ import annotations

from typing import Any

from hetdp.studio.gallery import GALLERY

BUTTONS = ["save-problem", "save-mechanism", "save-script"]
CELL = """([x, y]) => { const plot = document.querySelector("#chart-box .js-plotly-plot"), all = plot._fullLayout;
    const box = plot.getBoundingClientRect();
    return [box.x + all.xaxis._offset + all.xaxis.d2p(x), box.y + all.yaxis._offset + all.yaxis.d2p(y)]; }"""


def test_a_cell_that_was_clicked_before_is_selected_again(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    for key, name in (("", "3,30"), ("ArrowRight", "4,30"), ("", "3,30")):
        if key:
            page.locator("#chart-box").press(key)
        else:
            page.mouse.click(*page.evaluate(CELL, [3, 30]))
        opened.wait(f"Dataset {name},", "#announcement")
        opened.settle()


def test_the_page_is_busy_until_the_chart_of_its_last_answer_is_drawn(studio):
    """Else a click would go to the chart before it, whose cells are elsewhere."""
    drawn = []
    for name in ("survey", "three-voters", "survey"):
        opened = studio(GALLERY[name].make())
        drawn.append(
            opened.page.evaluate(
                """() => { const plot = document.querySelector("#chart-box:not(.away) .js-plotly-plot");
                return plot && plot.layout.meta === Number(hetdp.read("acknowledged", "children").split(" ")[3]); }"""
            )
        )
    assert drawn == [True, None, True]


def test_a_chart_that_an_answer_leaves_out_is_not_drawn_again(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    page.click("#view label:has-text('Summary')")
    page.wait_for_function("() => hetdp.read('view', 'value') === 'summary'")
    opened.settle()
    page.evaluate(
        """() => { window.drawings = 0; document.querySelector("#chart-box .js-plotly-plot")
            .on("plotly_afterplot", () => { window.drawings += 1; }); }"""
    )
    page.evaluate("() => hetdp.act('dataset', 5)")  # changes nothing in a summary
    opened.wait("true answer", "#announcement")
    opened.settle()
    assert page.evaluate("() => window.drawings") == 0
    page.evaluate("() => hetdp.act('objective', 'balanced')")
    page.wait_for_function("() => window.drawings === 1")
    opened.settle()


def test_an_answer_is_left_out_if_the_page_shows_a_later_one(studio):
    opened = studio(GALLERY["three-voters"].make())
    found = opened.page.evaluate(
        """() => { const [, number] = hetdp.read("acknowledged", "children").split(" ").map(Number);
        return [number - 1, number + 1].map((one) => hetdp.leaveOutEarlier(
            { multi: true, response: { acknowledged: { children: "0 " + one + " 0 0" } } }).response); }"""
    )
    assert [len(one) for one in found] == [0, 1]


def test_what_begins_is_counted_once_when_it_ends(studio):
    """Else the page would not announce that it is busy, once the picture was fitted to its box."""
    for name in ("three-voters", "survey", "three-voters"):
        opened = studio(GALLERY[name].make())
        assert (
            opened.page.evaluate(
                """() => { hetdp.begin(); const busy = document.getElementById("studio").getAttribute("aria-busy");
            hetdp.end(); return busy; }"""
            )
            == "true"
        )
        opened.settle()


def test_a_click_on_the_summary_selects_no_cell(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    page.click("#view label:has-text('Summary')")
    page.wait_for_function("() => hetdp.read('view', 'value') === 'summary'")
    opened.settle()
    points = """() => { const plot = document.querySelector("#chart-box .js-plotly-plot");
        plot.emit("plotly_click", {points: [{x: 3, y: 0.5}]}); }"""
    page.evaluate(points)
    opened.settle()
    assert opened.session.selection.kind == ""
    page.click("#view label:has-text('Map')")
    page.wait_for_function("() => hetdp.read('view', 'value') === 'map'")
    opened.settle()
    page.evaluate(points)
    opened.wait("Dataset 3,0,", "#announcement")


def test_a_file_that_was_opened_before_is_opened_again(studio, tmp_path):
    opened = studio(GALLERY["three-voters"].make())
    page = opened.page
    file = tmp_path / "pair.json"
    file.write_text(
        '{"schema_version": 1, "datasets": [{"dataset": "a", "query": 1}, {"dataset": "b", "query": 2}],'
        ' "edges": [{"source": "a", "target": "b", "epsilon": 1}]}'
    )
    for name in ("File", "Gallery", "File"):
        page.click("#open")
        page.click(f"#way label:has-text('{name}')")
        if name == "File":
            with page.expect_file_chooser() as chooser:
                page.click(".dropzone")
            chooser.value.set_files(file)
            opened.wait("2 datasets", "#title")
        else:
            page.click(".entry:has-text('Three voters')")
            opened.wait("8 datasets", "#title")
        page.wait_for_selector("#shade", state="hidden")


def test_files_that_are_saved_at_once_are_all_saved(studio):
    opened = studio(GALLERY["three-voters"].make())
    page = opened.page
    page.click("#tab label:has-text('Export')")
    opened.settle()
    saved: list[Any] = []

    def record(download: Any) -> None:
        saved.append(download.suggested_filename)

    page.on("download", record)
    try:
        with page.expect_event("download", lambda _: len(saved) == 3):
            page.evaluate("(names) => names.forEach((name) => document.getElementById(name).click())", BUTTONS)
    finally:
        page.remove_listener("download", record)
    assert sorted(saved) == ["mechanism.json", "problem.json", "studio.py"]
