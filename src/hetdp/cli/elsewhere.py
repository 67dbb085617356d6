"""`hetdp ledger record`: who paid elsewhere, from what was typed or from a table."""

from __future__ import annotations

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hetdp.release.ledger.status import Status

    Told = tuple[dict[str, Any], list[str]]


def amount(option: str, text: Any, currency: str, name: str | None = None) -> Any:
    """What was typed: ε, μ, or ε:δ as a pair.

    Args:
        option: what it was given to, for messages.
        text: what was typed; None if nothing was.
        currency: how the source counts.
        name: the class it is for.

    Raises:
        UsageError: there is no δ where it is counted.
    """
    from hetdp.errors import UsageError, shown

    if currency != "epsilon-delta" or text is None or text == "inf":
        return text
    pair = tuple(text.split(":"))
    if len(pair) != 2:
        example = "1:1e-6" if name is None else f"{name}=0.1:1e-7"
        rule = "in epsilon-delta, an amount is ε:δ"
        raise UsageError(f"{option} without δ: {shown(text)}", rule, f"{option} {example}")
    return pair


def recorded(
    opened: Callable[[], Any],
    told: Callable[[Any, str], Told],
    source: str | None = None,
    charge: tuple[str, ...] = (),
    note: str | None = None,
    unit: str | None = None,
    relation: str | None = None,
    **paid: str,
) -> Told:
    """Writes down what was spent elsewhere, and says so where that fixes who pays.

    Args:
        opened: opens the ledger.
        told: says what was written.
        source: the data.
        charge: classes with their amounts, as typed.
        note: where, and for what.
        unit: whose data changes between neighbours; by default what the source has.
        relation: how it changes, likewise.
        paid: instead of `charge`, the table of people and its columns.

    Raises:
        UsageError: something is missing, or said twice.
    """
    from contextlib import suppress

    from hetdp.errors import InterruptedSpend, LedgerError, UsageError
    from hetdp.release.ledger.database import RECORDING

    if source is None or note is None or bool(charge) == ("people" in paid):
        rule = "record takes --source, --note, and who paid: --charge, or --people with --person and --epsilon"
        raise UsageError("something is missing, or said twice", rule)
    if charge and paid:
        raise UsageError(f"--{next(iter(paid))} beside --charge", "it is for --people")
    ledger = opened()
    (before,) = ledger.status(source)
    made = _classes(charge, before.currency) if charge else _people(before.currency, **paid)
    entry = ledger.record(source, made, note, unit=unit, relation=relation)
    try:
        document, lines = told(entry, "recorded")
        with suppress(LedgerError):  # it is recorded, whatever happens to the ledger from now on
            lines += _fixed(before, ledger.status(source)[0])
    except KeyboardInterrupt:
        raise InterruptedSpend(RECORDING.done) from None
    return document, lines


def _fixed(before: Status, after: Status) -> list[str]:
    """What the first charge of a source has fixed; nothing if it was not the first."""
    from hetdp.cli.balances import about

    was, now = map(_payers, (before, after))
    fixed = f"this was the first charge of {before.source!r}: from now on {now}"
    return [] if was or not now else [f"{fixed}; its losses are about {about(after)}"]


def _payers(one: Status) -> str:
    if one.people:
        return f"its people pay one by one, by {one.named!r}, and classes cannot be charged"
    is_charged = any((each.spent, each.spent_delta or "0") != ("0", "0") for each in one.classes)
    return "its classes pay, and people cannot be charged one by one" if is_charged else ""


def _people(currency: str, people: str, **columns: str) -> Any:
    from hetdp.interrupts import load_whole

    return load_whole("hetdp.asking.elsewhere").charge_from(
        people, currency, person=columns.get("person"), epsilon=columns.get("epsilon"), group=columns.get("group")
    )


def _classes(charge: tuple[str, ...], currency: str) -> Any:
    from hetdp.release.ledger.charge import Charge
    from hetdp.spaces.pairs import pairs

    given = pairs("--charge", charge, "CLASS=AMOUNT", "each class has one amount")
    amounts: dict[str, Any] = {name: amount("--charge", value, currency, name) for name, value in given.items()}
    if currency == "epsilon-delta":
        pairs_of = {name: (pair, pair) if isinstance(pair, str) else pair for name, pair in amounts.items()}
        first, second = ({name: pair[at] for name, pair in pairs_of.items()} for at in (0, 1))
        return Charge.to_classes(currency, first, second)
    return Charge.to_classes(currency, amounts)
