"""The exceptions that hetdp raises on purpose, each with its facts as attributes, and the collector of faults.

A message says what is wrong, where, the value, the rule, and then a hint. A hint never suggests weaker privacy.

Messages speak Python; the command line translates them (`hetdp.cli.main`). So they name

- an argument as ``workers=``, or with its value as ``engine='dask'``. In the shell these read ``--workers`` and
  ``--engine dask``, if the verb has such an option;
- a function as ``hetdp.design``. In the shell this reads ``hetdp design PROBLEM``.

A value that comes from outside is quoted by `hetdp.text.format_value`, and is never translated.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from hetdp.text import ask_if_meant, closest, escape_unprintable, format_value, pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

SHOWN_LINES = 20  # most lines of a list of faults
MOST_ALIKE = 5  # most faults of one kind that are listed one by one; more are counted
SHOWN_ALIKE = 3  # examples shown when they are counted
MOST_LISTED = 1000  # most faults that a collector keeps, before it counts them by kind


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with an input.

    Attributes:
        what: the kind of fault, in a few words.
        where: the place, such as ``edge 4 (a, b)`` or ``dataset 01``.
        value: the offending value, as text; empty if there is none.
        rule: what would have been accepted; empty if another fault of the same input says it. Faults without a rule are
            always listed one by one.
        hint: what to do about it; empty if the rule says it all.
    """

    what: str
    where: str
    value: str
    rule: str
    hint: str = ""

    @property
    def kind(self) -> tuple[str, str]:
        """The problem and the rule; faults that share both are listed together."""
        return self.what, self.rule

    def __str__(self) -> str:
        return f"{escape_unprintable(self.where)}: {self.without_place()}"

    def without_place(self) -> str:
        """The message without the place, where that has been named already."""
        value = f" {self.value}" if self.value else ""
        rule = f"; {self.rule}" if self.rule else ""
        return escape_unprintable(f"{self.what}{value}{rule}.{_hint(self.hint)}")

    def place_and_value(self) -> str:
        """The rest of the message, where the kind of fault has been named already."""
        return escape_unprintable(f"{self.where}: {self.value}" if self.value else self.where)


def _hint(hint: str) -> str:
    return f" Hint: {hint}" if hint else ""


class HetdpError(Exception):
    """The root of all errors of hetdp; `exit_code` is the exit code of the command line."""

    exit_code = 1
    arguments: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), self.arguments  # an error is pickled when a worker process raises it


class UsageError(HetdpError, ValueError):
    """A call that cannot be carried out, such as one with an unknown engine or with contradictory arguments.

    Attributes:
        what: what cannot be done.
        rule: what would have been accepted.
        hint: what to do about it; may be empty.
    """

    exit_code = 2

    def __init__(self, what: str, rule: str, hint: str = "") -> None:
        self.what, self.rule, self.hint = self.arguments = what, rule, hint
        super().__init__(f"{what}; {rule}.{_hint(hint)}")


class DeviceError(UsageError):
    """No GPU can be used, or it cannot run this operation; raised where ``engine='gpu'`` was asked for."""


class InputError(HetdpError, ValueError):
    """An input with faults.

    Many faults of one kind are one entry of the message: how many there are, and the first few places.

    Attributes:
        subject: what is at fault, such as the name of a file.
        faults: the faults, the first thousand of them.
        total: how many there are.
        more: how many there are of each kind (what, rule) beyond those in `faults`.
    """

    exit_code = 3

    def __init__(
        self,
        subject: str,
        faults: Sequence[Fault],
        total: int | None = None,
        more: Mapping[tuple[str, str], int] | None = None,
    ) -> None:
        self.subject = subject
        self.faults = tuple(faults)  # their places may begin with the subject, which the message names once
        self.more = dict(more or {})
        self.total = len(self.faults) + sum(self.more.values()) if total is None else total
        self.arguments = self.subject, self.faults, self.total, self.more
        super().__init__(self._message())

    def translate(self, into: Callable[[str], str]) -> InputError:
        """The same error in other words, such as those of the command line; places and values stay."""
        faults = [
            replace(fault, what=into(fault.what), rule=into(fault.rule), hint=into(fault.hint)) for fault in self.faults
        ]
        more = {(into(what), into(rule)): count for (what, rule), count in self.more.items()}
        return InputError(self.subject, faults, self.total, more)

    def _message(self) -> str:
        subject = escape_unprintable(self.subject)
        if self.total == 1:
            return f"{subject}: {self._line(self._within(self.faults[0]))}"
        lines, listed = [f"{subject}: {pluralize(self.total, 'fault')}"], 0
        alike: dict[tuple[str, str], list[Fault]] = {}
        for fault in map(self._within, self.faults):
            alike.setdefault(fault.kind, []).append(fault)
        for kind, faults in alike.items():
            if len(lines) > SHOWN_LINES:
                break
            count = len(faults) + self.more.get(kind, 0)
            if count > MOST_ALIKE and kind[1]:  # without a rule, each fault says something of its own
                lines += _summarize(faults, count)
                listed += count
            else:
                shown = faults[: SHOWN_LINES + 1 - len(lines)]
                lines += [f"  {self._line(fault)}" for fault in shown]
                listed += len(shown)
        if self.total > listed:
            lines.append(f"  and {self.total - listed:,} more")
        return "\n".join(lines)

    def _within(self, fault: Fault) -> Fault:
        """The fault with its place inside the subject, so that ``a.csv: a.csv row 2`` is ``a.csv: row 2``."""
        return replace(fault, where=fault.where.removeprefix(f"{self.subject} "))

    def _line(self, fault: Fault) -> str:
        return fault.without_place() if fault.where == self.subject else str(fault)


