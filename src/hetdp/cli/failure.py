"""What went wrong, in one voice: words on standard error, with --json a document too, and the exit code."""

from __future__ import annotations

import os

from hetdp.cli.voice import complain

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hetdp.errors import Fault

BUG, USAGE = 1, 2
SPOKEN = {  # the library speaks to those who write Python
    "hetdp.design": "hetdp design PROBLEM",
    "positive=": "--positive",
    "duplicates='min'": "--duplicates min",
    "engine='auto'": "--engine auto",
}


class Failure:
    """An error as it is told.

    Args:
        kind: what sort of error it is.
        exit_code: what the command ends with.
        message: the words.
        faults: each thing that is wrong, if they can be told apart.
        total: how many there are, of which `faults` may be the first.
        facts: more shapes for the document.
    """

    def __init__(
        self, kind: str, exit_code: int, message: str, faults: Sequence[Fault] = (), total: int = 0, **facts: Any
    ) -> None:
        self.kind, self.exit_code, self.message = kind, exit_code, message
        self.faults, self.total, self.facts = faults, total, facts


def report(error: Exception, arguments: Sequence[str]) -> int:
    """Tells an error, and returns the exit code that goes with it."""
    if os.environ.get("HETDP_DEBUG", "") not in ("", "0"):
        import traceback

        traceback.print_exception(error)
    failure = failure_of(error)
    complain(f"hetdp: {failure.message}")
    if "--json" in arguments:
        _emit(failure, arguments)
    return failure.exit_code


def failure_of(error: Exception) -> Failure:
    """What to tell about an error."""
    import click

    from hetdp.cli.usage import misuse
    from hetdp.errors import HetdpError

    if isinstance(error, click.ClickException):
        return Failure("usage", USAGE, misuse(error))
    if isinstance(error, HetdpError):
        return _refused(error)
    if isinstance(error, MemoryError):
        return Failure("memory", BUG, "this machine has not enough free memory for this problem.")
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return Failure("system", USAGE, f"{place}{error.strerror or error}; the system refused this.")
    return Failure("bug", BUG, _bug(error))


def _refused(error: Any) -> Failure:
    """What hetdp refuses on purpose."""
    from hetdp import errors

    code = error.exit_code
    if isinstance(error, errors.InputError):
        spoken = errors.InputError(error.subject, [_spoken_fault(fault) for fault in error.faults], error.total)
        return Failure("input", code, str(spoken), spoken.faults, spoken.total)
    if isinstance(error, errors.NoExtensionError):
        return _incompatible(error)
    if isinstance(error, errors.LedgerError):
        return Failure("ledger", code, _spoken(str(error)), spent=error.spent)
    if isinstance(error, errors.VerificationError):
        from hetdp.cli import shapes

        return Failure("verification", code, str(error), certificate=shapes.certificate(error.certificate))
    kinds = {
        errors.UsageError: "usage",
        errors.BudgetError: "budget",
        errors.ClusterError: "cluster",
    }
    kind = next((word for known, word in kinds.items() if isinstance(error, known)), "input")
    return Failure(kind, code, _spoken(str(error)))


def _incompatible(error: Any) -> Failure:
    from hetdp.cli import shapes
    from hetdp.cli.verdicts import refusal_lines

    hint = "Hint: hetdp check PROBLEM --repair FILE writes the problem with these values, ready for extend."
    message = "\n".join([*refusal_lines(error.witness, error.repair), *([hint] if error.repair is not None else [])])
    return Failure(
        "no extension",
        error.exit_code,
        message,
        witness=shapes.witness(error.witness),
        repair=None if error.repair is None else shapes.repair(error.repair),
    )


def _emit(failure: Failure, arguments: Sequence[str]) -> None:
    from hetdp.cli import shapes
    from hetdp.cli.group import VERBS
    from hetdp.cli.voice import as_json, write_lines
    from hetdp.errors import UsageError

    verb = next((word for word in arguments if word in VERBS), None)
    try:
        write_lines([as_json(shapes.document(verb, error=shapes.failure(failure)))])
    except UsageError as refusal:  # standard output is what failed
        if str(refusal) != failure.message:
            complain(f"hetdp: {refusal}")


def _spoken_fault(fault: Fault) -> Fault:
    from dataclasses import replace

    return replace(fault, rule=_spoken(fault.rule), hint=_spoken(fault.hint))


def _spoken(text: str) -> str:
    for phrase, words in SPOKEN.items():
        text = text.replace(phrase, words)
    return text


def _bug(error: Exception) -> str:
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
    return (
        f"unexpected {what}. This is a bug in hetdp. Please report it with this line, hetdp --version, the command, and"
        " the problem if you may share it. (HETDP_DEBUG=1 shows where it arose.)"
    )
