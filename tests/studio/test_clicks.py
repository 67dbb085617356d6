"""No click and no file is lost, even if it is the same as the one before or follows it at once."""

from __future__ import annotations

from typing import Any

import pytest

from hetdp.studio.gallery import GALLERY
from hetdp.studio.views import dataset_near

BUTTONS = ["save-problem", "save-mechanism", "save-script"]
SHOWN = """() => { const { xaxis, yaxis } = document.querySelector("#chart-box .js-plotly-plot")._fullLayout;
    return [...xaxis.range, ...yaxis.range]; }"""
CLICKS = f"""(many) => {{ const area = document.querySelector("#chart-box .nsewdrag");
    area.closest(".js-plotly-plot")._mouseDownTime = 0; // what was pressed before is long ago
    return many.map(([x, y]) => {{
        for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup"]) {{
            const options = {{ clientX: x, clientY: y, bubbles: true, cancelable: true, isPrimary: true }};
            const event = new (kind.startsWith("pointer") ? PointerEvent : MouseEvent)(kind, options);
            (kind.endsWith("down") ? area : document).dispatchEvent(event);
        }}
        return ({SHOWN})();
    }}); }}"""  # a few clicks in no time, and what the map shows after each


def test_a_cell_that_was_clicked_before_is_selected_again(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    for key, name in (("", "3,30"), ("ArrowRight", "4,30"), ("", "3,30")):
        if key:
            page.locator("#chart-box").press(key)
        else:
            page.mouse.click(*opened.place_of_cell(3, 30))
        opened.wait(f"Dataset {name},", "#announcement")
        opened.settle()


@pytest.mark.parametrize("last", [(3, 30), (40, 10)])
def test_two_clicks_at_once_select_the_last_cell_and_leave_the_map_where_it_is(studio, last):
    """To Plotly it is a double click, which moved the axes: the cell was selected that lay under the pointer then."""
    opened = studio(GALLERY["survey"].make())
    shown = opened.page.evaluate(CLICKS, [opened.place_of_cell(*cell) for cell in ((3, 30), last)])
    assert shown == [[-0.5, 60.5, -0.5, 40.5]] * 2
    opened.wait(f"Dataset {last[0]},{last[1]},", "#announcement")
    opened.settle()
    assert opened.page.evaluate(SHOWN) == shown[0]


def test_a_double_click_on_a_zoomed_map_selects_the_cell_that_was_seen(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    page.mouse.move(*opened.place_of_cell(10, 30))
    page.mouse.down()
    page.mouse.move(*opened.place_of_cell(30, 10), steps=4)
    page.mouse.up()
    page.wait_for_function(f"() => ({SHOWN})()[0] > 5")
    at = opened.place_of_cell(12, 28)
    assert opened.session.selection.kind == ""
    whole = [-0.5, 60.5, -0.5, 40.5]
    before, after = page.evaluate(CLICKS, [at, at])
    assert before == after != whole
    opened.wait("Dataset 12,28,", "#announcement")
    opened.settle()
    assert opened.session.selection.kind == "dataset"


FITS = """() => {
    const plot = document.querySelector("#chart-box .js-plotly-plot"), { width, height } = plot._fullLayout;
    return Math.abs(plot.clientWidth - width) <= 1 && Math.abs(plot.clientHeight - height) <= 1;
}"""
WATCH = f"""() => {{
    const page = document.getElementById("studio"), isBusy = () => page.getAttribute("aria-busy") === "true";
    window.announced = [];
    new MutationObserver(() => window.announced.push(isBusy() ? "busy" : ({FITS})() ? "fits" : "does not fit"))
        .observe(page, {{ attributes: true, attributeFilter: ["aria-busy"] }});
}}"""


def test_the_page_is_busy_until_the_chart_fills_its_box(studio):
    """Else a click would be aimed at a cell that is about to move."""
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    page.evaluate(WATCH)
    for space in ("200px", ""):  # as when the words below need more lines
        before = opened.place_of_cell(3, 30)[1]
        page.evaluate("(space) => { document.getElementById('key').style.minHeight = space; }", space)
        opened.wait_for_frames()
        assert abs(opened.place_of_cell(3, 30)[1] - before) > 20
        assert page.evaluate(FITS)
    try:
        opened.resize(1000, 700)
        assert page.evaluate(FITS)
        page.mouse.click(*opened.place_of_cell(3, 30))
        opened.wait("Dataset 3,30,", "#announcement")
    finally:
        opened.resize(1440, 900)
    assert set(page.evaluate("() => window.announced")) == {"busy", "fits"}


def test_a_click_on_a_network_that_words_have_pushed_down_selects_what_is_under_the_pointer(studio):
    opened = studio(GALLERY["three-voters"].make())
    try:
        opened.resize(390, 844)  # where the picture keeps its size
        opened.press("dataset", 1)
        before = opened.page.locator("#graph").bounding_box()["y"]
        opened.page.evaluate(
            "(words) => dash_clientside.set_props('trouble', { children: words, hidden: false })", "pushed down " * 9
        )
        opened.page.wait_for_selector("#trouble:not([hidden])")
        opened.wait_for_frames()
        assert opened.page.locator("#graph").bounding_box()["y"] > before + 40
        opened.press("dataset", 2)
        assert opened.session.selection == ("dataset", 2)
    finally:
        opened.page.evaluate("() => dash_clientside.set_props('trouble', { children: '', hidden: true })")
        opened.resize(1440, 900)


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
    opened.show_view("Summary")
    page.evaluate(
        """() => { window.drawings = 0; document.querySelector("#chart-box .js-plotly-plot")
            .on("plotly_afterplot", () => { window.drawings += 1; }); }"""
    )
    page.evaluate("() => hetdp.act('edge', 5)")  # changes nothing in a summary
    opened.wait("Edge between", "#announcement")
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


def test_a_click_on_the_summary_selects_the_nearest_dataset_and_on_the_map_a_cell(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    opened.show_view("Summary")
    at = opened.place_of_cell(3, 0.5)
    assert page.evaluate("(at) => document.elementFromPoint(...at).matches('.nsewdrag')", at)
    page.mouse.click(*at)
    opened.settle()
    near = {dataset_near(opened.session, across, 0.5) for across in (2.75, 3.25)}  # 3 may lie between two columns
    assert opened.session.selection.kind == "dataset"
    assert opened.session.selection.number in near
    opened.show_view("Map")
    page.mouse.click(*opened.place_of_cell(3, 0))
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
    opened.press("dataset", 0)  # a selection is explained in words, whichever tab was open
    assert "Why p is not higher" in page.inner_text("#tab-inspect")
    page.click("#tab label:has-text('What if?')")
    opened.press("dataset", 7)
    page.click("#compared .link")
    page.wait_for_selector("#tab-inspect:visible")
    assert "Why p is not lower" in page.inner_text("#tab-inspect")
    for width in (390, 1024, 1440):  # the whole question is read
        opened.resize(width, 900)
        assert "blank rows do not count as yes" in page.inner_text("#title .question")
        wide, needed, high = page.eval_on_selector(
            "#title .question", "(one) => [one.clientWidth, one.scrollWidth, one.clientHeight]"
        )
        assert needed <= wide
        assert high > 10