def _summarize(faults: Sequence[Fault], count: int) -> Iterator[str]:
    """Faults of one kind as lines: how many there are, and the first few places, with their values."""
    what, rule = faults[0].kind
    hints = {fault.hint for fault in faults}
    hint = hints.pop() if len(hints) == 1 else ""
    yield escape_unprintable(f"  {what.rstrip(':,')}, {count:,} times{f'; {rule}' if rule else ''}.{_hint(hint)}")
    for fault in faults[:SHOWN_ALIKE]:
        yield f"    {fault.place_and_value()}" + ("" if hint else escape_unprintable(_hint(fault.hint)))
    if count > SHOWN_ALIKE:
        yield f"    and {count - SHOWN_ALIKE:,} more"


class FaultCollector:
    """Collects the faults of one input, so that one error names them all.

    Past a thousand they are counted by kind, and only the first few of a kind are listed.

    Attributes:
        subject: what is at fault, such as the name of a file.
        faults: the faults that are listed.
        total: how many there are.
        more: how many there are of each kind beyond those that are listed.
    """

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.faults: list[Fault] = []
        self.total = 0
        self.more: Counter[tuple[str, str]] = Counter()

    def add(self, fault: Fault) -> None:
        """Adds one fault."""
        self.total += 1
        if len(self.faults) < MOST_LISTED:
            self.faults.append(fault)
        else:
            self._count(fault)

    def add_where(self, mask: Any, fault_at: Callable[[int], Fault]) -> None:
        """Adds a fault at every position where the mask is set, all of one kind."""
        self.add_at(mask.nonzero()[0], fault_at)

    def add_at(self, positions: Any, fault_at: Callable[[int], Fault]) -> None:
        """Adds a fault at each of these positions, all of one kind."""
        self.add_first(positions, len(positions), fault_at)

    def add_first(self, positions: Any, total: int, fault_at: Callable[[int], Fault]) -> None:
        """Adds faults of one kind, of which only the first positions are known; there are `total` of them."""
        room = max(SHOWN_ALIKE, MOST_LISTED - len(self.faults))
        listed = [fault_at(int(position)) for position in positions[:room]]
        self.faults.extend(listed)
        self.total += total
        if total > len(listed):
            self.more[listed[-1].kind] += total - len(listed)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Takes over the faults of an InputError that the block raises, and goes on."""
        try:
            yield
        except InputError as refusal:
            for fault in refusal.faults:
                self.add(fault)
            self.total += refusal.total - len(refusal.faults)
            self.more.update(refusal.more)

    def raise_if_any(self) -> None:
        """Raises an InputError with all faults, if there are any."""
        if self.total:
            raise InputError(self.subject, self.faults, self.total, self.more)

    def _count(self, fault: Fault) -> None:
        """Counts a fault; the first few of a kind are listed all the same."""
        if self.more[fault.kind] or len(self.faults) >= 2 * MOST_LISTED or self._is_shown(fault.kind):
            self.more[fault.kind] += 1
        else:
            self.faults.append(fault)

    def _is_shown(self, kind: tuple[str, str]) -> bool:
        return sum(fault.kind == kind for fault in self.faults) >= SHOWN_ALIKE


class UnknownDatasetError(HetdpError, KeyError):
    """A label that names no dataset of the space.

    Args:
        label: the label.
        known: labels of the space, of which the message suggests those that look like it. They are not looked at
            before somebody reads the message.

    Attributes:
        label: the label.
    """

    exit_code = 3

    def __init__(self, label: object, known: Iterable[Any] = ()) -> None:
        self.label, self._known = label, known
        self._close: tuple[Any, ...] | None = None
        self._example: tuple[Any, ...] = ()
        super().__init__(label)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), (self.label, self.close or self.examples)

    @property
    def close(self) -> tuple[Any, ...]:
        """The labels of the space that look most like it, if there are any."""
        if self._close is None:
            known = iter(self._known)
            self._example = tuple(islice(known, 1))
            self._close = tuple(closest(self.label, chain(self._example, known), 3))
            self._known = ()
        return self._close

    @property
    def examples(self) -> tuple[Any, ...]:
        """One label of the space, if none looks like the unknown one and the space has any."""
        return () if self.close else self._example

    @property
    def message(self) -> str:
        """The message."""
        hint = ask_if_meant(map(format_value, self.close))
        alike = next((one for one in self.close if str(one) == str(self.label)), None)
        if alike is not None:
            hint += f" Labels are compared exactly, so {format_value(self.label)} and {format_value(alike)} differ."
        for example in self.examples:
            hint = f"a label is, for example, {format_value(example)}"
        return (
            f"there is no dataset {format_value(self.label)}; the label must be that of a dataset of the problem."
            f"{_hint(hint)}"
        )

    def __str__(self) -> str:
        return self.message


class NoExtensionError(HetdpError):
    """No private mechanism has the given values: `witness` shows why; `repair` has values that work, or is None.

    Attributes:
        witness: a Witness: why not.
        repair: a Repair: values that do extend.
    """

    exit_code = 4

    def __init__(self, witness: Any, repair: Any) -> None:
        self.witness, self.repair = self.arguments = witness, repair
        offered = "" if repair is None else ", .repair.pins a compromise that works"
        super().__init__(
            f"no private extension of this partial mechanism exists: {witness} Hint: .witness has the path{offered}."
        )


class VerificationError(HetdpError):
    """No mechanism could be proved, so none is returned or released; `certificate` is that of the last attempt.

    Attributes:
        certificate: the Certificate of what was withheld.
    """

    exit_code = 5

    def __init__(self, certificate: Any, message: str = "") -> None:
        self.certificate, self.arguments = certificate, (certificate, message)
        super().__init__(
            message
            or f"no mechanism with these values could be proved, and none is returned: {certificate}"
            " Hint: this is a bug in hetdp; please report it with the problem that caused it."
        )


class BudgetError(HetdpError):
    """A spend that the ledger refuses, since it would exceed a cap: nothing was spent and nothing drawn.

    Attributes:
        source: the name of the data.
        exceeded: how many accounts would exceed their caps.
        accounts: how many accounts would pay.
        classes: the names of those that would exceed their caps, if accounts are classes.
        largest: the largest amount that every account can still pay, in words such as "ε = 0.4"; empty if the ledger
            could not be asked.
    """

    exit_code = 6

    def __init__(
        self, source: str, exceeded: int, accounts: int, classes: Sequence[str] = (), largest: str = ""
    ) -> None:
        self.source, self.exceeded, self.accounts, self.classes = source, exceeded, accounts, tuple(classes)
        self.largest = largest
        self.arguments = source, exceeded, accounts, self.classes, largest
        class_words = f" ({', '.join(map(format_value, self.classes[:SHOWN_LINES]))})" if self.classes else ""
        largest_words = f" The most that every account can still pay is {largest}." if largest else ""
        super().__init__(
            f"the budget of {format_value(source)} does not allow this:"
            f" {exceeded:,} of {pluralize(accounts, 'account')}{class_words} would exceed the cap;"
            f" nothing was spent, and no answer was drawn.{largest_words}"
        )


class LedgerError(HetdpError):
    """A ledger that cannot be used: missing, locked, damaged, changed, or older than its records.

    `spent` is False if nothing was spent. It is None if that is not known, since a commit failed at its very end; then
    it is safe to ask again: the answer is the same and is paid for once. It is True if the budget was spent, but the
    answer cannot be shown yet, since the disk did not confirm it.

    Attributes:
        place: where the ledger is, without anybody's password.
        what: what is wrong with it.
        rule: what would have been accepted, or what follows.
        spent: False if nothing was spent, None if that is not known, True if it was, but is not confirmed.
    """

    exit_code = 7

    def __init__(self, place: str, what: str, rule: str, spent: bool | None = False) -> None:
        self.place, self.what, self.rule, self.spent = self.arguments = place, what, rule, spent
        super().__init__(f"{place}: {what}; {rule}.")


class InterruptedSpend(KeyboardInterrupt):
    """Ctrl-C when a spend could no longer be undone; its text says what is known about the spend."""


class UnwrittenRecordError(HetdpError):
    """An answer was drawn and paid for, and is in the ledger, but a file of its record could not be written.

    Nothing is lost: `release` has the answer. Asking again gives the same answer and record and spends nothing.

    Attributes:
        release: the Release: what was published, and its record.
        reason: why a file was not written.
    """

    exit_code = 9

    def __init__(self, release: Any, reason: str) -> None:
        self.release, self.reason = self.arguments = release, reason
        super().__init__(
            f"the answer was released and is in the ledger, but its record was not written: {reason}"
            " Hint: ask again with another place for the record; the answer will be the same, and nothing is spent."
        )


class ClusterError(HetdpError):
    """The workers of a cluster were lost, or could not carry out a task.

    Attributes:
        what: what happened.
        why: why, as far as it is known.
        hint: what to do about it; may be empty.
    """

    exit_code = 8

    def __init__(self, what: str, reason: str, hint: str = "") -> None:
        self.what, self.why, self.hint = self.arguments = what, reason, hint
        super().__init__(f"{what}; {reason}.{_hint(hint)}")
