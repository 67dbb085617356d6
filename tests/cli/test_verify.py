"""hetdp verify: whether a mechanism is private, exactly."""

from __future__ import annotations

import json
from pathlib import Path


def changed(hetdp, **values) -> None:
    """Saves the mechanism of the poll, with other values at dataset 4."""
    document = json.loads(hetdp("extend", "poll.json", "-o", "-").out)
    document["datasets"][4] |= values
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
