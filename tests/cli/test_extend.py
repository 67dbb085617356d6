"""hetdp extend: the most accurate private mechanism with the given values."""

from __future__ import annotations

from pathlib import Path

import pytest

from hetdp.certificate.certificate import Certificate
from hetdp.errors import VerificationError
from hetdp.mechanism import extension
from tests.cli.test_check import REFUSAL

TABLE = """\
dataset  query  p         error      pinned  binding
0        2      0.147152  0.147152   no      1
1        2      0.4       0.4        yes     -
2        1      0.6       0.4        yes     -
3        1      0.852848  0.147152   no      2
4        1      0.945866  0.0541342  no      3
"""


def test_without_a_file_a_table_is_printed(hetdp):
    ended = hetdp("extend", "poll.json")
    assert (ended.code, ended.out) == (0, TABLE)
    read, proof = ended.err.splitlines()
    assert read == "read poll.json: 5 datasets, 4 edges, 2 pinned"
    assert proof.startswith("private on all 4 edges (")
    assert "; optimal (gap" in proof


@pytest.mark.parametrize("name", ["mechanism.csv", "mechanism.json", "mechanism.parquet"])
def test_a_file_takes_the_place_of_the_table_and_can_be_verified(hetdp, name):
    ended = hetdp("extend", "poll.json", "-o", name)
    assert (ended.code, ended.out) == (0, "")
    assert f"\nwrote {name}" in ended.err
    assert hetdp("verify", "poll.json", name).code == 0


def test_the_json_document_of_a_mechanism_can_be_read_again(hetdp):
    for arguments in (("-o", "-"), ("--json",)):
        document = hetdp("extend", "poll.json", *arguments)
        assert document.code == 0
        assert hetdp("verify", "poll.json", "-", stdin=document.out).code == 0


def test_with_a_file_json_is_a_summary(hetdp):
    ended = hetdp("extend", "poll.json", "-o", "mechanism.csv", "--json")
    keys = ["schema_version", "verb", "output", "objective", "counts", "moved", "worse_than_coin", "certificate"]
    assert list(ended.document) == keys


def test_both_engines_are_offered_and_give_the_same(hetdp):
    assert hetdp("extend", "poll.json", "--engine", "reference").out == TABLE


def test_pins_can_come_from_another_file_and_take_the_place_of_those_in_the_problem(hetdp):
    Path("wishes.json").write_text('{"schema_version": 1, "datasets": [{"dataset": 1, "p": 0.5}]}')
    ended = hetdp("extend", "poll.json", "--pins", "wishes.json")
    assert ended.code == 3
    assert "dataset 2: boundary dataset without p" in ended.err
    assert "Hint: hetdp design PROBLEM chooses values where there are none" in ended.err


def test_values_moved_by_a_rounding_are_mentioned(hetdp):
    assert "missed by a rounding, and were moved by at most 1.1e-10 in z" in hetdp("extend", "near-miss.json").err


def test_without_a_proof_that_is_said(hetdp):
    ended = hetdp("extend", "poll.json", "--no-verify")
    assert (ended.code, ended.out) == (0, TABLE)
    assert ended.err.endswith("every edge was checked; no certificate was made, as requested\n")


def test_a_file_has_its_proof_all_the_same(hetdp):
    ended = hetdp("extend", "poll.json", "--no-verify", "-o", "mechanism.json", "--json")
    assert ended.document["certificate"]["optimal"] is True
    assert "; optimal (gap" in ended.err


def test_values_that_do_not_extend_are_refused_as_check_refuses_them(hetdp):
    ended = hetdp("extend", "too-much.json", "-o", "mechanism.csv")
    assert (ended.code, ended.out) == (4, "")
    assert f"hetdp: {REFUSAL}Hint: hetdp check PROBLEM --repair FILE writes the problem" in ended.err
    assert not Path("mechanism.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "mechanism.txt"], "no format is known for 'mechanism.txt'; the name after -o ends in .csv"),
        (["-o", "nowhere/mechanism.csv"], "cannot write 'nowhere/mechanism.csv'; 'nowhere' is no folder"),
        (["-o", "-", "--json"], "-o - beside --json; standard output holds one document"),
    ],
)
def test_output_that_cannot_be_written_is_refused_before_anything_is_read(hetdp, arguments, words):
    ended = hetdp("extend", "nowhere.json", *arguments)
    assert ended.code == 2
    assert ended.err.startswith(f"hetdp: {words}")


def test_what_cannot_be_proved_is_not_shown(hetdp, monkeypatch):
    proof = Certificate(False, False, None, -1.0, float("inf"), 4, 0, 1, "it is not private")

    def unproved(*_, **__):
        raise VerificationError(proof)

    monkeypatch.setattr(extension, "extend", unproved)
    ended = hetdp("extend", "poll.json", "--json")
    assert ended.code == 5
    assert "no mechanism with these values could be proved" in ended.err
    assert ended.document["error"]["certificate"]["gap"] == "inf"
