"""The HTML of notebooks: small tables without any other markup, whatever the labels contain."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import hetdp
from hetdp.text import MOST_ROWS, html_cell, html_table
from tests.plots.shown import HOSTILE, hostile, line, voters

ALLOWED = {"table", "caption", "tr", "th", "td", "p"}
LONGEST = 20_000  # characters
NUMBERS = ("multiple of every ε", "not enough")


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


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Each public result, by name."""
    folder, problem = tmp_path_factory.mktemp("results"), voters()
    classes = ["Ann"] * problem.graph.edge_count
    graph = hetdp.DatasetGraph.from_edges(*problem.graph.edges()[:3], classes=classes)
    classed = hetdp.Problem(graph, problem.answers, about={"title": "A\npoll"})
    mechanism = hetdp.design(classed)
    hetdp.save(problem, folder / "problem.json", {"112": 0.55, "212": 0.5})
    ledger = hetdp.Ledger.create(folder / "poll.ledger", source="poll", cap=5)
    verdict = hetdp.check(problem, {"112": 0.9, "212": 0.1})
    people = hetdp.spaces.population(hetdp.questions.majority(), [0.1, 1.0, 1.0])
    return {
        "Accuracy": hetdp.accuracy(problem),
        "Certificate": mechanism.certificate,
        "ClassOdds": hetdp.odds(mechanism).by_class["Ann"],
        "Ledger": ledger,
        "Odds": hetdp.odds(mechanism),
        "Odds of people": hetdp.odds(people.design()),
        "ProblemFile": hetdp.read_problem(folder / "problem.json"),
        "Release": hetdp.release(mechanism, 3, ledger=ledger),
        "Repair": verdict.repair,
        "SolvedEpsilon": hetdp.solve_epsilon(problem, 0.9),
        "SolvedEpsilon of people": hetdp.solve_epsilon(people, 0.9),
        "Sweep": hetdp.sweep(problem, [1, 2], "fair"),
        "Verdict": verdict,
        "Witness": verdict.witness,
    }


def test_each_result_is_a_table_without_a_literal_line_break_or_a_wrapped_caption(results):
    for name, result in results.items():
        found = parse_repr(result)
        assert "table" in found.tags, name
        assert "\\n" not in found.words.replace("A\\npoll", ""), name
        assert "caption-side: top; text-align: left; font-weight: bold; padding: 0.2em 0; white-space: nowrap" in (
            result._repr_html_()
        )


def test_the_repr_of_each_result_is_one_short_line_with_its_name(results):
    for name, result in results.items():
        text = repr(result)
        assert text.startswith(f"{name.partition(' ')[0]}("), name
        assert "\n" not in text, name
        assert len(text) <= 120, name
    assert repr(hetdp.PartialMechanism(z=np.zeros(1000))).count("\n") == 0


def test_tables_of_results_show_their_numbers(results):
    words = {name: parse_repr(result).words.replace("\n", "").replace("||", "|") for name, result in results.items()}
    accuracy = results["Accuracy"]
    assert all(f"|{method.name}|" in words["Accuracy"] for method in accuracy.methods)  # also beyond ten rows
    assert "geometric noise" in words["Accuracy"]
    assert "1 step|" in words["Accuracy"]
    assert f"|'Ann'|{results['ClassOdds'].answer}|" in words["Odds"]
    assert str(results["Odds"].largest) in words["Odds"]
    assert "|poll|Ann|5|" in words["Ledger"]
    assert f"|{results['Release']}|" in words["Release"]
    assert "|212|0.1|" in words["Repair"]
    assert str(results["Witness"]) in words["Witness"]
    assert "The file gives 2 values." in words["ProblemFile"]
    assert "|target|0.9|" in words["SolvedEpsilon"]
    multiple, below = (words["SolvedEpsilon"].partition(f"|{name}|")[2].partition("|")[0] for name in NUMBERS)
    assert multiple != below


def test_prices_and_populations_are_one_line_in_a_shell(tmp_path):
    people = hetdp.spaces.population(hetdp.questions.majority(), [0.5] * 30)
    assert re.fullmatch(r"Population\(30 people, 'more than half of all rows.{1,99}\)", repr(people))
    assert re.fullmatch(r"PopulationMechanism\(30 people, balanced, 'more than half.{1,99}\)", repr(people.design()))
    mechanism = hetdp.design(line(4))
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="class 4b", cap=0.1)
    refused = hetdp.price(mechanism, ledger=ledger)
    assert repr(refused) == "Price(source 'class 4b', 1 account charged, it does not fit)"
    assert repr(replace(refused, classes=())) == "Price(source 'class 4b', nothing is charged)"
