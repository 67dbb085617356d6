"""A charge: who pays how much; and the same sealed, with people under pseudonyms, as the ledger keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError, shown
from hetdp.release.ledger.amounts import DELTA_SCALE, all_spent, all_squares, currency_of, spent
from hetdp.release.ledger.sealed import CLASS, PERSON, Sealed, is_name, order_of, pseudonyms, seal


@dataclass(frozen=True, eq=False)
class Charge:
    """Who pays how much of their privacy for one answer, or for several that are given together.

    `Charge.to_classes` and `Charge.to_people` make one from ε, δ or μ.

    Attributes:
        currency: ``epsilon``, ``epsilon-delta`` or ``gaussian``.
        kind: ``class`` or ``person``: what the names are of.
        names: the classes by name, or the people by what tells them apart (text or whole numbers); nobody twice.
        amounts: for each of them the cost in whole units: 10⁻⁹ of ε, or 10⁻¹² of μ²; 2⁶³ − 1 is infinite.
        deltas: for each of them δ in units of 10⁻¹⁸, if the currency has it.
        classes: for each person the name of their class, by which their cap is found; None where caps do not differ.
        named: what the people's ids are, such as the column they stand in; the same in every charge of a source.

    >>> Charge.to_classes("epsilon", {"pupils": "0.1", "staff": 1e-12}).amounts.tolist()
    [100000000, 1]
    """

    currency: str
    kind: str
    names: Sequence[Any]
    amounts: NDArray[np.int64]
    deltas: NDArray[np.int64] | None = None
    classes: Sequence[str] | None = field(default=None)
    named: str | None = None

    @classmethod
    def to_classes(cls, currency: str, amounts: Mapping[str, Any], deltas: Mapping[str, Any] | None = None) -> Charge:
        """A charge to classes: for each name ε, or μ for the currency ``gaussian``; as numbers or decimal text.

        Args:
            currency: ``epsilon``, ``epsilon-delta`` or ``gaussian``.
            amounts: what each class pays, rounded up.
            deltas: the δ of each class, for ``epsilon-delta``.

        Raises:
            UsageError: an amount is not a number, negative, or a δ is missing.
        """
        known = currency_of(currency)
        units = np.array([spent(value, known.scale, known.squared) for value in amounts.values()], np.int64)
        second = None
        if deltas is not None:
            if deltas.keys() != amounts.keys():
                raise UsageError("a δ without its ε, or an ε without its δ", "every class has both")
            second = np.array([spent(deltas[name], DELTA_SCALE) for name in amounts], np.int64)
        return cls(currency, CLASS, tuple(amounts), units, second)

    @classmethod
    def to_people(
        cls,
        currency: str,
        ids: Sequence[Any],
        amounts: Any,
        deltas: Any = None,
        classes: Sequence[str] | None = None,
        named: str | None = None,
    ) -> Charge:
        """A charge to people one by one, rounded up from the decimals that were written; 0.1 costs 0.1.

        The decimal of a float is the shortest that means it, the one that Python prints.

        Args:
            currency: ``epsilon``, ``epsilon-delta`` or ``gaussian``.
            ids: what tells people apart: text or whole numbers, nobody twice.
            amounts: for each of them ε, or μ for the currency ``gaussian``; or one number for all.
            deltas: the δ of each, for ``epsilon-delta``.
            classes: for each of them the name of their class, if caps differ by class.
            named: what the ids are: the column they stand in, as ``--person`` says it, or any other word. The first
                charge to people fixes it for a source, also that nobody said it (None); a charge with another is
                refused, since the same people would have two budgets.

        Raises:
            UsageError: an amount is not a number, or negative, or the lengths differ.
        """
        known, count = currency_of(currency), len(ids)
        second = None if deltas is None else _each(deltas, count, DELTA_SCALE, False)
        return cls(currency, PERSON, ids, _each(amounts, count, known.scale, known.squared), second, classes, named)

    def __post_init__(self) -> None:
        self._freeze()
        known, count = currency_of(self.currency), len(self.names)
        if self.kind not in (CLASS, PERSON):
            raise UsageError(f"there is no kind of account {shown(self.kind)}", f"it is {CLASS} or {PERSON}")
        if known.has_delta != (self.deltas is not None):
            rule = "δ is counted beside ε" if known.has_delta else "δ is counted by epsilon-delta only"
            raise UsageError(f"{'no ' * known.has_delta}δ in a charge of {known.name}", rule)
        self._require_amounts()
        if self.classes is not None and (self.kind == CLASS or len(self.classes) != count):
            raise UsageError("a charge whose classes do not fit", "each person has one class, and classes have none")
        if not all(is_name(name) for name in set(self.classes or ())):
            raise UsageError("a class that is not named by text", "classes have names of text")
        if self.named is not None and (self.kind == CLASS or not is_name(self.named)):
            raise UsageError("ids that are not named by text", "named says in words what people's ids are")
        if self.kind == CLASS:
            if not all(is_name(name) for name in self.names):
                raise UsageError("a class that is not named by text", "class accounts have names of text")
            if len(set(self.names)) != count:
                raise UsageError("a class is charged twice", "each account is charged once")

    def _freeze(self) -> None:
        """Keeps copies, so that a charge stays as it was when it was checked."""
        for name in ("amounts", "deltas"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        if self.kind == CLASS:
            object.__setattr__(self, "names", tuple(self.names))
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))

    def _require_amounts(self) -> None:
        for values in (self.amounts, self.deltas):
            fits = values is None or (values.dtype == np.int64 and values.shape == (len(self.names),))
            if not fits or (values is not None and bool((values < 0).any())):
                raise UsageError("a charge whose amounts do not fit", "there is one whole number, 0 or more, for each")

    def sealed(self, secret: bytes) -> Sealed:
        """The charge as a ledger with this secret keeps it: in order, without those who pay nothing."""
        self._require_amounts()  # arrays can be made writable again
        if self.kind == CLASS:
            listed = sorted((name, at) for at, name in enumerate(self.names) if self._pays(at))
            chosen = np.array([at for _, at in listed], np.intp)
            return seal(self.currency, [name for name, _ in listed], None, *self._taken(chosen), None)
        keys = pseudonyms(self.names, secret)
        order = order_of(keys)
        keys = keys[order]
        if bool((keys[1:] == keys[:-1]).any()):
            raise UsageError("a person is charged twice", "each account is charged once")
        pays = self.amounts > 0 if self.deltas is None else (self.amounts > 0) | (self.deltas > 0)
        order, keys = order[pays[order]], keys[pays[order]]
        classes = None if self.classes is None else [self.classes[at] for at in order.tolist()]
        return seal(self.currency, (), keys, *self._taken(order), classes, self.named)

    def _pays(self, at: int) -> bool:
        return bool(self.amounts[at] or (self.deltas is not None and self.deltas[at]))

    def _taken(self, at: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        return self.amounts[at], None if self.deltas is None else self.deltas[at]


def _frozen(values: Any) -> NDArray[np.int64] | None:
    """A copy that stays as it is."""
    if values is None:
        return None
    try:
        copy = np.array(values)
    except ValueError:  # lists of several lengths
        raise UsageError("a charge whose amounts do not fit", "there is one whole number for each") from None
    copy.setflags(write=False)
    return copy


def _each(values: Any, count: int, scale: int, squared: bool) -> NDArray[np.int64]:
    """The units of each of several amounts, or of one for all."""
    given = np.asarray(values)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != count):
        raise UsageError("a charge whose amounts do not fit", "there is one amount for each person, or one for all")
    if given.dtype.kind == "f":
        units = (all_squares if squared else all_spent)(given, scale)
    else:
        units = np.array([spent(value, scale, squared) for value in given.reshape(-1).tolist()], np.int64)
    return np.broadcast_to(units, (count,)).copy() if given.ndim == 0 else units
