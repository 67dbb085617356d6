"""hetdp solve: how much ε an accuracy takes."""

from __future__ import annotations

import pytest

import hetdp as library


def solved(*arguments, **options):
    return library.solve_epsilon(library.read_problem("poll.json").problem, *arguments, **options)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (("0.9",), {}),
        (("90%", "--at", "worst"), {}),
        (("0.9", "--at", "mean"), {"at": "mean"}),
        (("0.9", "--at", "0", "--at", "4"), {"at": [0, 4]}),
        (("0.9", "--objective", "balanced"), {"objective": "balanced"}),
    ],
)
def test_the_sentence_is_that_of_python(hetdp, typed, expected):
    result = hetdp("solve", "poll.json", *typed)
    assert result.out == f"{solved(0.9, **expected)}\n"
    assert result.err.splitlines()[1:] == ["the values given in the problem are ignored; use --pins to keep values"]


def test_the_scaled_problem_can_be_written_and_reaches_the_target(hetdp):
    assert hetdp("solve", "poll.json", "0.9", "-o", "scaled.json").code == 0
    problem = library.read_problem("scaled.json").problem
    assert problem.identity == solved(0.9).problem.identity
    assert min(1.0 - library.design(problem).errors) >= 0.9 - 1e-15
    piped = hetdp("solve", "poll.json", "0.9", "-o", "-", "-q")
    assert piped.document["edges"]


def test_values_of_a_table_are_kept(hetdp, folder):
    (folder / "pins.csv").write_text("dataset,p\n1,0.4\n2,0.6\n")
    result = hetdp("solve", "poll.json", "0.9", "--pins", "pins.csv")
    assert result.code == 3
    assert "p(2) = 0.6 is given, whatever the multiple" in result.err.replace("p(1) = 0.4", "p(2) = 0.6")
    assert hetdp("solve", "poll.json", "0.55", "--pins", "pins.csv").code == 0


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (("much",), 3, "TARGET: not an accuracy: much; an accuracy is a number from 0 to 1, such as 0.9 or 90%"),
        (("1.5",), 3, "TARGET: not an accuracy: 1.5; an accuracy is a number from 0 to 1"),
        (("0.9", "--at", "nowhere"), 3, "there is no such dataset"),
        (("0.9", "--at", "worst", "--at", "1"), 2, "--at worst together with another --at"),
        (("0.9", "--prior", "uniform"), 2, "a prior says how much each dataset counts in a mean"),
        (("0.9", "-o", "poll.json"), 2, "an input is never overwritten"),
        (("0.9", "-o", "scaled.csv"), 2, "no format is known"),
        (("1",), 3, "no finite ε makes an answer certain"),
    ],
)
def test_unsolvable_targets_are_refused(hetdp, typed, code, message):
    result = hetdp("solve", "poll.json", *typed)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
