"""Every exception hetdp raises on purpose, each with the facts as attributes.

A message says what is wrong, where, the value, the rule, and then a hint. A hint never suggests weaker privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN_FAULTS = 20
SHOWN_LENGTH = 80
CLOSE = 0.5  # how much alike two names are, when one may be meant for the other


def shown(value: object) -> str:
    """A value in a message: as Python would write it, without NumPy's wrapping, and not too long."""
    try:
        text = repr(value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value)
    except ValueError:  # a whole number of more digits than Python writes
        text = f"<{type(value).__name__} too long to write>"
    return text if len(text) <= SHOWN_LENGTH else f"{text[: SHOWN_LENGTH - 1]}…"


def printable(text: str) -> str:
    r"""Text in which what would break a line, or the terminal, is written as Python would; any blank is a plain one.

    >>> print(printable("«\xa0a\x1b[2Jb\xa0»"))
    « a\x1b[2Jb »
    """
    if text.isprintable():
        return text
    from unicodedata import category

    def seen(one: str) -> str:
        if one.isprintable():
            return one
        return " " if category(one) == "Zs" else one.encode("unicode_escape").decode()

    return "".join(map(seen, text))


def printable_json(text: str) -> str:
    r"""JSON in which every character that does not print is an escape, so that it means the same; line breaks stay.

    >>> print(printable_json('{"«\x9b2J»": "\u202e"}'))
    {"«\u009b2J»": "\u202e"}
    """
    if text.isprintable():
        return text

    def seen(one: str) -> str:
        from json import dumps

        return one if one.isprintable() or one == "\n" else dumps(one)[1:-1]

    return "".join(map(seen, text))


def counted(number: int, noun: str) -> str:
    """A number of things, in words.

    >>> counted(1, "edge"), counted(2000, "edge")
    ('1 edge', '2,000 edges')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def rounded_up(number: float, digits: int) -> float:
    """The smallest number of so many decimal digits that is not below; so a bound is never printed too small.

    >>> f"{rounded_up(1.21e-16, 2):.1e}", f"{rounded_up(2.0000000001, 9):.9g}", rounded_up(0.0, 2)
    ('1.3e-16', '2.00000001', 0.0)
    """
    from decimal import ROUND_CEILING, Context

    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(float(number))))


def instead_of(name: object, others: Iterable[str]) -> str:
    """A hint at a name that may be meant; empty if there is none.

    >>> instead_of("epsilom", ["source", "target", "epsilon"])
    "'epsilon' looks like it"
    """
    from difflib import get_close_matches

    close = get_close_matches(name, list(others), 1, CLOSE) if isinstance(name, str) else []
    return f"{close[0]!r} looks like it" if close else ""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with an input.

    Attributes:
        what: the kind of fault, in a few words.
        where: the place, such as ``edge 4 (a, b)`` or ``dataset 01``.
        value: the offending value, as text; empty if there is none.
        rule: what would have been accepted; empty if another fault of the same input says it.
        hint: what to do about it; empty if the rule says it all.
    """

    what: str
    where: str
    value: str
    rule: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{printable(self.where)}: {self.without_place()}"

    def without_place(self) -> str:
        """What is wrong, where the place has been named already."""
        value = f" {self.value}" if self.value else ""
        hint = f" Hint: {self.hint}" if self.hint else ""
        rule = f"; {self.rule}" if self.rule else ""
        return printable(f"{self.what}{value}{rule}.{hint}")


class HetdpError(Exception):
    """The root of all hetdp errors; `exit_code` is what the command line ends with."""

    exit_code = 1
    arguments: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), self.arguments  # so that an error survives the way back from another process


class UsageError(HetdpError, ValueError):
    """A call that cannot be carried out: an unknown option value, or an engine that cannot do what is asked."""

    exit_code = 2

    def __init__(self, what: str, rule: str, hint: str = "") -> None:
        self.what, self.rule, self.hint = self.arguments = what, rule, hint
        super().__init__(f"{what}; {rule}." + (f" Hint: {hint}" if hint else ""))


