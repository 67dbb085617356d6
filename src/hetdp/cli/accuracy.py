"""`hetdp accuracy`: compares mechanisms and baselines, before anything is spent."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.design import OBJECTIVES, Objective
from hetdp.cli.options import ENGINE_HERE, INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PRIOR, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.mechanism.accuracy.report import Accuracy
    from hetdp.mechanism.design import ObjectiveName
    from hetdp.mechanism.mechanism import LocalMechanism
    from hetdp.mechanism.odds import EdgeOdds
    from hetdp.problem.problem import Problem

EXAMPLES = """
hetdp accuracy poll.json                          the objectives and the baselines
hetdp accuracy poll.json mechanism.csv            your own mechanisms and the baselines
hetdp accuracy poll.json -o accuracy.tex          a file: .csv, .tex, .txt or .json
hetdp accuracy poll.json --format csv             every number of steps, as CSV
hetdp accuracy poll.json --odds                   also the effect of one person's data, by class
"""
ABOUT = """
Computes the accuracy of mechanisms exactly. It reads no personal data and spends no budget. For each mechanism it shows
the worst accuracy, the mean, and the mean by steps, that is, the number of edges to the nearest dataset with the other
answer. Every baseline is proved private on the same edges; a line below the table names those that beat every mechanism
or are as accurate as one. Without MECHANISM, it compares the objectives of hetdp design and ignores the values given
in PROBLEM.
"""
AVERAGE = "average"
MECHANISMS = click.Argument(["mechanisms"], type=PATH, nargs=-1, metavar="[MECHANISM]...")
OBJECTIVE = click.Option(
    ["--objective", "objectives"],
    type=Objective(OBJECTIVES),
    multiple=True,
    help="Compare only this objective; can be repeated. Default: all, except average for more than 30,000 datasets"
    " (1,000 if the notion's bounds are not linear in p), where it may take long.",
)
NO_BASELINES = click.Option(["--no-baselines"], is_flag=True, help="Omit the baselines.")
FORMAT = click.Option(
    ["--format", "form"],
    type=click.Choice(["table", "csv", "latex"]),
    help="The format on standard output. Default: table.",
)
ODDS = click.Option(
    ["--odds"],
    is_flag=True,
    help="Also state, for every class of edges and every mechanism except the baselines, how much one person's data"
    " matters.",
)
SUFFIXES = {".csv": "csv", ".tex": "latex", ".txt": "table", ".json": "json"}
OUTPUT = click.Option(
    ["-o", "--output"],
    type=PATH,
    metavar="FILE",
    help="Write the table to a .csv, .tex, .txt or .json file; - writes JSON to standard output.",
)


def accuracy(
    out: Output,
    problem: str,
    mechanisms: tuple[str, ...],
    objectives: tuple[ObjectiveName, ...],
    prior: str | None,
    no_baselines: bool,
    odds: bool,
    form: str | None,
    output: str | None,
    engine: EngineName,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
) -> None:
    """Measures mechanisms on a problem."""
    from hetdp.cli.reading import STANDARD, read_with_pins, require_input
    from hetdp.cli.writing import require_place
    from hetdp.mechanism.accuracy.report import accuracy as measured

    _refuse_both(form, output, as_json)
    _refuse_odds_in_columns(odds, form, output)
    require_place("-o", output, as_json, tuple(SUFFIXES), (problem, *mechanisms))
    require_input(problem, *mechanisms)
    asked, given = read_with_pins(out, problem, None, duplicates, positive)
    if not mechanisms and (given.z == given.z).any():
        out.say("the values given in the problem are ignored; use hetdp extend to make a mechanism from them")
    subject = _load_mechanisms(out, mechanisms, asked) if mechanisms else None
    found = measured(asked, subject, prior, not no_baselines, objectives or None, engine)
    if not mechanisms and not objectives and AVERAGE not in {method.name for method in found.methods}:
        out.say(f"{AVERAGE} is omitted because it may take long; use --objective {AVERAGE} to include it")
    odds_by_method = _odds(asked, found) if odds else {}
    if output is not None and output != STANDARD:
        _write(out, asked, found, odds_by_method, output)
    if as_json or output == STANDARD:
        from hetdp.cli import shapes

        out.emit_document(shapes.accuracy(asked, found, odds_by_method, output if as_json else None))
    elif output is None:
        out.emit([FORMS[form or "table"](found), *_sentences(odds_by_method)])


def _table(found: Accuracy) -> str:
    """The table, with labels as the verbs read them."""
    from hetdp.mechanism.accuracy.tables import spell_for_shell, text_lines

    return "\n".join(text_lines(found.methods, found.comparisons, found.prior, spell_for_shell))


FORMS: dict[str, Callable[[Accuracy], str]] = {
    "table": _table,
    "csv": lambda found: found.csv().removesuffix("\n"),
    "latex": lambda found: found.latex().removesuffix("\n"),
}


def _refuse_both(form: str | None, output: str | None, as_json: bool) -> None:
    from hetdp.errors import UsageError

    if form is not None and (output is not None or as_json):
        other = "--json" if as_json else "-o"
        rule = "the file name, or --json, already determines the format"
        raise UsageError(f"--format together with {other}", rule, "leave one of them out")


def _refuse_odds_in_columns(odds: bool, form: str | None, output: str | None) -> None:
    from pathlib import Path

    from hetdp.errors import UsageError

    written = form or (SUFFIXES.get(Path(output).suffix.lower()) if output is not None else None)
    if odds and written in ("csv", "latex"):
        raise UsageError(
            f"--odds in {written}", "odds are sentences, which only a table or JSON can hold", "leave one of them out"
        )


def _odds(problem: Problem, found: Accuracy) -> dict[str, list[EdgeOdds]]:
    """The odds to report of each mechanism that is not a baseline, one entry for each class of edges."""
    from hetdp.mechanism.odds import edge_odds

    methods = [method for method in found.methods if not method.baseline]
    return {method.name: [*edge_odds(problem, method.mechanism).values()] for method in methods}


def _sentences(odds_by_method: dict[str, list[EdgeOdds]]) -> list[str]:
    lines = []
    for name, each in odds_by_method.items():
        lines += ["", f"odds under {name}:", *(f"  {_of_class(one, len(each) > 1)}{one}" for one in each)]
    return lines


def _of_class(given: EdgeOdds, among_others: bool) -> str:
    from hetdp.text import format_value

    if given.edge_class is None:
        return "edges without a class: " if among_others else ""
    return f"{format_value(given.edge_class)}: "


def _load_mechanisms(out: Output, paths: tuple[str, ...], problem: Problem) -> dict[str, LocalMechanism]:
    from hetdp.cli.verify import say_claim_notes
    from hetdp.files.mechanisms import read_claim

    found = {}
    for path in paths:
        claim = read_claim(path, problem)
        say_claim_notes(out, path, claim)
        found[path] = claim.mechanism
    return found


def _write(
    out: Output, problem: Problem, found: Accuracy, odds_by_method: dict[str, list[EdgeOdds]], output: str
) -> None:
    """A file in the format of its suffix, whole or not at all."""
    from pathlib import Path

    from hetdp import progress
    from hetdp.cli import shapes
    from hetdp.cli.output import as_json
    from hetdp.files.formats.writing import whole_file

    progress.report_stage("writing")
    form = SUFFIXES[Path(output).suffix.lower()]
    if form == "json":
        text = as_json(shapes.accuracy(problem, found, odds_by_method, None))
    else:
        text = "\n".join([FORMS[form](found), *_sentences(odds_by_method)])
    with whole_file(Path(output)) as draft:
        draft.write_text(f"{text}\n", encoding="utf-8")
    out.say(f"wrote {output}")


command = Verb(
    "accuracy",
    accuracy,
    EXAMPLES,
    ABOUT,
    [
        PROBLEM,
        MECHANISMS,
        OBJECTIVE,
        PRIOR,
        NO_BASELINES,
        ODDS,
        FORMAT,
        OUTPUT,
        ENGINE_HERE,
        *INPUT_OPTIONS,
        *OUTPUT_OPTIONS,
    ],
    stages=("reading", "building", "loading", "searching", "proving", "measuring", "writing"),
)
