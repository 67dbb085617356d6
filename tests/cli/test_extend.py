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
    result = hetdp("extend", "poll.json")
    assert (result.code, result.out) == (0, TABLE)
    read, proof = result.err.splitlines()
    assert read == "read poll.json: 5 datasets, 4 edges, 2 pinned"
    assert proof.startswith("private on all 4 edges (")
    assert "; optimal (gap" in proof


@pytest.mark.parametrize("name", ["mechanism.csv", "mechanism.json", "mechanism.parquet"])
def test_a_file_takes_the_place_of_the_table_and_can_be_verified(hetdp, name):
    result = hetdp("extend", "poll.json", "-o", name)
    assert (result.code, result.out) == (0, "")
    assert f"\nwrote {name}" in result.err
    assert hetdp("verify", "poll.json", name).code == 0


def test_the_json_document_of_a_mechanism_can_be_read_again(hetdp):
    for arguments in (("-o", "-"), ("--json",)):
        document = hetdp("extend", "poll.json", *arguments)
        assert document.code == 0
        assert hetdp("verify", "poll.json", "-", stdin=document.out).code == 0


def test_with_a_file_json_is_a_summary(hetdp):
    result = hetdp("extend", "poll.json", "-o", "mechanism.csv", "--json")
    keys = ["schema_version", "verb", "output", "objective", "counts", "moved", "worse_than_coin", "certificate"]
    assert list(result.document) == keys


def test_both_engines_are_offered_and_give_the_same(hetdp):
    assert hetdp("extend", "poll.json", "--engine", "reference").out == TABLE


def test_pins_can_come_from_another_file_and_take_the_place_of_those_in_the_problem(hetdp):
    Path("wishes.json").write_text('{"schema_version": 1, "datasets": [{"dataset": 1, "p": 0.5}]}')
    result = hetdp("extend", "poll.json", "--pins", "wishes.json")
    assert result.code == 3
    assert "dataset 2: boundary dataset without p" in result.err
    assert "Hint: hetdp design PROBLEM chooses values where there are none" in result.err


def test_values_moved_by_a_rounding_are_mentioned(hetdp):
    assert (
        "were incompatible by a rounding error, and were moved by at most 1.1e-10 in z"
        in hetdp("extend", "near-miss.json").err
    )


def test_a_missing_proof_is_mentioned(hetdp):
    result = hetdp("extend", "poll.json", "--no-verify")
    assert (result.code, result.out) == (0, TABLE)
    assert result.err.endswith("every edge was checked; no certificate was made, as requested\n")


def test_a_file_always_contains_its_proof(hetdp):
    result = hetdp("extend", "poll.json", "--no-verify", "-o", "mechanism.json", "--json")
    assert result.document["certificate"]["optimal"] is True
    assert "; optimal (gap" in result.err


def test_values_that_do_not_extend_are_refused_as_check_refuses_them(hetdp):
    result = hetdp("extend", "too-much.json", "-o", "mechanism.csv")
    assert (result.code, result.out) == (4, "")
    assert f"hetdp: {REFUSAL}Hint: hetdp check PROBLEM --repair FILE writes the problem" in result.err
    assert not Path("mechanism.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["-o", "mechanism.txt"],
            "no format is known for 'mechanism.txt'; the name after -o ends in .json, .csv, .parquet",
        ),
        (["-o", "nowhere/mechanism.csv"], "cannot write 'nowhere/mechanism.csv'; 'nowhere' is not a folder"),
        (["-o", "-", "--json"], "-o - together with --json; standard output holds one document"),
    ],
)
def test_output_that_cannot_be_written_is_refused_before_anything_is_read(hetdp, arguments, words):
    result = hetdp("extend", "nowhere.json", *arguments)
    assert result.code == 2
    assert result.err.startswith(f"hetdp: {words}")


def test_a_mechanism_that_cannot_be_proved_is_not_shown(hetdp, monkeypatch):
    proof = Certificate(False, False, None, -1.0, float("inf"), 4, 0, 1, "it is not private")

    def fail_to_prove(*_, **__):
        raise VerificationError(proof)

    monkeypatch.setattr(extension, "extend", fail_to_prove)
    result = hetdp("extend", "poll.json", "--json")
    assert result.code == 5
    assert "no mechanism with these values could be proved" in result.err
    assert result.document["error"]["certificate"]["gap"] == "inf"
