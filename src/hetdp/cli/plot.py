"""`hetdp plot`: a picture of a problem, of a mechanism, or of how accurate mechanisms are."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.mechanism.mechanism import LocalMechanism
    from hetdp.problem.problem import Problem

EXAMPLES = """
hetdp plot poll.json mechanism.csv -o mechanism.svg                    its graph, or its map of tallies
hetdp plot poll.json mechanism.csv --explain 111 -o why.pdf            with the path that binds 111
hetdp plot poll.json -o poll.png                                       the problem: true answers and edges
hetdp plot poll.json mechanism.csv --width column -o figure.pdf        as wide as a column of a paper
hetdp plot visit.json --at guests=1 -o map.svg                         a map of two of three groups, at one guest
hetdp plot poll.json --picture accuracy -o accuracy.svg                the objectives and the baselines
"""
ABOUT = """
Needs matplotlib (the extra plots). Blue is answer 1, orange is answer 2, grey is neither. Thicker edges have a smaller
ε, and rings mark values that were given or chosen. Mechanisms are drawn without a proof; use hetdp verify for that.
"""
SUFFIXES = (".svg", ".png", ".pdf")  # a test compares them, and the names, with those of the pictures
ADDRESSES, SQLITE = (
    ("postgres:", "postgresql:", "postgresql+psycopg:", "sqlite:"),
    b"SQLite format 3\0",
)  # how a ledger begins
PICTURES = ("network", "tallies", "summary", "accuracy")
MECHANISMS = click.Argument(["mechanisms"], type=PATH, nargs=-1, metavar="[MECHANISM]...")
OUTPUT = click.Option(
    ["-o", "--output"], type=PATH, required=True, metavar="FILE", help="Write it to a .svg, .png or .pdf file."
)
PICTURE = click.Option(
    ["--picture"],
    type=click.Choice(PICTURES),
    help="Which picture. Default: a map if all datasets are pairs of counts, else the network, or beyond 4,000 datasets"
    " the summary.",
)
EXPLAIN = click.Option(["--explain"], metavar="DATASET", help="Highlight the path that binds this dataset.")
AT = click.Option(
    ["--at"],
    metavar="GROUP=COUNT",
    multiple=True,
    help="In a map of three or more groups: fix the count of this group. Default: a count at the boundary.",
)
WIDTH = click.Option(
    ["--width"],
    metavar="column|page|INCHES",
    help="The width: a column of a paper (3.3 inches), a page of two columns (7 inches), or inches. Default: what suits"
    " the picture.",
)
TITLE = click.Option(["--title"], metavar="TEXT", help="A title above the picture.")
NO_BASELINES = click.Option(["--no-baselines"], is_flag=True, help="With accuracy: omit the baselines.")


def plot(
    out: Output,
    problem: str,
    mechanisms: tuple[str, ...],
    output: str,
    picture: str | None,
    explain: str | None,
    at: tuple[str, ...],
    width: str | None,
    title: str | None,
    no_baselines: bool,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
) -> None:
    """Draws a picture."""
    from hetdp import progress
    from hetdp.cli import shapes
    from hetdp.cli.reading import find_labels, read_without_pins, require_input
    from hetdp.plots.canvas import detached_axes
    from hetdp.plots.plot import drawing_of, write_whole_figure

    counts, inches = _counts(at, picture, explain), _inches(width)
    require_picture_file(output, (problem, *mechanisms))
    _require_one(mechanisms, picture)
    _require_path(explain, picture, mechanisms)
    require_input(problem, *mechanisms)
    _require_no_ledger(problem)
    axes = detached_axes()  # before anything takes long: without matplotlib, nothing can be drawn
    asked = read_without_pins(out, problem, duplicates, positive)
    label = None if explain is None else find_labels(asked.labels, [explain])[0]
    subject = _subject(out, asked, mechanisms, no_baselines, picture)
    one = None if len(mechanisms) > 1 else picture
    drawing = drawing_of(subject, one, label, not no_baselines, True, counts, width=inches)
    progress.report_stage("drawing")
    drawing.draw_alone(axes, title)
    write_whole_figure(axes, output)
    out.say(f"wrote {output}")
    if drawing.caution:
        out.say(f"caution: {drawing.caution}")
    if as_json:
        out.emit_document(shapes.plot(asked, drawing.name, output))


def _counts(at: tuple[str, ...], picture: str | None, explain: str | None) -> dict[str, int] | None:
    """The fixed counts of a map."""
    from hetdp.errors import UsageError
    from hetdp.numbers import parse_whole
    from hetdp.people.names import parse_pairs

    if not at:
        return None
    if explain is not None:
        raise UsageError("--at with --explain", "--at is for a map, and a path is highlighted in the network")
    if picture not in (None, "tallies"):
        raise UsageError(f"--at with --picture {picture}", "counts are fixed in a map of tallies")
    given = parse_pairs("--at", at, "GROUP=COUNT", "each group has one count")
    return {name: parse_whole(count, f"--at {name}", 0) for name, count in given.items()}


def _inches(width: str | None) -> float | None:
    """The width that --width chooses, in inches; None for what suits the picture."""
    from hetdp.plots.canvas import inches_of

    try:
        return inches_of(width if width is None else float(width))
    except ValueError:  # a name, or a number out of range, which is refused as it was written
        return inches_of(width)


def _subject(out: Output, asked: Problem, mechanisms: tuple[str, ...], no_baselines: bool, picture: str | None) -> Any:
    """The object to draw: the problem, a mechanism, or the accuracy of several mechanisms."""
    from hetdp.mechanism.accuracy.report import accuracy

    if not mechanisms:
        return asked
    loaded = {path: _load_subject(out, path, asked) for path in mechanisms}
    if len(loaded) == 1 or picture != "accuracy":
        return loaded[mechanisms[0]]
    return accuracy(asked, loaded, baselines=not no_baselines)


def _load_subject(out: Output, path: str, asked: Problem) -> LocalMechanism:
    from hetdp.cli.verify import say_claim_notes
    from hetdp.files.mechanisms import read_claim

    claim = read_claim(path, asked)
    say_claim_notes(out, path, claim)
    return claim.mechanism


def require_picture_file(output: str, inputs: tuple[str, ...] = ()) -> None:
    """Refuses the name of a file that no picture can be written to.

    Args:
        output: the name of the file.
        inputs: the input files, which must not be overwritten.
    """
    from pathlib import Path

    from hetdp.cli.writing import require_place
    from hetdp.errors import UsageError

    if Path(output).suffix.lower() not in SUFFIXES:
        rule = f"the file name must end in {', '.join(SUFFIXES)}"
        raise UsageError(f"cannot write a picture to {output!r}", rule)
    require_place("-o", output, False, SUFFIXES, inputs)


def _require_one(mechanisms: tuple[str, ...], picture: str | None) -> None:
    from hetdp.errors import UsageError

    if len(mechanisms) > 1 and picture != "accuracy":
        rule = "only their accuracy can be drawn together"
        raise UsageError(
            "several mechanisms cannot be drawn in one picture", rule, "--picture accuracy, or one MECHANISM"
        )


def _require_path(explain: str | None, picture: str | None, mechanisms: tuple[str, ...]) -> None:
    from hetdp.errors import UsageError

    if explain is None:
        return
    if picture not in (None, "network"):
        raise UsageError(f"--explain with --picture {picture}", "a path is highlighted in the network")
    if not mechanisms:
        hint = "hetdp plot PROBLEM MECHANISM --explain DATASET -o FILE"
        raise UsageError("--explain without a mechanism", "a path binds a value of a mechanism", hint)


def _require_no_ledger(path: str) -> None:
    """Refuses a ledger, which is drawn in Python; its address may contain a password and is not shown."""
    from hetdp.errors import UsageError

    if path.lower().startswith(ADDRESSES) or _starts_with(path, SQLITE):
        hint = "in Python: hetdp.plot(hetdp.Ledger(path)); hetdp ledger status LEDGER shows the same as text"
        raise UsageError("this is a ledger", "hetdp plot draws problems and mechanisms", hint)


def _starts_with(path: str, start: bytes) -> bool:
    """True if a file begins like a ledger; files that cannot be read are refused where they are read."""
    from pathlib import Path

    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(start)) == start
    except (OSError, ValueError):
        return False


command = Verb(
    "plot",
    plot,
    EXAMPLES,
    ABOUT,
    [PROBLEM, MECHANISMS, OUTPUT, PICTURE, EXPLAIN, AT, WIDTH, TITLE, NO_BASELINES, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "proving", "measuring", "drawing", "writing"),
)
