"""Texts beside the picture."""

from __future__ import annotations

from typing import Any

import hetdp
from hetdp.studio import panels
from hetdp.studio.answers import GIVEN
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.session import Session
from tests.studio.sessions import path_of, session_of


def texts(parts: Any) -> str:
    """All texts of components, in order."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list | tuple):
        return "".join(map(texts, parts))
    return "" if parts is None else texts(getattr(parts, "children", ""))


def test_a_selection_is_described_in_one_sentence():
    found = session_of(path_of(4))
    assert panels.describe_selection(found) == ""
    found.select("dataset", 0)
    assert panels.describe_selection(found).startswith("Dataset 0, true answer: answer 1, p = ")
    assert panels.describe_selection(found).endswith(". 1 edge.")
    found.select("edge", 1)
    assert panels.describe_selection(found) == "Edge between 1 and 2: ε = 1."
    twice = hetdp.DatasetGraph.from_edges([0, 0], [1, 1], [1.0, 0.5], classes=["a", None])
    parallel = session_of(hetdp.Problem(twice, [1, 2]))
    words = set()
    for at in (0, 1):
        parallel.select("edge", at)
        words.add(panels.describe_selection(parallel))
    assert words == {"Edge between 0 and 1, class a: ε = 1.", "Edge between 0 and 1, without a class: ε = 0.5."}
    empty = session_of(path_of(4))
    empty.set_objective(GIVEN)
    empty.select("dataset", 3)
    assert panels.describe_selection(empty) == "Dataset 3, true answer: answer 2. 1 edge."


def test_a_selected_edge_is_summarized_by_its_ends_their_values_and_its_class():
    found = session_of(path_of(4))
    found.select("edge", 1)
    assert texts(panels.edge_summary(found)) == "Neighbours1p = 0.7310592p = 0.268941"
    found.set_objective(GIVEN)
    classes = hetdp.DatasetGraph.from_edges([0], [1], 1.0, classes=["Ann"])
    assert texts(panels.edge_summary(found)) == "Neighbours12"
    of_ann = session_of(hetdp.Problem(classes, [1, 2]))
    of_ann.select("edge", 0)
    assert texts(panels.edge_summary(of_ann)).endswith("Class: Ann")


def test_a_changed_problem_of_people_is_remarked_once():
    found = Session(GALLERY["three-voters"].make())
    assert panels.remark(found) == ""
    found.set_objective("weighted-vote")
    assert panels.remark(found) == ""
    found.set_parameter(0, "epsilon", 0.5)
    assert panels.remark(found).startswith(panels.NO_LONGER_PEOPLE)
    assert panels.remark(found).endswith("instead of Vote, which counts people.")
    found.set_pin(0, 0.9)
    assert panels.remark(found) == ""
    found.open(GALLERY["council"].make())
    assert panels.remark(found) == ""


def test_the_title_names_the_question_only_if_it_is_another():
    problem = path_of(4)
    words = texts(panels.title(session_of(problem, hetdp.PartialMechanism(p={0: 0.9}))))
    assert words == "it4 datasets · 3 edges · pure privacy · 1 given value"
    same = hetdp.Problem(problem.graph, [1, 1, 2, 2], about={"title": "it"})
    assert texts(panels.title(session_of(same))).count("it") == 1
    asked = hetdp.Problem(problem.graph, [1, 1, 2, 2], about={"title": "Who?"})
    assert "Who?" in texts(panels.title(session_of(asked)))
    assert "given value" not in texts(panels.title(session_of(asked)))


def test_the_verdict_says_what_was_found():
    good = session_of(path_of(4))
    assert panels.status(good)[0] == "good"
    assert "Private, and as accurate as possible for the worst-off datasets" in texts(panels.status(good)[1])
    assert "Verified exactly on all 3 edges." in texts(panels.status(good)[1])
    assert "on its edge." in texts(panels.status(session_of(path_of(2)))[1])
    missing = session_of(path_of(4))
    missing.set_objective(GIVEN)
    assert panels.status(missing)[0] == "none"
    assert texts(panels.status(missing)[1]).startswith("Some values are missing")
    refused = Session(GALLERY["contradiction"].make())
    kind, words = panels.status(refused)
    assert kind == "none"
    assert "p(one ill) = 0.2 allows at most p(two ill) = 0.329744, 1 step away; but p(two ill) is" in texts(words)
    refused.refuse("no")
    assert texts(panels.status(refused)[1]).startswith("no")
    hardly = session_of(path_of(4, 0.01))
    kind, words = panels.status(hardly)
    assert kind == "caution"
    assert "Private, but hardly better than a coin" in texts(words)


def test_a_selected_dataset_shows_why_and_its_neighbours(monkeypatch):
    found = session_of(path_of(6))
    found.select("dataset", 0)
    words = texts(panels.dataset_details(found))
    assert words.startswith("Why p is not higher")
    assert "≤" in words
    found.select("dataset", 5)
    assert texts(panels.dataset_details(found)).startswith("Why p is not lower")
    found.keep_values()
    found.set_pin(2, 0.6)
    found.select("dataset", 2)
    words = texts(panels.dataset_details(found))
    assert words.startswith("Why p is not higher3true answer: answer 2, givenp = 0.268941")
    assert "2given; across ε = 1, at most 0.731059p = 0.6" in words
    star = hetdp.DatasetGraph.from_edges([0] * 4, range(1, 5), 1.0)
    many = session_of(hetdp.Problem(star, [1, 2, 2, 2, 2]))
    many.select("dataset", 0)
    monkeypatch.setattr(panels, "MOST_NEIGHBOURS", 4)
    assert "more" not in texts(panels.dataset_details(many))
    monkeypatch.setattr(panels, "MOST_NEIGHBOURS", 3)
    assert texts(panels.dataset_details(many)).endswith("and 1 more")


def test_a_dataset_that_a_coin_would_answer_better_is_marked():
    problem = path_of(2)
    assert [panels._is_worse(problem, 0, z) for z in (-0.1, 0.0, 0.1)] == [True, False, False]
    assert [panels._is_worse(problem, 1, z) for z in (-0.1, 0.0, 0.1)] == [False, False, True]
    assert (panels._all_edges(1), panels._all_edges(2000)) == ("its edge", "all 2,000 edges")


def test_thirty_classes_have_their_odds_and_the_others_are_counted():
    graph = hetdp.DatasetGraph.from_edges(range(31), range(1, 32), 1.0, classes=[f"c{at}" for at in range(31)])
    odds = list(hetdp.odds(hetdp.design(hetdp.Problem(graph, [1] * 16 + [2] * 16))).by_class.values())
    assert "more" not in texts(panels.odds_list(odds[:30])[1:])
    assert texts(panels.odds_list(odds)[1:]) == "and 1 more"
    assert len(panels.odds_list(odds)[0].children) == 30


def test_the_worst_dataset_is_named_by_a_button_that_selects_it_whenever_a_coin_is_better_somewhere():
    found = Session(GALLERY["school"].make())
    changes = (
        lambda: found.set_objective("weighted-vote"),
        lambda: found.set_objective("balanced"),
        lambda: found.set_pin(0, 0.97),  # a wrong answer, at a dataset whose true answer is no
        lambda: found.set_objective("fair"),
        found.undo,
        lambda: found.set_parameter(0, "epsilon", 0.01),
        found.keep_values,
    )
    kinds = []
    for change in changes:
        change()
        kind, words = panels.status(found)
        errors = found.answer.mechanism.errors
        worst = int(errors.argmax())
        kinds.append(kind)
        assert (kind == "caution") == bool((errors > 0.5).any())
        assert buttons(words)[0].to_plotly_json()["props"]["data-at"] == worst
        if kind == "caution":
            assert f"{(errors > 0.5).sum()} of 72 datasets" in texts(words)
    assert {"good", "caution"} == set(kinds)


def buttons(parts: Any) -> list[Any]:
    """All buttons among components, in order."""
    if isinstance(parts, list | tuple):
        return [one for part in parts for one in buttons(part)]
    if type(parts).__name__ == "Button":
        return [parts]
    return [] if isinstance(parts, str) or parts is None else buttons(getattr(parts, "children", None))


def test_a_question_with_one_answer_is_no_success():
    found = Session(document_from_form("votes", "Ann, Bob, Cyd", "4", "1"))
    kind, words = panels.status(found)
    assert kind == "caution"
    assert texts(words).startswith(
        "Private, but the question has only one answerThe answer is the same for every dataset: no"
    )
    assert "Check the question." in texts(words)
    found.set_pin(0, 0.3)
    kind, words = panels.status(found)
    assert (kind, "uses no randomness" in texts(words)) == ("caution", False)


def test_a_repair_shows_values_before_and_after_and_calls_them_repaired():
    found = Session(GALLERY["contradiction"].make())
    before, after = hetdp.check(found.document.problem, {"one ill": 0.2, "two ill": 0.8}).repair.probabilities.values()
    rows = [f"one illp = 0.2 → {before:.6g}", f"two illp = 0.8 → {after:.6g}"]
    announced = texts(panels.status(found)[1])
    assert announced.endswith("".join(["The repair would move 2 of the 2 given values", *rows]))
    found.apply_repair()
    kind, words = panels.status(found)
    assert kind == "good"
    assert texts(words).startswith("Private, and as accurate as possible with the repaired values")
    assert texts(words).endswith("".join(["The repair moved 2 of the 2 given values", *rows]))
    assert texts(panels.title(found)).endswith("2 given values, 2 of them repaired")
    found.select("dataset", 2)
    words = texts(panels.dataset_details(found))
    assert words.startswith(f"Why p is not higherone illtrue answer: no, moved by the repairp = {before:.6g}")
    assert "two illgiven as 0.8, and moved by the repair; across ε = 0.5, at most 0.657388" in words
    found.select("dataset", 3)
    assert "given as 0.8, and moved by the repair" in texts(panels.dataset_details(found))
    found.set_pin(2, 0.55)
    assert found.document.repaired.keys() == {1}
    assert texts(panels.status(found)[1]).endswith(f"The repair moved 1 of the 2 given values{rows[0]}")
    found.clear_pin(1)
    assert found.document.repaired == {}
    found.undo()
    assert found.document.repaired.keys() == {1}
    found.clear_pins()
    assert found.document.repaired == {}


def test_a_given_value_close_to_certainty_is_not_shown_as_certain():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], [60.0]), [1, 2])
    found = session_of(problem)
    found.keep_values()
    found.select("dataset", 0)
    assert found.field_text("p") == ">0.999999"
    found.set_pin(0, 1.0)
    assert found.field_text("p") == "1"


def test_a_tally_is_named_by_its_counts_in_the_order_of_its_label():
    found = Session(GALLERY["council"].make())
    found.select("dataset", found.document.problem.graph.index("5,9"))
    assert texts(panels.dataset_summary(found)).startswith("5,9permanent 5, elected 9The true answer is adopted.")
    assert panels.describe_selection(found).startswith("Dataset 5,9, permanent 5, elected 9, true answer: adopted")


def test_edges_with_an_infinite_epsilon_are_not_presented_as_private():
    for values, kind, words in (
        ((1.0, float("inf")), "good", "Verified exactly on all 2 edges. 1 of them has an infinite ε"),
        ((float("inf"), float("inf")), "caution", "Nothing is promised: every ε is infinite"),
    ):
        session = session_of(path_of(3))
        for edge, value in enumerate(values):
            session.set_parameter(edge, "epsilon", value)
        found, shown = panels.verdict(session)
        assert found == kind
        assert words in texts(shown)
        assert kind == "good" or "Private" not in texts(shown)
