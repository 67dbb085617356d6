"""How a mechanism is handed over: as a table to read, as JSON, or as a file, with words about its proof."""

from __future__ import annotations

import click

from hetdp.cli.options import PATH
from hetdp.errors import rounded_up

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.voice import Voice
    from hetdp.mechanism.mechanism import Mechanism
    from hetdp.problem.partial import PartialMechanism
    from hetdp.problem.problem import Problem

LIMIT = "--max-error 0.5 would not allow it"
SUFFIXES = (".csv", ".parquet", ".json")
OUTPUT = click.Option(
    ["-o", "--output"],
    type=PATH,
    metavar="FILE",
    help="Write the mechanism to a .csv, .parquet or .json file; - is JSON on standard output."
    " With --engine dask: to a folder.",
)


def deliver(
    voice: Voice,
    verb: str,
    asked: Problem,
    given: PartialMechanism,
    mechanism: Mechanism,
    output: str | None,
    as_json: bool,
) -> None:
    """Says what was proved, and writes or prints the mechanism that a verb found."""
    from hetdp.cli.verdicts import say_accuracy
    from hetdp.cli.writing import write

    say_accuracy(voice, mechanism.against_coin, LIMIT if verb == "design" else "")
    if mechanism.moved > 0.0:
        whose = "given" if mechanism.objective == "extension" else "chosen"
        moved = rounded_up(mechanism.moved, 2)
        voice.say(f"the {whose} values missed by a rounding, and were moved by at most {moved:.1e} in z")
    voice.say(str(mechanism.certificate or "every edge was checked; without a certificate, as asked"))
    if output is not None:
        write(voice, mechanism, output)
    if as_json:
        _emit_json(voice, verb, asked, given, mechanism, output)
    elif output is None:
        from hetdp.cli.table import table_lines

        voice.emit(table_lines(mechanism))


def _emit_json(
    voice: Voice, verb: str, asked: Problem, given: PartialMechanism, mechanism: Mechanism, output: str | None
) -> None:
    from hetdp.cli import shapes

    if output is None:
        from hetdp.files.formats.json_form import lines_of

        voice.emit(lines_of(shapes.mechanism(verb, mechanism)))
    else:
        voice.emit_document(shapes.delivered(verb, asked, given, mechanism, output))
