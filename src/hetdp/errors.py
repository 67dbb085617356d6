"""Every exception hetdp raises on purpose, each with the facts as attributes.

A message says what is wrong, where, the value, the rule, and then a hint. A hint never suggests weaker privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hetdp.text import escape_unprintable, format_value, pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN_FAULTS = 20


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
        return f"{escape_unprintable(self.where)}: {self.without_place()}"

    def without_place(self) -> str:
        """What is wrong, where the place has been named already."""
        value = f" {self.value}" if self.value else ""
        hint = f" Hint: {self.hint}" if self.hint else ""
        rule = f"; {self.rule}" if self.rule else ""
        return escape_unprintable(f"{self.what}{value}{rule}.{hint}")


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
        subject = escape_unprintable(self.subject)
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
            f"there is no dataset {format_value(label)}; only datasets of the problem can be asked about."
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
        whose = f" ({', '.join(map(format_value, self.classes[:SHOWN_FAULTS]))})" if self.classes else ""
        super().__init__(
            f"the budget of {format_value(source)} does not allow this:"
            f" {exceeded:,} of {pluralize(accounts, 'account')}{whose} would exceed the cap;"
            " nothing was spent, and no answer was drawn."
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
