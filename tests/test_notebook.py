"""The HTML of notebooks: small tables without any other markup, whatever the labels contain."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import hetdp
from hetdp.text import MOST_ROWS, html_cell, html_table
from tests.plots.shown import HOSTILE, hostile, line, voters

ALLOWED = {"table", "caption", "tr", "th", "td", "p"}
LONGEST = 20_000  # characters


class TableParser(HTMLParser):
    """Collects the tags, checks that they are closed, and collects the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.words = ""
        self.names: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.add(tag)
        self.names |= {name for name, _ in attributes}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += f"|{data}"


def parse_repr(value) -> TableParser:
    found = TableParser(value._repr_html_())
    assert found.open == []
    assert found.tags <= ALLOWED
    assert found.names <= {"style", "colspan"}
    assert len(value._repr_html_()) < LONGEST
    return found


def displayed_objects(problem, label, pins):
    mechanism = hetdp.design(problem)
    verdict = hetdp.check(problem, pins)
    assert not verdict.compatible
    return [problem.graph, problem, mechanism, mechanism.certificate, mechanism.explain(label), verdict]


def test_hostile_labels_are_plain_text_in_every_table():
    first, last = HOSTILE[0], HOSTILE[-1]
    for value in displayed_objects(hostile(), first, {first: 0.01, HOSTILE[1]: 0.99, last: 0.99}):
        assert "\u202e" not in parse_repr(value).words
    graph, problem, mechanism, *_ = displayed_objects(hostile(), first, {first: 0.01, HOSTILE[1]: 0.99})
    assert first in parse_repr(graph).words
    assert first in parse_repr(mechanism).words
    assert "truly $x^$ </svg>" in parse_repr(problem).words


def test_tables_show_the_main_facts():
    graph, problem, mechanism, certificate, path, verdict = displayed_objects(voters(), "111", {"112": 0.9, "212": 0.1})
    assert "|datasets|8" in parse_repr(graph).words
    assert "|epsilon|from 0.2 to 1" in parse_repr(graph).words
    assert "|on the boundary|6" in parse_repr(problem).words
    assert "|111|1|0.834393|0.165607|no|112" in parse_repr(mechanism).words.replace("\n", "").replace("||", "|")
    assert "|private|yes" in parse_repr(certificate).words
    assert "|ε = 1|0.834393" in parse_repr(path).words
    assert "|a private extension exists|no" in parse_repr(verdict).words
    assert str(verdict.witness) in parse_repr(verdict).words
    assert "|a private extension exists|yes" in parse_repr(hetdp.check(problem, {"112": 0.55, "212": 0.5})).words


def test_mechanisms_that_are_not_optimal_or_not_private_are_marked():
    values = dict.fromkeys(voters().graph.datasets, 0.5)
    assert "|not shown optimal|" in parse_repr(hetdp.verify(voters(), values)).words
    assert "|private|no" in parse_repr(hetdp.verify(voters(), values | {"111": 1.0})).words


@pytest.mark.parametrize("size", [0, 1, 3_000])
def test_tables_stay_small_at_every_size(size):
    problem = line(size) if size else hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], []), [])
    mechanism = hetdp.design(problem, "balanced")
    for value in (problem.graph, problem, mechanism, mechanism.certificate):
        parse_repr(value)
    assert (f"and {size - MOST_ROWS:,} more" in parse_repr(mechanism).words) == (size > MOST_ROWS)


def test_spaces_of_people_have_a_row_for_each_axis():
    problem = hetdp.spaces.tallies({"<i>": 3, "staff": 2}, hetdp.questions.majority(), {"<i>": 0.5, "staff": 1})
    words = parse_repr(problem.graph).words
    assert "12 datasets, 17 edges, none stored" in words
    assert "|<i>|3|4|0.5" in words
    assert "more than half of all rows count as yes" in parse_repr(problem).words


def test_a_boundary_that_takes_long_is_counted_only_on_request(monkeypatch):
    monkeypatch.setattr("hetdp.problem.problem.MOST_COUNTED", 2)
    problem = voters()
    assert "on the boundary" not in parse_repr(problem).words
    assert problem.boundary
    assert "on the boundary" in parse_repr(problem).words


def test_rows_are_counted_even_if_they_are_made_one_by_one():
    assert "and 5 more" in TableParser(html_table("a", ["b"], ((at,) for at in range(15)), 15)).words
    assert "more" not in TableParser(html_table("a", ["b"], [(1,)])).words


def test_columns_have_headers():
    words = TableParser(html_table("title", ["first", "second"], [("x", 1)])).words
    assert [words.index(word) for word in ("title", "first", "second", "x")] == sorted(
        words.index(word) for word in ("title", "first", "second", "x")
    )


def test_a_cell_is_cut_only_if_it_is_too_long():
    assert html_cell("x" * 80) == "x" * 80
    assert html_cell("x" * 81) == "x" * 79 + "…"
    assert html_cell("x" * 6, 5) == "xxxx…"
    assert html_cell(False) == "no"


def test_the_rest_of_the_rows_is_counted():
    rows = [(at,) for at in range(MOST_ROWS)]
    assert "more" not in TableParser(html_table("a", [], rows)).words
    assert "and 1 more" in TableParser(html_table("a", [], [*rows, (10,)])).words
    assert "and 1,990 more" in TableParser(html_table("a", [], rows, 2000)).words
    assert "more" not in TableParser(html_table("a", [], (row for row in rows))).words
    assert TableParser(html_table("a", [], [(1, 2)])).tags == {"table", "caption", "tr", "th", "td"}
    assert "th" not in TableParser(html_table("a", [], [])).tags
