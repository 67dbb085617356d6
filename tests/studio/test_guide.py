"""Links, Back, the tour, the glossary, the presenter mode and zoom, on the page."""

from __future__ import annotations

import pytest

from hetdp.studio.gallery import GALLERY
from hetdp.studio.story import STEPS, TOUR

CHOICES = "() => ['view', 'tab'].map((name) => hetdp.read(name, 'value'))"


def wait_for_choices(opened, view: str, tab: str) -> None:
    opened.page.wait_for_function(f"([view, tab]) => ({CHOICES})().join() === [view, tab].join()", arg=[view, tab])
    opened.settle()


def choose_tab(opened, name: str) -> None:
    opened.page.click(f"#tab label:has-text('{name}')")
    opened.settle()


def test_back_stays_on_the_page_and_a_reload_and_a_link_return_to_the_work(studio):
    opened = studio(GALLERY["school"].make())
    page, session = opened.page, opened.session
    choose_tab(opened, "Odds")
    opened.show_view("Summary")
    choose_tab(opened, "Export")
    page.go_back()
    wait_for_choices(opened, "summary", "odds")
    page.go_back()
    wait_for_choices(opened, "map", "odds")
    page.go_forward()
    wait_for_choices(opened, "summary", "odds")
    session.set_objective("balanced")
    choose_tab(opened, "Export")
    page.click("#bookmark")
    page.wait_for_selector("#link-box:not([hidden])")
    link = page.input_value("#link")
    assert link.startswith(f"{opened.place.address}#state=")
    page.reload()
    opened.settle()
    wait_for_choices(opened, "summary", "export")
    assert page.locator("#shade").is_hidden()
    session.open(GALLERY["three-voters"].make())
    page.evaluate("(link) => { location.href = link; }", link)  # in this very page
    page.wait_for_function("() => hetdp.read('objective', 'value') === 'balanced'")
    wait_for_choices(opened, "summary", "export")
    opened.wait("School outbreak", "#title")
    assert page.evaluate("location.hash") == "", "a reload does not return to an old state"
    page.goto("about:blank")
    opened.requested_urls.clear()


def test_the_tour_and_the_glossary_are_used_by_keyboard_alone(studio):
    opened = studio(GALLERY["council"].make())
    page = opened.page
    page.keyboard.press("?")
    page.wait_for_selector("#glossary[open]")
    assert page.locator("#glossary dt").count() == page.locator("#glossary dd").count() > 30
    page.keyboard.press("o")  # has no effect behind it
    page.keyboard.press("Escape")
    page.wait_for_selector("#glossary:not([open])", state="attached")
    assert page.locator("#shade").is_hidden()
    page.locator("#key [data-term=border]").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    page.wait_for_selector("#tip:has-text('Where the true answer changes')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#term-border.found")
    page.locator("#glossary-tour").press("Enter")
    page.wait_for_selector("#view input[value=network]:checked", state="attached")  # it began on a map
    for stop in TOUR:
        page.wait_for_selector(f"#tour-title:text-is('{stop.title}')")
        opened.settle()
        assert page.evaluate("(target) => document.querySelector(target).getClientRects().length > 0", stop.target)
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("#tour", state="hidden")
    opened.wait("Three voters", "#title")
    choose_tab(opened, "Accuracy")
    page.hover("#accuracy [data-term='geometric noise']")
    page.wait_for_selector("#tip:has-text('Whole-number noise')")


def test_the_presenter_mode_shows_the_story_and_returns_to_the_work(studio):
    opened = studio(GALLERY["school"].make())
    page, session = opened.page, opened.session
    opened.show_view("Summary")
    session.select("dataset", 4)
    page.click("#present")
    for number in range(len(STEPS)):
        page.wait_for_selector(f"#story [data-step='{number}']")
        opened.settle()
        assert page.locator("header, aside").filter(visible=True).count() == 0
        size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('#story p')).fontSize)")
        assert size > 28, "it can be read from the last row"
        assert page.evaluate("document.documentElement.scrollHeight") <= 900
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+z")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(f"#story [data-step='{len(STEPS) - 2}']")
    page.keyboard.press("Escape")
    page.wait_for_selector("header")
    opened.wait("School outbreak", "#title")
    wait_for_choices(opened, "summary", "inspect")
    assert session.selection.number == 4


def test_the_picture_is_zoomed_and_fitted(studio):
    opened = studio(GALLERY["council"].make())
    page = opened.page
    across = "document.querySelector('#chart-box .js-plotly-plot')._fullLayout.xaxis.range.map(Number)"
    whole = page.evaluate(across)
    page.click("#zoom-in")
    page.wait_for_function(f"(whole) => {across}[0] > whole[0]", arg=whole)
    page.click("#zoom-fit")
    page.wait_for_function(f"(whole) => {across}.join() === whole.join()", arg=whole)
    opened.show_view("Network")
    before = opened.in_graph("(cy) => cy.zoom()")
    page.locator("#zoom-in").press("+")
    opened.page.wait_for_function(
        "(before) => document.getElementById('graph')._cyreg.cy.zoom() > 1.2 * before", arg=before
    )
    page.keyboard.press("0")
    opened.page.wait_for_function(
        "(before) => Math.abs(document.getElementById('graph')._cyreg.cy.zoom() - before) < 0.05 * before", arg=before
    )
    assert opened.in_graph("(cy) => cy.zoom()") == pytest.approx(before, rel=0.05)
