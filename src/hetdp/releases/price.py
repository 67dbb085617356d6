"""price: what a release would cost each account, and what would be left. Nothing is written or drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hetdp.releases.charges import charge_of
from hetdp.releases.ledger.chain import Entry, normalize_version
from hetdp.releases.ledger.charging import ClassPrice, largest_amount
from hetdp.releases.ledger.ledger import core_of
from hetdp.releases.ledger.ledger_core import LedgerCore
from hetdp.releases.other_ledgers import require_known_ledger
from hetdp.releases.request import DrawRequest, check_version, classes_of, open_request
from hetdp.text import format_value, pluralize

SHOWN = 20  # classes, in words
MOST_SIMILAR = 3  # similar questions that are named


@dataclass(frozen=True, repr=False)
class Price:
    """The price of a release. It names no person.

    Attributes:
        source: the name of the data in the ledger.
        version: the version of the data.
        currency: how its privacy is counted.
        unit: the unit of the amounts: ε, or μ².
        classes: what each class would pay; empty if it was released before, or nobody pays.
        before: when exactly this was released before, and for which version of the data; nothing is charged then. Else
            None.
        similar: similar questions that were asked before; their answers are not given again.
        fits: whether every account has enough left, so that the release would not be refused.
        largest: the largest ε, or μ, that every account can still pay; None if nobody pays.
        largest_delta: the largest δ that every account could pay; None if the currency has none, or nobody pays.
        free: of several questions, the numbers of those that were released before, if not all of them were: they keep
            their answers, and only the others are charged.
        questions: the number of questions, whose sum everybody pays.
    """

    source: str
    version: str
    currency: str
    unit: str
    classes: tuple[ClassPrice, ...]
    before: str | None
    similar: tuple[str, ...]
    fits: bool
    largest: str | None
    largest_delta: str | None = None
    free: tuple[int, ...] = ()
    questions: int = 1

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        if self.before is not None or not self.classes:
            what = "nothing is charged"
        else:
            fits = "it fits" if self.fits else "it does not fit"
            what = f"{pluralize(sum(one.accounts for one in self.classes), 'account')} charged, {fits}"
        return f"Price(source {format_value(self.source)}, {what})"

    def lines(self) -> Iterator[str]:
        """The price in words."""
        yield f"price, for the source {format_value(self.source)}, version {format_value(self.version)}:"
        if self.before is not None:
            yield f"  nothing: it was released before, {self.before}; the same answer would be given again"
            return
        for number in self.free:
            yield f"  nothing for question {number}: it was released before; the same answer would be given again"
        if not self.classes:
            yield "  nothing: nobody is charged"
        yield from (f"  {self._words(one)}" for one in self.classes[:SHOWN])
        if len(self.classes) > SHOWN:
            yield f"  and {len(self.classes) - SHOWN:,} more classes"
        if not self.fits:
            several = len(self.classes) > 1 or self.questions > 1
            largest = largest_amount(self.classes, self.unit, self.questions)
            most = f"; the most that fits everybody is {largest}" if several else ""
            yield f"this does not fit, and would be refused{most}"
        yield from self.similar

    def _words(self, one: ClassPrice) -> str:
        whom = f"{format_value(one.name)}, {pluralize(one.accounts, 'account')}"
        delta = "" if one.charged_delta is None else f", δ {one.charged_delta}"
        words = f"{whom}: at most {self.unit} {one.charged}{delta} each"
        cap = one.cap if one.cap == one.highest_cap else f"{one.cap} to {one.highest_cap}"
        if one.exceeded:
            few = f"{one.exceeded:,} of them would exceed the cap of {cap}"
            return f"{words}; {few}; the most that fits all of them is {largest_amount([one], self.unit)}"
        delta = "" if one.left_after_delta is None else f", δ {one.left_after_delta}"
        return f"{words}; at least {self.unit} {one.left_after}{delta} of {cap} would be left"


def price(what: Any, *, ledger: Any, source: str | None = None, version: str = "1") -> Price:
    """Computes the price of a release for each class, and what would be left. It writes nothing and reads no answer.

    Args:
        what: a Mechanism with its problem, or the result of `hetdp.ask`. Several questions cost each account the sum.
        ledger: a Ledger, or its address.
        source: the name of the data in the ledger; needed if the ledger has several.
        version: the version of the data.

    Raises:
        UsageError: the release would be refused for a reason other than its price, such as another neighbour
            relation, or another ledger that has the answer.
        InputError: the table is no longer the one that the promise is about.
        VerificationError: the mechanism is not private.
        LedgerError: the ledger cannot be used.

    >>> import hetdp, pathlib, tempfile
    >>> graph = hetdp.DatasetGraph.from_edges(["most say yes"], ["most say no"], 0.5)
    >>> mechanism = hetdp.design(hetdp.Problem(graph, [1, 2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = hetdp.Ledger.create(pathlib.Path(folder, "class.ledger"), source="class 4b", cap=0.4)
    ...     found = hetdp.price(mechanism, ledger=ledger)
    >>> found.fits, found.classes[0].charged, found.largest
    (False, '0.5', '0.4')
    """
    version = check_version(version)
    core = core_of(ledger)
    with open_request(what) as asked:
        return _price(asked.requests, core, source, version)


def _price(requests: Sequence[DrawRequest], core: LedgerCore, source: str | None, version: str) -> Price:
    source, currency = core.find_source(source)
    require_known_ledger(core, requests, version)
    core.require_capped_classes(source, classes_of(requests))
    charges = [(charge_of(one.costs, currency), one.digest) for one in requests]
    terms, earlier, rows = core.quote(source, version, charges, requests[0].neighbours)
    released = ["" if one is None else f"on {one.time[:10]}, of version {format_value(one.version)}" for one in earlier]
    before = "; ".join(dict.fromkeys(released)) if all(released) else None
    free = [number for number, when in enumerate(released, 1) if when and before is None]
    similar = () if before else similar_words(core, source, requests, version)
    fits = not any(one.exceeded for one in rows)
    largest = min((one.largest for one in rows), key=Decimal, default=None)
    deltas = [one.largest_delta for one in rows if one.largest_delta is not None]
    least = min(deltas, key=Decimal, default=None)
    return Price(
        source,
        version,
        terms.currency.name,
        terms.currency.unit,
        tuple(rows),
        before,
        similar,
        fits,
        largest,
        least,
        tuple(free),
        len(requests),
    )


def similar_words(core: LedgerCore, source: str, requests: Sequence[DrawRequest], version: str) -> tuple[str, ...]:
    """Similar questions that were asked before, in words; empty if there are none, or if exactly this was asked.

    Args:
        core: the ledger.
        source: the data.
        requests: what is asked now.
        version: which state of the data this is.
    """
    words: list[str] = []
    for number, request in enumerate(requests, 1):
        name = f"question {number}: " if len(requests) > 1 else ""
        entries = core.similar_entries(source, request.theme(), request.digest, version, MOST_SIMILAR + 1)
        before = f"{name}the source {format_value(source)} was asked something similar before"
        words += [
            f"{before}: on {entry.time[:10]}, of version {format_value(entry.version)} (entry {entry.number:,})"
            f"{_difference(request, entry, version)}"
            for entry in entries[:MOST_SIMILAR]
        ]
        if len(entries) > MOST_SIMILAR:
            words.append(f"{name}and before that; hetdp ledger history lists everything")
    return (*words, "this is a new question, with its own answer and its own price") if words else ()


def _difference(request: DrawRequest, entry: Entry, version: str) -> str:
    """The difference between a question and an earlier one, in words."""
    others = [] if normalize_version(version) == normalize_version(entry.version) else ["version"]
    others += request.differences(entry)
    return f", which differs in {' and '.join(filter(None, (', '.join(others[:-1]), others[-1])))}" if others else ""
