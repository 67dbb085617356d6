"""`hetdp record`: checks the record of a release, says in two sentences what it is about, or shows a plan in words."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output

EXAMPLES = """
hetdp record verify record.json                                                     does its digest match?
hetdp record verify record.json --ledger school.ledger                              was anything changed?
hetdp record verify record.json --problem poll.json --mechanism mechanism.csv       prove its privacy again
hetdp record statement record.json                                                  two sentences for an e-mail
hetdp record plan plan.json                                                         a plan in words, without its table
"""
ABOUT = """
verify checks the digest of RECORD. Anyone can change a record and compute a new digest, so it also compares RECORD with
what is given: the ledger, whose entry covers everything in RECORD; the problem and the mechanism, whose values must be
private, paid for, and exactly those of the draw; or the plan, which must have been carried out exactly. Exit code 0 if
all checks pass, 5 if not, 7 if the ledger cannot be used. statement checks the digest, too, and prints two sentences:
the question with its answer and how sure it is, and what it reveals about people. It takes RECORD alone. plan takes
a plan in place of RECORD, and no table: it prints the question, the promise, what each person is charged, and the
digest, computed from the content of the plan.
"""
ACTION = click.Argument(["action"], type=click.Choice(["verify", "statement", "plan"]), metavar="ACTION")
RECORD = click.Argument(["record"], type=PATH, metavar="RECORD")
OPTIONS = [
    click.Option(["--ledger"], metavar="LEDGER", help="The ledger: a file, or postgresql://USER@HOST/DATABASE."),
    click.Option(["--problem"], type=PATH, metavar="FILE", help="The problem; with --mechanism."),
    click.Option(["--mechanism"], type=PATH, metavar="FILE", help="The mechanism; with --problem."),
    click.Option(["--plan"], type=PATH, metavar="FILE", help="The plan that was approved, for an answer from a table."),
]


def record(
    out: Output,
    action: str,
    record: str,
    ledger: str | None,
    problem: str | None,
    mechanism: str | None,
    plan: str | None,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
) -> int:
    """Verifies a record, states it in two sentences, or describes a plan."""
    from hetdp.cli import shapes as release_shapes
    from hetdp.errors import UsageError, VerificationError
    from hetdp.tables.record import verify_record

    if action != "verify":
        given_options = {"--ledger": ledger, "--problem": problem, "--mechanism": mechanism, "--plan": plan}
        _require_alone(action, [option for option, value in given_options.items() if value is not None])
        (_state if action == "statement" else _describe_plan)(out, record, as_json)
        return 0
    if (problem is None) != (mechanism is None):
        raise UsageError("--problem without --mechanism, or --mechanism without --problem", "both are needed")
    given = _read_arguments(out, problem, mechanism, duplicates, positive)
    verdict = verify_record(record, ledger=ledger, plan=plan, **given)
    if as_json:
        out.emit_document(release_shapes.record(record, verdict))
    else:
        out.emit(str(verdict).splitlines())
    return 0 if verdict.valid else VerificationError.exit_code


def _require_alone(action: str, options: list[str]) -> None:
    from hetdp.errors import UsageError

    if options:
        rule = f"it takes the {'record' if action == 'statement' else 'plan'} alone"
        raise UsageError(f"{options[0]} for {action}", rule, "hetdp record verify checks a record against more")


def _state(out: Output, record: str, as_json: bool) -> None:
    """Prints the statement of a record."""
    from hetdp.cli import shapes
    from hetdp.releases.record.summary import statement

    words = statement(record)
    if as_json:
        out.emit_document(shapes.document("record", record_file=record, statement=words))
    else:
        out.emit([words])


def _describe_plan(out: Output, path: str, as_json: bool) -> None:
    """Prints a plan in words."""
    from hetdp.cli import shapes
    from hetdp.tables.plan_description import describe_plan

    words = describe_plan(path)
    if as_json:
        out.emit_document(shapes.document("record", plan_file=path, description=words.splitlines()))
    else:
        out.emit(words.splitlines())


def _read_arguments(
    out: Output, problem: str | None, mechanism: str | None, duplicates: Literal["error", "min"], positive: str | None
) -> dict[str, Any]:
    """The problem and its mechanism. The file may name another problem: the digest decides."""
    from hetdp.cli.reading import read_without_pins, require_input
    from hetdp.files.mechanisms import read_claim

    if problem is None or mechanism is None:
        return {}
    require_input(problem, mechanism)
    asked = read_without_pins(out, problem, duplicates, positive)
    return {"problem": asked, "mechanism": read_claim(mechanism, asked).mechanism}


command = Verb(
    "record",
    record,
    EXAMPLES,
    ABOUT,
    [ACTION, RECORD, *OPTIONS, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "proving"),
)
