"""hetdp verify: whether a mechanism is private, exactly."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hetdp.cli import (
    verify,
)
from tests.cli.heard import Heard


def save_changed_mechanism(hetdp, z: float | str) -> None:
    """Saves the mechanism of the poll, with another value at dataset 4."""
    document = json.loads(hetdp("extend", "poll.json", "-o", "-").out)
    for row in document["datasets"]:
        del row["p"], row["error"]
    document["datasets"][4]["z"] = z
    Path("mechanism.json").write_text(json.dumps(document))


def test_a_private_mechanism_is_proved(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    result = hetdp("verify", "poll.json", "mechanism.json")
    assert result.code == 0
    assert result.out.startswith("private on all 4 edges (")
    assert "; optimal (gap" in result.out


def test_a_mechanism_that_is_not_private_ends_with_5_and_names_the_worst_edge(hetdp):
    save_changed_mechanism(hetdp, z=9.0)
    result = hetdp("verify", "poll.json", "mechanism.json", "-q")
    assert result == (5, result.out, "")
    assert result.out.startswith("NOT PRIVATE: 1 violation in 4 edges; the worst is 3 to 4, ε = 1, slack -6.8")


def test_a_mechanism_that_is_private_but_not_the_best_is_distinguished(hetdp):
    save_changed_mechanism(hetdp, z=2.0)
    result = hetdp("verify", "poll.json", "mechanism.json")
    assert result.code == 0
    assert "not shown optimal: a link is not tight (dataset 4)" in result.out


def test_a_mechanism_made_for_another_problem_is_judged_on_this_one(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    tighter = Path("poll.json").read_text().replace('"epsilon": 0.5', '"epsilon": 0.25')
    result = hetdp("verify", "-", "mechanism.json", "--json", stdin=tighter)
    assert result.code == 5
    assert "mechanism.json was made for another problem; it is verified on this one" in result.err
    assert result.document["made_for_another"] is True


def test_a_mechanism_of_other_datasets_is_bad_input(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    result = hetdp("verify", "grid.json", "mechanism.json")
    assert (result.code, result.out) == (3, "")
    assert "not a dataset of the problem" in result.err


def test_standard_input_is_read_only_once(hetdp):
    result = hetdp("verify", "-", "-")
    assert result.code == 2
    assert result.err == (
        "hetdp: - is used for two inputs; standard input can be read only once. Hint: name a file for one of them\n"
    )


def test_values_read_from_p_are_reported_as_rounded(hetdp):
    Path("mine.csv").write_text("dataset,p\n0,0.3\n1,0.4\n2,0.6\n3,0.7\n4,0.7\n")
    result = hetdp("verify", "poll.json", "mine.csv")
    assert result.code == 0
    assert "mine.csv has no column z, so its values are those of the rounded column p" in result.err


def test_a_table_that_marks_no_value_as_given_cannot_be_shown_optimal_and_the_reason_is_said(hetdp):
    bare = Path("poll.json").read_text()
    bare = json.dumps(
        json.loads(bare)
        | {"datasets": [{name: row[name] for name in ("dataset", "query")} for row in json.loads(bare)["datasets"]]}
    )
    rows = {0: 0.15, 1: 0.4, 2: 0.6, 3: 0.85, 4: 0.94}
    Path("mine.csv").write_text("dataset,p\n" + "".join(f"{dataset},{p}\n" for dataset, p in rows.items()))
    result = hetdp("verify", "-", "mine.csv", stdin=bare)
    assert "not shown optimal: nothing says which values were given (every edge checked" in result.out
    assert "a column pinned (yes or no) says which values were given" in result.err
    marked = "".join(f"{dataset},{p},{'yes' if dataset in (1, 2) else 'no'}\n" for dataset, p in rows.items())
    Path("mine.csv").write_text("dataset,p,pinned\n" + marked)
    result = hetdp("verify", "-", "mine.csv", stdin=bare)
    assert "dataset 4 is answered right with probability 0.94, and 0.945865 is possible" in result.out
    assert "a column pinned" not in result.err


def test_values_that_differ_from_those_of_the_problem_are_counted(hetdp):
    Path("mine.csv").write_text("dataset,z,pinned\n" + "".join(f"{dataset},0,true\n" for dataset in range(5)))
    result = hetdp("verify", "poll.json", "mine.csv", "--json")
    assert result.document["differing_pins"] == 2
    assert "its values differ from the problem's own at 2 datasets" in result.err


def test_notes_about_a_mechanism_file_are_said_where_they_matter():
    def collect_words(**more: Any) -> list[str]:
        heard: Any = Heard()
        claim: Any = SimpleNamespace(**({"made_for_another": False, "column": "z", "differing": 0} | more))
        verify.say_claim_notes(heard, "m.csv", claim)
        return heard.words

    assert collect_words() == []
    assert collect_words(made_for_another=True) == ["m.csv was made for another problem; it is verified on this one"]
    assert collect_words(column="p") == ["m.csv has no column z, so its values are those of the rounded column p"]
    assert collect_words(differing=1) == ["its values differ from the problem's own at 1 dataset"]


def test_a_table_from_elsewhere_is_judged_with_the_values_that_the_problem_gives(hetdp):
    Path("paper.csv").write_text("dataset,p\n0,0.14\n1,0.4\n2,0.6\n3,0.85\n4,0.94\n")
    result = hetdp("verify", "poll.json", "paper.csv")
    assert result.code == 5
    assert "NOT PRIVATE: 1 violation in 4 edges; the worst is 0 to 1, ε = 1, slack -0.05" in result.out
    Path("paper.csv").write_text("dataset,p\n0,0.15\n1,0.4\n2,0.6\n3,0.85\n4,0.94\n")
    result = hetdp("verify", "poll.json", "paper.csv")
    assert "its pinned values are taken to be those of the datasets that the problem gives values to" in result.err
    lacking = "not shown optimal: dataset 4 is answered right with probability 0.94, and 0.945865 is possible"
    assert lacking in result.out


def test_a_table_from_elsewhere_may_say_itself_which_values_were_given(hetdp):
    rows = ["0,0.15,false", "1,0.4,true", "2,0.6,true", "3,0.85,false", "4,0.94,false"]
    Path("paper.csv").write_text("\n".join(["dataset,p,pinned", *rows, ""]))
    result = hetdp("verify", "poll.json", "paper.csv")
    assert "dataset 4 is answered right with probability 0.94, and 0.945865 is possible" in result.out
    assert "taken to be those" not in result.err
