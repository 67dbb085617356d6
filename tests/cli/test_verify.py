"""hetdp verify: whether a mechanism is private, exactly."""

from __future__ import annotations

import json
from pathlib import Path


def changed(hetdp, z: float | str) -> None:
    """Saves the mechanism of the poll, with another value at dataset 4."""
    document = json.loads(hetdp("extend", "poll.json", "-o", "-").out)
    for row in document["datasets"]:
        del row["p"], row["error"]
    document["datasets"][4]["z"] = z
    Path("mechanism.json").write_text(json.dumps(document))


def test_a_private_mechanism_is_proved(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    ended = hetdp("verify", "poll.json", "mechanism.json")
    assert ended.code == 0
    assert ended.out.startswith("private on all 4 edges (")
    assert "; optimal (gap" in ended.out


def test_a_mechanism_that_is_not_private_ends_with_5_and_names_the_worst_edge(hetdp):
    changed(hetdp, z=9.0)
    ended = hetdp("verify", "poll.json", "mechanism.json", "-q")
    assert ended == (5, ended.out, "")
    assert ended.out.startswith("NOT PRIVATE: 1 violation in 4 edges; the worst is 3 to 4, ε = 1, slack -6.8")


def test_a_mechanism_that_is_private_but_not_the_best_is_told_apart(hetdp):
    changed(hetdp, z=2.0)
    ended = hetdp("verify", "poll.json", "mechanism.json")
    assert ended.code == 0
    assert "not shown optimal: a link is not tight (dataset 4)" in ended.out


def test_a_mechanism_made_for_another_problem_is_judged_on_this_one(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    tighter = Path("poll.json").read_text().replace('"epsilon": 0.5', '"epsilon": 0.25')
    ended = hetdp("verify", "-", "mechanism.json", "--json", stdin=tighter)
    assert ended.code == 5
    assert "mechanism.json says that it was made for another problem; it is judged on this one" in ended.err
    assert ended.document["made_for_another"] is True


def test_a_mechanism_of_other_datasets_is_bad_input(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    ended = hetdp("verify", "grid.json", "mechanism.json")
    assert (ended.code, ended.out) == (3, "")
    assert "a dataset that is none of the problem's" in ended.err


def test_standard_input_is_read_only_once(hetdp):
    ended = hetdp("verify", "-", "-")
    assert ended.code == 2
    assert ended.err == (
        "hetdp: two inputs are -; standard input can be read only once. Hint: name a file for one of them\n"
    )


def test_values_that_come_from_p_are_said_to_be_rounded(hetdp):
    Path("mine.csv").write_text("dataset,p\n0,0.3\n1,0.4\n2,0.6\n3,0.7\n4,0.7\n")
    ended = hetdp("verify", "poll.json", "mine.csv")
    assert ended.code == 0
    assert "the values of mine.csv are those of its column p, rounded; a column z would be exact" in ended.err


def test_other_values_than_the_problem_gives_are_counted(hetdp):
    Path("mine.csv").write_text("dataset,z,pinned\n" + "".join(f"{dataset},0,true\n" for dataset in range(5)))
    ended = hetdp("verify", "poll.json", "mine.csv", "--json")
    assert ended.document["differing_pins"] == 2
    assert "its values differ from the problem's own at 2 datasets" in ended.err
