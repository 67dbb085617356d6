"""The same bytes are proved only once, and other bytes are proved again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.errors import VerificationError
from hetdp.releases import proof, request
from hetdp.releases.proof import prove
from tests.releases.worlds import LABELS, WORDS, make_ledger, poll_mechanism


@pytest.fixture
def proofs(monkeypatch):
    """Records every proof, starting with an empty cache."""
    made: list[object] = []
    verify = proof.verify
    monkeypatch.setattr(proof, "verify", lambda *given: [made.append(given), verify(*given)][1])
    monkeypatch.setattr(proof, "_cache", type(proof._cache)())
    return made


def write(array, at, value):
    array.flags.writeable = True
    array[at] = value


def test_the_same_bytes_are_proved_once_with_the_same_result(proofs, tmp_path):
    mechanism, ledger = poll_mechanism(), make_ledger(tmp_path)
    first, again = (hetdp.release(mechanism, "two", ledger=ledger, version=version) for version in "12")
    third = hetdp.release(
        poll_mechanism(), "one", ledger=ledger, version="3"
    )  # computed again from the same words and numbers
    assert len(proofs) == 1
    records = [{key: found.record[key] for key in ("privacy", "mechanism", "certificates")} for found in (first, again)]
    assert records[0] == records[1] == {key: third.record[key] for key in records[0]}
    assert third.record["composition"]["charged"] == first.record["composition"]["charged"]


def test_cached_proofs_cannot_be_changed(proofs, tmp_path):
    mechanism, ledger = poll_mechanism(), make_ledger(tmp_path, "inf")
    versions = iter("1234")
    clean = hetdp.release(mechanism, "two", ledger=ledger, version=next(versions)).record
    for _ in range(2):
        found = hetdp.release(mechanism, "two", ledger=ledger, version=next(versions))
        assert found.record["privacy"] == clean["privacy"]
        found.record["privacy"]["promises"].clear()
        found.record["certificates"][0]["private"] = False
    last = hetdp.release(mechanism, "two", ledger=ledger, version=next(versions)).record
    assert last["certificates"][0]["private"] is True
    assert len(last["privacy"]["promises"]) == 2
    assert len(proofs) == 1


def test_values_changed_in_place_are_proved_again_and_refused(proofs):
    mechanism = poll_mechanism()
    prove(mechanism)
    write(mechanism.coordinates, 3, np.nextafter(mechanism.coordinates[3], np.inf))
    with pytest.raises(VerificationError, match="nothing is released"):
        prove(mechanism)
    assert len(proofs) == 2


def test_promises_changed_in_place_are_proved_again_and_refused(proofs):
    mechanism = poll_mechanism()
    prove(mechanism)
    write(mechanism.problem.graph.parameters[0], slice(None), 0.001)
    with pytest.raises(VerificationError, match="nothing is released"):
        prove(mechanism)
    assert len(proofs) == 2


def same_edges(classes=("pupils", "pupils", None), epsilon=(1.0, 0.5, 0.1), about=WORDS, notion="pure"):
    graph = hetdp.DatasetGraph.from_edges(LABELS[:-1], LABELS[1:], list(epsilon), classes=list(classes))
    return hetdp.extend(hetdp.Problem(graph, [2, 2, 1, 1], notion, about=about), {"one": 0.45, "two": 0.55})


OTHERS = {
    "another class": lambda: same_edges(classes=("pupils", "staff", None)),
    "the same classes elsewhere": lambda: same_edges(classes=("pupils", None, "pupils")),
    "another name of a class": lambda: same_edges(classes=("teachers", "teachers", None)),
    "other words": lambda: same_edges(about=WORDS | {"change": "you stay at home"}),
    "another promise": lambda: same_edges(epsilon=(1.0, 0.5, 0.2)),
    "no promise on an edge": lambda: same_edges(epsilon=(1.0, 0.5, np.inf)),
    "another notion": lambda: same_edges(notion="bounded-range"),
    "another pin": lambda: replace(poll_mechanism(), pinned=np.array([True, True, True, False])),
    "another objective": lambda: replace(poll_mechanism(), objective="fair"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_any_difference_is_proved_and_reported_again(proofs, other, tmp_path):
    ledger = make_ledger(tmp_path, "inf")
    prove(poll_mechanism())
    assert len(proofs) == 1
    expected = hetdp.release(other(), "two", ledger=ledger).record
    assert len(proofs) == 2
    proof.clear_cache()
    alone = hetdp.release(other(), "two", ledger=ledger).record
    assert alone == expected


def test_a_problem_that_changes_during_the_proof_is_not_cached(proofs, monkeypatch):
    mechanism, verify = poll_mechanism(), proof.verify

    def slow(problem, copy):
        found = verify(problem, copy)
        write(problem.graph.parameters[0], slice(None), 0.001)  # after the proof, before it is kept
        return found

    monkeypatch.setattr(proof, "verify", slow)
    assert prove(mechanism).fingerprint is None
    assert not proof._cache


def test_the_cache_is_small_and_excludes_large_or_oddly_named_problems(proofs, monkeypatch):
    for number in range(proof.MOST_CACHED + 3):
        prove(same_edges(epsilon=(1.0, 0.5, 0.2 + number / 100)))
    assert len(proof._cache) == proof.MOST_CACHED
    proof.clear_cache()
    prove(same_edges(classes=(("pupils", 1), ("pupils", 1), None)))
    monkeypatch.setattr(proof, "LARGEST_CACHED", 9)
    prove(poll_mechanism())
    assert not proof._cache


def test_the_proof_that_was_used_least_recently_makes_room(proofs, monkeypatch):
    monkeypatch.setattr(proof, "MOST_CACHED", 2)
    one, two, three = (same_edges(epsilon=(1.0, 0.5, last)) for last in (0.2, 0.3, 0.4))
    for mechanism in (one, two, one, three):
        prove(mechanism)
    assert len(proofs) == 3
    prove(one)
    assert len(proofs) == 3
    prove(two)
    assert len(proofs) == 4


def test_a_problem_of_the_largest_size_is_cached_whatever_the_order_of_its_words(proofs, monkeypatch):
    graph = poll_mechanism().problem.graph
    monkeypatch.setattr(proof, "LARGEST_CACHED", graph.size + graph.arc_count)
    prove(poll_mechanism())
    prove(same_edges(about=dict(reversed(WORDS.items()))))
    assert len(proofs) == 1
    monkeypatch.setattr(proof, "LARGEST_CACHED", graph.size + graph.arc_count - 1)
    assert prove(poll_mechanism()).fingerprint is None


def test_a_problem_of_another_class_is_proved_each_time(proofs):
    class Other(hetdp.Problem):
        pass

    mechanism = poll_mechanism()
    other = Other(mechanism.problem.graph, [2, 2, 1, 1], about=WORDS)
    for _ in range(2):
        assert prove(replace(mechanism, problem=other)).fingerprint is None
    assert len(proofs) == 2


def test_the_facts_of_the_same_bytes_are_collected_once_and_those_of_others_again(proofs, monkeypatch):
    made: list[object] = []
    collect = request.facts_of_problem
    monkeypatch.setattr(request, "facts_of_problem", lambda *given: [made.append(given), collect(*given)][1])
    first, again = (request.MechanismRequest(poll_mechanism()).facts() for _ in range(2))
    assert (first == again, first is again, len(made)) == (True, False, 1)
    changed = request.MechanismRequest(same_edges(epsilon=(1.0, 0.5, 0.3)))
    write(changed._proof.problem.graph.parameters[0], 0, 0.9)  # after the proof, before the facts
    changed.facts()
    changed.facts()
    assert len(made) == 3


def test_the_values_that_are_drawn_from_cannot_be_changed():
    found = prove(poll_mechanism()).mechanism
    for values in (found.coordinates, found.pinned, found.links):
        assert not values.flags.writeable


def test_a_source_that_was_the_only_one_is_not_assumed_later(tmp_path):
    ledger, mechanism = make_ledger(tmp_path), poll_mechanism()
    hetdp.release(mechanism, "two", ledger=ledger)
    hetdp.Ledger(tmp_path / "a.ledger").declare("more data", cap=1)  # as another process would
    with pytest.raises(hetdp.UsageError, match="no source is named; the ledger has several: 'class 4b', 'more data'"):
        hetdp.release(mechanism, "two", ledger=ledger, version="2")
    assert hetdp.release(mechanism, "two", ledger=ledger, source="class 4b", version="2").receipt["entry"] == 5


def test_an_older_copy_is_read_again_from_its_beginning(tmp_path):
    ledger, mechanism = make_ledger(tmp_path), poll_mechanism()
    before = (tmp_path / "a.ledger").read_bytes()
    for version in "12":
        hetdp.release(mechanism, "two", ledger=ledger, version=version)
    (tmp_path / "a.ledger").write_bytes(before)
    hetdp.Ledger(tmp_path / "a.ledger").declare("more data", cap=1)
    with pytest.raises(hetdp.UsageError, match="no source is named"):
        hetdp.release(mechanism, "two", ledger=ledger)