class InputError(HetdpError, ValueError):
    """An input with faults: `faults` lists them (the first thousand), `total` counts them."""

    exit_code = 3

    def __init__(self, subject: str, faults: Sequence[Fault], total: int | None = None) -> None:
        self.subject = subject
        self.faults = tuple(faults)
        self.total = len(self.faults) if total is None else total
        self.arguments = self.subject, self.faults, self.total
        super().__init__(self._message())

    def _message(self) -> str:
        told = [
            fault.without_place() if fault.where == self.subject else str(fault) for fault in self.faults[:SHOWN_FAULTS]
        ]
        subject = printable(self.subject)
        if self.total == 1:
            return f"{subject}: {told[0]}"
        lines = [f"{subject}: {self.total} faults", *(f"  {words}" for words in told)]
        if self.total > SHOWN_FAULTS:
            lines.append(f"  and {self.total - SHOWN_FAULTS} more")
        return "\n".join(lines)


class UnknownDatasetError(HetdpError, KeyError):
    """A label that names no dataset of the space."""

    exit_code = 3

    def __init__(self, label: object) -> None:
        self.label, self.arguments = label, (label,)
        self.message = (
            f"there is no dataset {shown(label)}; only datasets of the problem can be asked about."
            " Hint: labels are compared exactly, so '1' and 1 are different."
        )
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class NoExtensionError(HetdpError):
    """No private mechanism takes the given values: `witness` shows why, `repair` (not on partitions) what would do."""

    exit_code = 4

    def __init__(self, witness: Any, repair: Any) -> None:
        self.witness, self.repair = self.arguments = witness, repair
        offered = "" if repair is None else ", .repair.pins a compromise that does extend"
        super().__init__(
            f"no private extension of this partial mechanism exists: {witness} Hint: .witness has the path{offered}."
        )


class VerificationError(HetdpError):
    """No mechanism could be proved, so none is returned or released; `certificate` says what the last try came to."""

    exit_code = 5

    def __init__(self, certificate: Any, message: str = "") -> None:
        self.certificate, self.arguments = certificate, (certificate, message)
        super().__init__(
            message
            or f"no mechanism with these values could be proved, and none is returned: {certificate}"
            " Hint: this is a bug in hetdp; please report it with the problem that caused it."
        )


class BudgetError(HetdpError):
    """A spend that the ledger refuses: it would exceed a cap, so nothing was spent and nothing drawn."""

    exit_code = 6

    def __init__(self, source: str, exceeded: int, accounts: int, classes: Sequence[str] = ()) -> None:
        self.source, self.exceeded, self.accounts, self.classes = source, exceeded, accounts, tuple(classes)
        self.arguments = source, exceeded, accounts, self.classes
        whose = f" ({', '.join(map(shown, self.classes[:SHOWN_FAULTS]))})" if self.classes else ""
        super().__init__(
            f"the budget of {shown(source)} does not allow this: {exceeded:,} of {counted(accounts, 'account')}{whose}"
            " would exceed the cap; nothing was spent, and no answer was drawn."
        )


class LedgerError(HetdpError):
    """A ledger that cannot be used: missing, locked, damaged, changed, or older than its records.

    `spent` is False if nothing was spent, and None if that is not known, since a commit failed in its last moment. Then
    it is safe to ask the same again: the answer is the same, and is paid for once. It is True if it was spent, but the
    answer may not be shown yet, since the disk did not confirm it.
    """

    exit_code = 7

    def __init__(self, place: str, what: str, rule: str, spent: bool | None = False) -> None:
        self.place, self.what, self.rule, self.spent = self.arguments = place, what, rule, spent
        super().__init__(f"{place}: {what}; {rule}.")


class InterruptedSpend(KeyboardInterrupt):
    """Ctrl-C in a moment when a spend could no longer be undone; as text, it says what is known of the spend."""


class UnwrittenRecordError(HetdpError):
    """An answer was drawn, paid for and is in the ledger, but a file of its record could not be written.

    Nothing is lost: `release` has the answer, and asking again gives the same answer and record, and spends nothing.
    """

    exit_code = 9

    def __init__(self, release: Any, reason: str) -> None:
        self.release, self.reason = self.arguments = release, reason
        super().__init__(
            f"the answer was released and is in the ledger, but its record was not written: {reason}"
            " Hint: ask again with another place for the record; the answer will be the same, and nothing is spent."
        )


class ClusterError(HetdpError):
    """The workers of a cluster were lost, or could not do what was asked of them."""

    exit_code = 8

    def __init__(self, what: str, why: str, hint: str = "") -> None:
        self.what, self.why, self.hint = self.arguments = what, why, hint
        super().__init__(f"{what}; {why}." + (f" Hint: {hint}" if hint else ""))
