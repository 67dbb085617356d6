"""What notebooks show: small tables that are only tables, whatever stands in labels."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import hetdp
from hetdp.problem.notebook import MOST_ROWS, html_table
from tests.plots.shown import HOSTILE, hostile, line, voters

ALLOWED = {"table", "caption", "tr", "th", "td", "p"}
MOST = 20_000  # characters


class Reader(HTMLParser):
    """Which tags there are, whether they are closed, and the words between them."""

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


def read(value) -> Reader:
    found = Reader(value._repr_html_())
    assert found.open == []
    assert found.tags <= ALLOWED
    assert found.names <= {"style", "colspan"}
    assert len(value._repr_html_()) < MOST
    return found


def offered(problem, label, pins):
    mechanism = hetdp.design(problem)
    verdict = hetdp.check(problem, pins)
    assert not verdict.compatible
    return [problem.graph, problem, mechanism, mechanism.certificate, mechanism.explain(label), verdict]


def test_hostile_labels_are_words_in_every_table():
    first, last = HOSTILE[0], HOSTILE[-1]
    for value in offered(hostile(), first, {first: 0.01, HOSTILE[1]: 0.99, last: 0.99}):
        assert "\u202e" not in read(value).words
    graph, problem, mechanism, *_ = offered(hostile(), first, {first: 0.01, HOSTILE[1]: 0.99})
    assert first in read(graph).words
    assert first in read(mechanism).words
    assert "truly $x^$ </svg>" in read(problem).words


def test_tables_say_what_matters():
    graph, problem, mechanism, certificate, path, verdict = offered(voters(), "111", {"112": 0.9, "212": 0.1})
    assert "|datasets|8" in read(graph).words
    assert "|epsilon|from 0.2 to 1" in read(graph).words
    assert "|on the boundary|6" in read(problem).words
    assert "|111|1|0.834393|0.165607|no|112" in read(mechanism).words.replace("\n", "").replace("||", "|")
    assert "|private|yes" in read(certificate).words
    assert "|ε = 1|0.834393" in read(path).words
    assert "|a private extension exists|no" in read(verdict).words
    assert str(verdict.witness) in read(verdict).words
    assert "|a private extension exists|yes" in read(hetdp.check(problem, {"112": 0.55, "212": 0.5})).words


def test_what_is_not_the_best_or_not_private_says_so():
    values = dict.fromkeys(voters().graph.datasets, 0.5)
    assert "|not shown optimal|" in read(hetdp.verify(voters(), values)).words
    assert "|private|no" in read(hetdp.verify(voters(), values | {"111": 1.0})).words


@pytest.mark.parametrize("size", [0, 1, 3_000])
def test_tables_stay_small_at_every_size(size):
    problem = line(size) if size else hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], []), [])
    mechanism = hetdp.design(problem, "balanced")
    for value in (problem.graph, problem, mechanism, mechanism.certificate):
        read(value)
    assert (f"and {size - MOST_ROWS:,} more" in read(mechanism).words) == (size > MOST_ROWS)


def test_spaces_of_people_have_a_row_for_each_axis():
    problem = hetdp.spaces.tallies({"<i>": 3, "staff": 2}, hetdp.questions.majority(), {"<i>": 0.5, "staff": 1})
    words = read(problem.graph).words
    assert "12 datasets, 17 edges, none stored" in words
    assert "|<i>|3|4|0.5" in words
    assert "more than half of all rows say yes" in read(problem).words


def test_a_boundary_that_takes_long_is_not_counted_unasked(monkeypatch):
    monkeypatch.setattr("hetdp.problem.problem.COUNTED", 2)
    problem = voters()
    assert "on the boundary" not in read(problem).words
    assert problem.boundary
    assert "on the boundary" in read(problem).words


def test_rows_are_counted_even_if_they_are_made_one_by_one():
    assert "and 5 more" in Reader(html_table("a", ["b"], ((at,) for at in range(15)), 15)).words
    assert "more" not in Reader(html_table("a", ["b"], [(1,)])).words
