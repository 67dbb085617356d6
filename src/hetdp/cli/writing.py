"""The output of the command line: mechanisms as tables and files, and verdicts in words.

Places that cannot be written to are refused before anything takes long.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from hetdp.cli.options import PATH
from hetdp.cli.reading import STANDARD
from hetdp.errors import UsageError
from hetdp.text import ask_if_meant, closest, round_up

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.mechanism.coin import CoinComparison
    from hetdp.mechanism.compatibility import Verdict, Witness
    from hetdp.mechanism.mechanism import Mechanism
    from hetdp.mechanism.repair import Repair
    from hetdp.mechanism.steps import RemoteProblem
    from hetdp.problem.problem import Problem


NOTHING = "-"


def table_lines(mechanism: Mechanism) -> Iterator[str]:
    """One line for each dataset, in graph order, below the header."""
    columns = [[title, *cells] for title, cells in _columns(mechanism).items()]
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _columns(mechanism: Mechanism) -> dict[str, list[str]]:
    from hetdp.mechanism.formatting import format_error, format_exact
    from hetdp.mechanism.mechanism import BINDING
    from hetdp.problem.spelling import spell_label

    given, labels = mechanism.columns(), mechanism.problem.labels
    names = [spell_label(label, labels) for label in given["dataset"]]
    lacking = mechanism.problem.notion.coordinate.probability(-mechanism.coordinates)
    numbers = zip(given["p"].tolist(), lacking.tolist(), given["z"].tolist(), strict=True)
    return {
        "dataset": names,
        "query": [str(answer) for answer in given["query"].tolist()],
        "p": [format_exact(*each) for each in numbers],
        "error": [format_error(error) for error in given["error"].tolist()],
        "pinned": ["yes" if pinned else "no" for pinned in given["pinned"].tolist()],
        BINDING: [NOTHING if link < 0 else names[link] for link in mechanism.links.tolist()],
    }


# Files.


def require_place(
    option: str,
    path: str | None,
    as_json: bool,
    suffixes: tuple[str, ...],
    inputs: tuple[str | None, ...],
    to_standard: bool = True,
) -> None:
    """Refuses an unknown format, a missing folder, an input file, and a second document on standard output.

    Args:
        option: the option that names the file.
        path: the name, if any.
        as_json: True if standard output has a document already.
        suffixes: the suffixes that are allowed; an empty one stands for a folder.
        inputs: the input files, which must not be overwritten.
        to_standard: True if standard output is allowed.
    """
    if path is None:
        return
    if path == STANDARD:
        if as_json:
            rule = "standard output holds one document"
            raise UsageError(f"{option} - together with --json", rule, f"name a file after {option}")
        return
    place = Path(path)
    if place.suffix.lower() not in suffixes:
        known = ", ".join(filter(None, suffixes)) + (", or is that of a folder" if "" in suffixes else "")
        rule = f"the name after {option} ends in {known}"
        raise UsageError(
            f"no format is known for {path!r}",
            rule,
            ask_if_meant(closest(place.suffix, filter(None, suffixes)))
            or (f"{option} - writes JSON to standard output" if to_standard else ""),
        )
    _refuse_inputs(option, place, inputs)
    if not place.absolute().parent.is_dir():
        raise UsageError(f"cannot write {path!r}", f"{str(place.parent)!r} is not a folder")


def _refuse_inputs(option: str, place: Path, inputs: tuple[str | None, ...]) -> None:
    output = _resolve(place)
    for given in inputs:
        if given is None or given == STANDARD:
            continue
        source = _resolve(Path(given))
        if source in (output, *output.parents[:1]) or output in source.parents:
            rule = "an input is never overwritten"
            raise UsageError(f"{option} {place} would replace what is read from {given}", rule, "choose another name")


def _resolve(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # circular links; reading or writing reports them
        return path.absolute()


def write(out: Output, result: Problem | Mechanism, path: str, **options: Any) -> None:
    """Writes a file in the format of its suffix; ``-`` is JSON on standard output."""
    from hetdp.cli.output import standard_output, stop_at_closed_pipe
    from hetdp.files.formats.registry import FORMATS
    from hetdp.files.saving import save

    if path == STANDARD:
        out.close_bar()
        with stop_at_closed_pipe(), standard_output():
            save(result, path, **options)
    else:
        save(result, path, **options)
        form = FORMATS.get(Path(path).suffix.lower())
        metadata = None if form is None else form.metadata_file(Path(path))
        beside = "" if metadata is None else f" and {metadata}"
        out.say(f"wrote {path}{beside}")


# Mechanisms, with words about their proofs.


OUTPUT = click.Option(
    ["-o", "--output"],
    type=PATH,
    metavar="FILE",
    help="Write the mechanism to a .csv, .parquet or .json file; - is JSON on standard output."
    " With --engine dask: to a folder.",
)


def deliver(
    out: Output,
    verb: str,
    problem: Problem | RemoteProblem,
    pinned: int,
    mechanism: Mechanism,
    output: str | None,
    as_json: bool,
    limit: str = "",
) -> None:
    """Says what was proved, and writes or prints the mechanism that a verb found.

    Args:
        out: the output.
        verb: the verb.
        problem: the problem.
        pinned: how many values were given.
        mechanism: the mechanism.
        output: the file or folder to write to; None prints a table.
        as_json: print a JSON document.
        limit: what can be done if a coin would be better.
    """
    from hetdp.cli import shapes

    say_accuracy(out, mechanism.against_coin, limit)
    if mechanism.moved > 0.0:
        origin = "given" if mechanism.objective == "extension" else "chosen"
        moved = round_up(mechanism.moved, 2)
        out.say(
            f"the {origin} values were incompatible by a rounding error, and were moved by at most {moved:.1e} in z"
        )
    if mechanism.search_words:
        out.say(mechanism.search_words)
    out.say(str(mechanism.certificate or "every edge was checked; no certificate was made, as requested"))
    if output is not None:
        write(out, mechanism, output)
        if as_json:
            out.emit_document(shapes.delivery(verb, problem, pinned, mechanism, output))
    elif as_json:
        from hetdp.files.formats.json_files import lines_of

        out.emit(lines_of(shapes.mechanism(verb, mechanism)))
    else:
        out.emit(table_lines(mechanism))


# Verdicts in words.


SHOWN_PINS = 20


def refusal_lines(witness: Witness, repair: Repair | None) -> Iterator[str]:
    """Explains why pins do not extend, and which values would."""
    from hetdp.mechanism.formatting import format_probability

    path, pinned = witness.path, format_probability(witness.value, witness.complement)
    yield f"no private extension exists: {witness}"
    yield ""
    yield "Step by step:"
    yield from (f"  {line}" for line in str(path).splitlines())
    yield f"  but p({path.names[-1]}) is pinned at {pinned}"
    if repair is None:
        return
    yield ""
    yield "These values would work (p, one for each pin):"
    yield from (f"  {line}" for line in _pin_lines(repair))


def _pin_lines(repair: Repair) -> Iterator[str]:
    from hetdp.mechanism.formatting import format_probability
    from hetdp.problem.spelling import spell_label

    found = repair.probabilities
    first = islice(found.items(), SHOWN_PINS)
    rows = [(spell_label(label, repair.labels), format_probability(p, 1.0 - p)) for label, p in first]
    width = max(len(name) for name, _ in rows)
    yield from (f"{name:<{width}}  {p}" for name, p in rows)
    if len(found) > SHOWN_PINS:
        yield f"and {len(found) - SHOWN_PINS} more"


def say_pin_notes(out: Output, free: int, boundary: int, verdict: Verdict) -> None:
    """Says which values `extend` still needs, and whether it would round given ones."""
    if free:
        out.say(f"{free} of {boundary} boundary datasets have no value; extend needs all of them")
    if verdict.compatible and verdict.moved > 0.0:
        out.say(
            "the given values are incompatible by a rounding error; extend moves them by at most"
            f" {round_up(verdict.moved, 2):.1e} in z"
        )


def say_accuracy(out: Output, coin: CoinComparison, hint: str = "") -> None:
    """Says how the worst-off dataset is answered, and where a coin would do better.

    Args:
        out: the output.
        coin: how the mechanism compares with a coin.
        hint: what can be done if a coin would be better; it does not apply to given values.
    """
    from hetdp.mechanism.formatting import format_accuracy

    if coin.datasets and hint:
        out.say(f"worst accuracy {format_accuracy(coin.error, right=coin.right)}, at {coin.name}")
    if coin.worse or coin.even:
        out.say(f"{coin}{f'; {hint}' if coin.worse > coin.given and hint else ''}")
