"""A proof is not made twice of the same bytes, and is made again of any others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.errors import VerificationError
from hetdp.releases import proof
from hetdp.releases.proof import prove
from tests.releases.worlds import LABELS, WORDS, ledger, poll


@pytest.fixture
def proofs(monkeypatch):
    """Every proof that is made, from an empty memory on."""
    made: list[object] = []
    verify = proof.verify
    monkeypatch.setattr(proof, "verify", lambda *given: [made.append(given), verify(*given)][1])
    monkeypatch.setattr(proof, "_cache", type(proof._cache)())
    return made


def write(array, at, value):
    array.flags.writeable = True
    array[at] = value


def test_the_same_bytes_are_proved_once_and_say_the_same(proofs, tmp_path):
    mechanism, kept = poll(), ledger(tmp_path)
    first, again = (hetdp.release(mechanism, "two", ledger=kept, version=version) for version in "12")
    third = hetdp.release(poll(), "one", ledger=kept, version="3")  # made anew of the same words and numbers
    assert len(proofs) == 1
    records = [{key: found.record[key] for key in ("privacy", "mechanism", "certificates")} for found in (first, again)]
    assert records[0] == records[1] == {key: third.record[key] for key in records[0]}
    assert third.record["composition"]["charged"] == first.record["composition"]["charged"]


def test_nobody_can_change_what_is_remembered(proofs, tmp_path):
    mechanism, kept = poll(), ledger(tmp_path, "inf")
    versions = iter("1234")
    clean = hetdp.release(mechanism, "two", ledger=kept, version=next(versions)).record
    for _ in range(2):
        found = hetdp.release(mechanism, "two", ledger=kept, version=next(versions))
        assert found.record["privacy"] == clean["privacy"]
        found.record["privacy"]["promises"].clear()
        found.record["certificates"][0]["private"] = False
    last = hetdp.release(mechanism, "two", ledger=kept, version=next(versions)).record
    assert last["certificates"][0]["private"] is True
    assert len(last["privacy"]["promises"]) == 2
    assert len(proofs) == 1


def test_values_changed_in_place_are_proved_again_and_refused(proofs):
    mechanism = poll()
    prove(mechanism)
    write(mechanism.coordinates, 3, np.nextafter(mechanism.coordinates[3], np.inf))
    with pytest.raises(VerificationError, match="nothing is released"):
        prove(mechanism)
    assert len(proofs) == 2


def test_promises_changed_in_place_are_proved_again_and_refused(proofs):
    mechanism = poll()
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
    "another pin": lambda: replace(poll(), pinned=np.array([True, True, True, False])),
    "another objective": lambda: replace(poll(), objective="fair"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_whatever_differs_is_proved_and_told_anew(proofs, other, tmp_path):
    kept = ledger(tmp_path, "inf")
    prove(poll())
    assert len(proofs) == 1
    expected = hetdp.release(other(), "two", ledger=kept).record
    assert len(proofs) == 2
    proof.clear_cache()
    alone = hetdp.release(other(), "two", ledger=kept).record
    assert alone == expected


def test_a_problem_that_changes_meanwhile_is_not_remembered(proofs, monkeypatch):
    mechanism, verify = poll(), proof.verify

    def slow(problem, copy):
        found = verify(problem, copy)
        write(problem.graph.parameters[0], slice(None), 0.001)  # after the proof, before it is kept
        return found

    monkeypatch.setattr(proof, "verify", slow)
    assert prove(mechanism).fingerprint is None
    assert not proof._cache


def test_few_proofs_are_kept_and_none_of_what_is_large_or_oddly_named(proofs, monkeypatch):
    for number in range(proof.MOST + 3):
        prove(same_edges(epsilon=(1.0, 0.5, 0.2 + number / 100)))
    assert len(proof._cache) == proof.MOST
    proof.clear_cache()
    prove(same_edges(classes=(("pupils", 1), ("pupils", 1), None)))
    monkeypatch.setattr(proof, "LARGEST", 9)
    prove(poll())
    assert not proof._cache


def test_a_source_that_was_the_only_one_is_not_taken_for_it_later(tmp_path):
    kept, mechanism = ledger(tmp_path), poll()
    hetdp.release(mechanism, "two", ledger=kept)
    hetdp.Ledger(tmp_path / "a.ledger").declare("more data", cap=1)  # as another process would
    with pytest.raises(hetdp.UsageError, match="no source is named; the ledger has several: 'class 4b', 'more data'"):
        hetdp.release(mechanism, "two", ledger=kept, version="2")
    assert hetdp.release(mechanism, "two", ledger=kept, source="class 4b", version="2").receipt["entry"] == 5


def test_an_older_copy_is_read_again_from_its_beginning(tmp_path):
    kept, mechanism = ledger(tmp_path), poll()
    before = (tmp_path / "a.ledger").read_bytes()
    for version in "12":
        hetdp.release(mechanism, "two", ledger=kept, version=version)
    (tmp_path / "a.ledger").write_bytes(before)
    hetdp.Ledger(tmp_path / "a.ledger").declare("more data", cap=1)
    with pytest.raises(hetdp.UsageError, match="no source is named"):
        hetdp.release(mechanism, "two", ledger=kept)
