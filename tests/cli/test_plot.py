"""hetdp plot: which picture is written, where, and that nothing half-written stays behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hetdp.cli import (
    plot,
)
from hetdp.errors import UsageError


@pytest.fixture(autouse=True)
def mechanism(hetdp, folder):
    hetdp("extend", "poll.json", "-o", "mechanism.csv")


def files():
    return sorted(path.name for path in Path().iterdir() if path.suffix in (".svg", ".png", ".pdf", ".draft"))


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("SVG", b"<?")])
def test_a_picture_is_written(hetdp, form, start):
    result = hetdp("plot", "poll.json", "mechanism.csv", "-o", f"m.{form}")
    assert result == (0, "", f"read poll.json: 5 datasets, 4 edges\nwrote m.{form}\n")
    assert Path(f"m.{form}").read_bytes().startswith(start)


def test_a_path_can_be_highlighted(hetdp):
    assert hetdp("plot", "poll.json", "mechanism.csv", "--explain", "4", "-o", "m.svg", "--title", "$x").code == 0
    text = Path("m.svg").read_text(encoding="utf-8")
    assert "path that binds 4" in text
    assert ">$x<" in text


def test_a_problem_is_drawn_by_itself(hetdp):
    assert hetdp("plot", "poll.json", "-o", "m.svg", "-q") == (0, "", "")
    assert "on the boundary" in Path("m.svg").read_text(encoding="utf-8")


def test_accuracy_is_drawn_for_objectives_one_mechanism_or_several(hetdp):
    hetdp("design", "poll.json", "--free", "-o", "other.json")
    for given in ([], ["mechanism.csv"], ["mechanism.csv", "other.json"]):
        assert hetdp("plot", "poll.json", *given, "--picture", "accuracy", "-o", "m.svg").code == 0
        text = Path("m.svg").read_text(encoding="utf-8")
        assert "randomised response" in text
    assert "mechanism.csv" in text
    assert hetdp("plot", "poll.json", *given, "--picture", "accuracy", "--no-baselines", "-o", "m.svg").code == 0
    assert "randomised response" not in Path("m.svg").read_text(encoding="utf-8")


def test_a_picture_is_as_wide_as_asked_for(hetdp):
    for given, points in (("column", 237.6), ("page", 504), ("4.5", 324)):
        assert hetdp("plot", "poll.json", "mechanism.csv", "--width", given, "-o", "m.svg").code == 0
        assert f'width="{points:g}pt"' in Path("m.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("given", ["colum", "1", "20.1", "nan", "inf", "-5", "", "5in"])
def test_a_width_that_no_picture_has_is_refused(hetdp, given):
    result = hetdp("plot", "poll.json", "--width", given, "-o", "m.svg")
    assert (result.code, result.out) == (2, "")
    shown = given or "''"
    rule = "a width is 'column' (3.3 inches), 'page' (7 inches), or inches from 2.5 to 20."
    hint = " Hint: did you mean 'column'?" if given == "colum" else ""
    assert result.err == f"hetdp: --width {shown}; {rule}{hint}\n"
    assert files() == []


def test_a_map_of_three_groups_is_the_slice_that_is_asked_for(hetdp):
    groups = ("--group", "pupils=5,staff=4,guests=3", "--count", "yes", "--at-least", "3", "--epsilon", "0.5")
    hetdp("make", "tallies", *groups, "-o", "visit.json")
    for given, words in (
        (["--at", "guests=1"], "guests = 1"),
        (["--at", "pupils=2", "--picture", "tallies"], "pupils = 2"),
    ):
        assert hetdp("plot", "visit.json", *given, "-o", "m.svg").code == 0
        assert words in Path("m.svg").read_text(encoding="utf-8")
    for given, words in (
        (["--at", "guests"], "--at 'guests'; it must be GROUP=COUNT"),
        (["--at", "guests=many"], "--at guests is 'many'; it must be a whole number"),
        (["--at", "guests=4"], "guests = 4; it must be a whole number from 0 to 3"),
        (["--at", "cats=1"], "there is no count of 'cats'"),
        (["--at", "guests=1", "--at", "guests=2"], "a name twice"),
        (["--at", "guests=1", "--at", "staff=2"], "a map shows two counts"),
        (["--at", "guests=1", "--picture", "network"], "--at with --picture network"),
        (
            ["--at", "guests=1", "--explain", "0,0,0"],
            "--at with --explain; --at is for a map, and a path is highlighted in the network",
        ),
    ):
        result = hetdp("plot", "visit.json", *given, "-o", "other.svg")
        assert result.code == 2
        assert words in result.err
    assert files() == ["m.svg"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("plot poll.json mechanism.csv", 2, "missing option '-o' / '--output'"),
        ("plot poll.json mechanism.csv -o m.txt", 2, "cannot write a picture to 'm.txt'; the file name must end in"),
        ("plot poll.json mechanism.csv -o -", 2, "cannot write a picture to '-'"),
        (
            "plot poll.json mechanism.csv -o nowhere/m.svg",
            2,
            "cannot write 'nowhere/m.svg'; 'nowhere' is not a folder.",
        ),
        ("plot poll.json mechanism.csv mechanism.csv -o m.svg", 2, "several mechanisms cannot be drawn in one"),
        (
            "plot poll.json mechanism.csv --picture tallies -o m.svg",
            2,
            "no map of tallies; every dataset is one or more",
        ),
        ("plot poll.json mechanism.csv --explain 9 -o m.svg", 3, "dataset '9': there is no such dataset"),
        ("plot poll.json --explain 4 -o m.svg", 2, "--explain without a mechanism; a path binds a value of a"),
        ("plot poll.json mechanism.csv --explain 4 --picture summary -o m.svg", 2, "--explain with --picture summary;"),
        ("plot nowhere.json -o m.svg", 3, "nowhere.json"),
        ("plot - - -o m.svg", 2, "- is used for two inputs"),
    ],
)
def test_impossible_plots_are_refused_and_leave_nothing(hetdp, words, code, message):
    result = hetdp(*words.split())
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert files() == []


def test_a_ledger_is_recognised_and_the_right_command_is_suggested(hetdp):
    assert hetdp("ledger", "init", "school.ledger", "--source", "survey", "--cap", "1").code == 0
    secret = "postgresql://me:hush@host/school"
    for place in ("school.ledger", secret):
        result = hetdp("plot", place, "-o", "m.svg")
        assert (result.code, result.out) == (2, "")
        assert "is a ledger; hetdp plot draws problems and mechanisms" in result.err
        assert "hetdp.plot(hetdp.Ledger(" in result.err
        assert "hush" not in result.err
    assert files() == []


def test_a_picture_that_fails_halfway_leaves_the_old_one(hetdp, monkeypatch):
    Path("m.svg").write_text("old")

    def draw_half(axes, place, form):
        place.write_text("<?xml")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hetdp.plots.plot.write_figure", draw_half)
    result = hetdp("plot", "poll.json", "mechanism.csv", "-o", "m.svg")
    assert result.code == 2
    assert "cannot write 'm.svg': No space left on device" in result.err
    assert files() == ["m.svg"]
    assert Path("m.svg").read_text() == "old"


def test_an_input_is_never_overwritten(hetdp):
    Path("poll.svg").write_text(Path("poll.json").read_text())
    result = hetdp("plot", "poll.svg", "-o", "poll.svg")
    assert result.code == 2
    assert "an input is never overwritten" in result.err


def test_without_matplotlib_the_extra_is_named_before_anything_is_read(hetdp, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = hetdp("plot", "poll.json", "mechanism.csv", "-o", "m.svg")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "hetdp: pictures are drawn by matplotlib, which is not installed; it comes with the extra plots."
        " Hint: pip install '.[plots]', in the folder of hetdp's sources\n"
    )
    assert files() == []


def test_a_mechanism_of_another_problem_is_pointed_out(hetdp):
    text = Path("poll.json").read_text().replace('"epsilon": 1.0', '"epsilon": 0.5')
    Path("other.json").write_text(text)
    result = hetdp("plot", "other.json", "mechanism.csv", "-o", "m.svg")
    assert result.code == 0
    assert "mechanism.csv" in result.err


def test_json_says_which_picture_it_is(hetdp):
    document = json.loads(hetdp("plot", "poll.json", "--picture", "summary", "-o", "m.svg", "--json").out)
    assert document["picture"] == "summary"
    assert document["output"] == "m.svg"


def test_counts_are_fixed_in_a_map():
    assert plot._counts((), "network", "a") is None
    assert plot._counts(("a=0", "b=3"), "tallies", None) == plot._counts(("a=0,b=3",), None, None) == {"a": 0, "b": 3}
    with pytest.raises(UsageError, match="--at with --explain"):
        plot._counts(("a=1",), None, "d")
    with pytest.raises(UsageError, match="--at with --picture network"):
        plot._counts(("a=1",), "network", None)
    with pytest.raises(UsageError, match="--at a is '-1'"):
        plot._counts(("a=-1",), None, None)


def test_a_path_is_highlighted_in_the_network_of_a_mechanism():
    plot._require_path(None, "summary", ())
    plot._require_path("a", "network", ("m.json",))
    for picture, mechanisms, words in (("summary", ("m",), "--explain with"), (None, (), "--explain without")):
        with pytest.raises(UsageError, match=words):
            plot._require_path("a", picture, mechanisms)


def test_a_ledger_is_not_drawn_here(tmp_path):
    (tmp_path / "a.ledger").write_bytes(b"SQLite format 3\0" + b"x")
    (tmp_path / "p.json").write_bytes(b"SQLite format 3")
    plot._require_no_ledger(str(tmp_path / "p.json"))
    plot._require_no_ledger(str(tmp_path))
    plot._require_no_ledger("a\0b")
    for address in (str(tmp_path / "a.ledger"), "PostgreSQL://user:secret@host/x", "sqlite:///a"):
        with pytest.raises(UsageError, match="this is a ledger") as refusal:
            plot._require_no_ledger(address)
        assert "secret" not in str(refusal.value)
