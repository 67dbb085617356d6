"""A charge: who pays how much for one answer; and the same sealed, as the ledger stores it.

A sealed charge is a sequence of bytes with a digest, in which people have pseudonyms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.releases.ledger.amounts import (
    DELTA_SCALE,
    add_units,
    currency_of,
    units_spent,
    units_spent_each,
    units_squared_each,
)
from hetdp.text import format_value
from hetdp.theory.catalogue import find_currency

CLASS, PERSON = KINDS = ("class", "person")
EVERYBODY = "everybody"  # the account of what is in no class
VERSION = 1
KEY, KEY_BYTES = "S16", 16  # NumPy compares such keys by all their bytes
AMOUNT, NUMBER = "<i8", "<u4"


_encoded = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


class SealedCharge(NamedTuple):
    """A charge as the ledger stores it: without people's ids.

    Attributes:
        currency: the name of the currency.
        kind: ``class`` or ``person``.
        names: the classes that pay, in order; empty for people.
        keys: the pseudonyms of the people who pay, in order; empty for classes.
        amounts: what each pays.
        deltas: the δ of each; zeros if the currency has none.
        class_names: the different classes of the people, in order; empty where none were given.
        class_numbers: for each person the position of their class in it.
        named: the kind of the people's ids, such as a column; None if it is not stated.
        content: the charge as bytes.
        digest: SHA-256 of the content, as text.
    """

    currency: str
    kind: str
    names: tuple[str, ...]
    keys: NDArray[np.bytes_]
    amounts: NDArray[np.int64]
    deltas: NDArray[np.int64]
    class_names: tuple[str, ...]
    class_numbers: NDArray[np.uint32]
    named: str | None
    content: bytes
    digest: str

    @property
    def accounts(self) -> int:
        """The number of accounts that pay."""
        return len(self.amounts)


def canonical_json(document: dict[str, Any]) -> str:
    """JSON in the form that is hashed: ASCII, sorted keys, no spaces."""
    return _encoded(document)


def is_name(value: Any) -> bool:
    """True if a value can be the name of a class."""
    return isinstance(value, str) and "\0" not in value and value.isprintable()


def make_pseudonyms(ids: Any, secret: bytes) -> NDArray[np.bytes_]:
    """Keys for people: keyed BLAKE2b of their ids as text, 16 bytes; 7 and "7" are the same person."""
    values = ids.tolist() if isinstance(ids, np.ndarray) else ids
    kinds = set(map(type, values))
    if not all(issubclass(kind, (int, str, np.integer)) and kind is not bool for kind in kinds):
        raise UsageError("a person is neither text nor a whole number", "people are told apart by one of these")
    copy = blake2b(digest_size=KEY_BYTES, key=secret).copy
    texts = values if kinds == {str} else map(str, values)
    found = bytearray()
    for text in texts:  # no function for each of them, since there may be a million
        state = copy()
        try:
            state.update(text.encode())
        except UnicodeEncodeError:  # half a character; Python allows it
            state.update(text.encode("utf-8", "surrogatepass"))
        found += state.digest()
    return np.frombuffer(found, KEY)


def order_of(keys: NDArray[np.bytes_]) -> NDArray[np.intp]:
    """The order of pseudonyms: by their first eight bytes, which is faster, unless some begin alike."""
    begins = np.frombuffer(keys.tobytes(), ">u8")[::2].astype(np.uint64)
    order = np.argsort(begins)
    begins = begins[order]
    return order if bool((begins[1:] > begins[:-1]).all()) else np.argsort(keys, kind="stable")


def encode_charge(
    currency: str,
    names: Sequence[str],
    keys: NDArray[np.bytes_] | None,
    amounts: NDArray[np.int64],
    deltas: NDArray[np.int64] | None,
    classes: Sequence[str] | None,
    named: str | None = None,
) -> SealedCharge:
    """Encodes a charge whose accounts are in order."""
    head: dict[str, Any] = {"schema_version": VERSION, "currency": currency, "accounts": len(amounts)}
    nobody, numbers = np.zeros(0, KEY), np.zeros(0, NUMBER)
    different: tuple[str, ...] = ()
    if keys is None:
        head |= {"kind": CLASS, "names": list(names), "amounts": amounts.tolist()}
        if deltas is not None:
            head["deltas"] = deltas.tolist()
        content = canonical_json(head).encode()
    else:
        if classes is not None:
            different = tuple(sorted(set(classes)))
            where = {name: at for at, name in enumerate(different)}
            numbers = np.array([where[name] for name in classes], NUMBER)
        head |= {"kind": PERSON, "classes": different, "named": named}
        columns = [amounts, *([] if deltas is None else [deltas])]
        parts = [
            canonical_json(head).encode(),
            b"\n",
            keys.tobytes(),
            *(each.astype(AMOUNT).tobytes() for each in columns),
        ]
        content = b"".join([*parts, numbers.tobytes()])
    return SealedCharge(
        currency,
        head["kind"],
        tuple(names),
        nobody if keys is None else keys,
        amounts,
        np.zeros(len(amounts), np.int64) if deltas is None else deltas,
        different,
        numbers,
        named,
        content,
        sha256(content).hexdigest(),
    )


def combine_charges(charges: Sequence[SealedCharge]) -> SealedCharge:
    """The sum of sealed charges of one source: each account pays what it pays in all of them.

    Raises:
        UsageError: they charge different kinds of accounts, or a person is in two classes.
    """
    paying = [one for one in charges if one.accounts] or list(charges[:1])
    first = paying[0]
    if len(paying) == 1:
        return first
    if len({(one.currency, one.kind, one.named, bool(one.class_names)) for one in paying}) > 1:
        rule = "questions that are charged together charge the same kind of accounts"
        raise UsageError("charges to different kinds of accounts", rule)
    listed = [np.array(one.names, dtype=object) if one.kind == CLASS else one.keys for one in paying]
    accounts, places = np.unique(np.concatenate(listed), return_inverse=True)
    parts = np.split(places, np.cumsum([one.accounts for one in paying])[:-1])
    amounts, deltas = np.zeros(len(accounts), np.int64), np.zeros(len(accounts), np.int64)
    classes = np.full(len(accounts), "", dtype=object)
    for one, at in zip(paying, parts, strict=True):
        amounts[at], deltas[at] = add_units(amounts[at], one.amounts), add_units(deltas[at], one.deltas)
        if one.class_names:
            given = np.array(one.class_names, dtype=object)[one.class_numbers]
            if bool(((classes[at] != "") & (classes[at] != given)).any()):
                raise UsageError("a person is in two classes", "questions that are charged together use one group")
            classes[at] = given
    names, keys = (accounts.tolist(), None) if first.kind == CLASS else ((), accounts)
    second = deltas if currency_of(first.currency).has_delta else None
    classes_of = classes.tolist() if first.class_names else None
    return encode_charge(first.currency, names, keys, amounts, second, classes_of, first.named)


def decode_charge(content: Any) -> SealedCharge:
    """A charge from its bytes; ValueError if they are invalid."""
    try:
        return _decode(content)
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise ValueError("not a charge") from None


def _decode(content: bytes) -> SealedCharge:
    text, _, rest = content.partition(b"\n")
    head = json.loads(text)
    if (
        not isinstance(head, dict)
        or head.get("schema_version") != VERSION
        or find_currency(head.get("currency")) is None
    ):
        raise ValueError("not the head of a charge")
    count, currency = _require_whole(head["accounts"]), head["currency"]
    has_delta = currency_of(currency).has_delta
    if head.get("kind") == CLASS:
        deltas = _as_array(head["deltas"]) if has_delta else None
        found = encode_charge(currency, _names(head["names"]), None, _as_array(head["amounts"]), deltas, None)
    elif head.get("kind") == PERSON:
        found = _decode_people(
            currency, count, _names(head["classes"]), _require_id_name(head["named"]), rest, has_delta
        )
    else:
        raise ValueError("no kind of account")
    if (
        found.content != content
        or found.accounts != count
        or bool((found.amounts < 0).any() or (found.deltas < 0).any())
    ):
        raise ValueError("not as a charge is written")
    return found


def _decode_people(
    currency: str, count: int, names: list[str], named: str | None, rest: bytes, has_delta: bool
) -> SealedCharge:
    width = KEY_BYTES + 8 + 8 * has_delta + 4 * bool(names)
    if len(rest) != count * width:
        raise ValueError("a charge of another length")
    at = count * KEY_BYTES
    keys = np.frombuffer(rest, KEY, count)
    amounts = np.frombuffer(rest, AMOUNT, count, at).astype(np.int64)
    at += 8 * count
    deltas = np.frombuffer(rest, AMOUNT, count, at).astype(np.int64) if has_delta else None
    at += 8 * count * has_delta
    numbers = np.frombuffer(rest, NUMBER, count if names else 0, at) if names else np.zeros(0, NUMBER)
    if bool((keys[1:] <= keys[:-1]).any()) or (names and bool((numbers >= len(names)).any())):
        raise ValueError("a charge out of order")
    classes = [names[number] for number in numbers.tolist()] if names else None
    return encode_charge(currency, (), keys, amounts, deltas, classes, named)


def _require_whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError("not a whole number")
    return value


def _require_id_name(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError("no name of what names people")
    return value


def _as_array(values: Any) -> NDArray[np.int64]:
    return np.array([_require_whole(value) for value in values], np.int64)


def _names(values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("not names")
    if sorted(set(values)) != values:
        raise ValueError("names out of order")
    return values


@dataclass(frozen=True, eq=False)
class Charge:
    """The privacy that each account pays for one answer, or for several that are given together.

    `Charge.to_classes` and `Charge.to_people` make one from ε, δ or μ.

    Attributes:
        currency: ``epsilon``, ``epsilon-delta``, or that of another notion.
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
            currency: ``epsilon``, ``epsilon-delta``, or that of another notion.
            amounts: what each class pays, rounded up.
            deltas: the δ of each class, for ``epsilon-delta``.

        Raises:
            UsageError: an amount is not a number, negative, or a δ is missing.
        """
        known = currency_of(currency)
        units = np.array([units_spent(value, known.scale, known.squared) for value in amounts.values()], np.int64)
        second = None
        if deltas is not None:
            if deltas.keys() != amounts.keys():
                raise UsageError("a δ without its ε, or an ε without its δ", "every class has both")
            second = np.array([units_spent(deltas[name], DELTA_SCALE) for name in amounts], np.int64)
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
            currency: ``epsilon``, ``epsilon-delta``, or that of another notion.
            ids: what tells people apart: text or whole numbers, nobody twice.
            amounts: for each of them ε, or μ for the currency ``gaussian``; or one number for all.
            deltas: the δ of each, for ``epsilon-delta``.
            classes: for each of them the name of their class, if caps differ by class.
            named: what the ids are: the column they stand in, or any other word. The first
                charge to people fixes it for a source, even if it is None; a charge with another is
                refused, since the same people would have two budgets.

        Raises:
            UsageError: an amount is not a number, or negative, or the lengths differ.
        """
        known, count = currency_of(currency), len(ids)
        second = None if deltas is None else _units_each(deltas, count, DELTA_SCALE, False)
        return cls(
            currency, PERSON, ids, _units_each(amounts, count, known.scale, known.squared), second, classes, named
        )

    def __post_init__(self) -> None:
        self._freeze()
        known, count = currency_of(self.currency), len(self.names)
        if self.kind not in (CLASS, PERSON):
            raise UsageError(
                f"there is no kind of account {format_value(self.kind)}", f"it must be {CLASS} or {PERSON}"
            )
        if known.has_delta != (self.deltas is not None):
            rule = "δ is counted beside ε" if known.has_delta else "δ is counted by epsilon-delta only"
            raise UsageError(f"a charge of {known.name} {'needs a' if known.has_delta else 'has no'} δ", rule)
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
        """Copies the values, so that a charge stays as it was when it was checked."""
        for name in ("amounts", "deltas"):
            object.__setattr__(self, name, _freeze(getattr(self, name)))
        if self.kind == CLASS:
            object.__setattr__(self, "names", tuple(self.names))
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))

    def _require_amounts(self) -> None:
        for values in (self.amounts, self.deltas):
            fits = values is None or (values.dtype == np.int64 and values.shape == (len(self.names),))
            if not fits or (values is not None and bool((values < 0).any())):
                raise UsageError("a charge whose amounts do not fit", "there is one whole number, 0 or more, for each")

    def seal(self, secret: bytes) -> SealedCharge:
        """The charge as a ledger with this secret stores it: sorted, without those who pay nothing."""
        self._require_amounts()  # arrays can be made writable again
        if self.kind == CLASS:
            listed = sorted((name, at) for at, name in enumerate(self.names) if self._pays(at))
            chosen = np.array([at for _, at in listed], np.intp)
            return encode_charge(self.currency, [name for name, _ in listed], None, *self._amounts_at(chosen), None)
        keys = make_pseudonyms(self.names, secret)
        order = order_of(keys)
        keys = keys[order]
        if bool((keys[1:] == keys[:-1]).any()):
            raise UsageError("a person is charged twice", "each account is charged once")
        pays = self.amounts > 0 if self.deltas is None else (self.amounts > 0) | (self.deltas > 0)
        order, keys = order[pays[order]], keys[pays[order]]
        classes = None if self.classes is None else [self.classes[at] for at in order.tolist()]
        return encode_charge(self.currency, (), keys, *self._amounts_at(order), classes, self.named)

    def _pays(self, at: int) -> bool:
        return bool(self.amounts[at] or (self.deltas is not None and self.deltas[at]))

    def _amounts_at(self, at: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        return self.amounts[at], None if self.deltas is None else self.deltas[at]


def _freeze(values: Any) -> NDArray[np.int64] | None:
    """A read-only copy."""
    if values is None:
        return None
    try:
        copy = np.array(values)
    except ValueError:  # lists of several lengths
        raise UsageError("a charge whose amounts do not fit", "there is one whole number for each") from None
    copy.setflags(write=False)
    return copy


def _units_each(values: Any, count: int, scale: int, squared: bool) -> NDArray[np.int64]:
    """The units that each pays, from one amount for each or one for all."""
    given = np.asarray(values)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != count):
        raise UsageError("a charge whose amounts do not fit", "there is one amount for each person, or one for all")
    if given.dtype.kind == "f":
        units = (units_squared_each if squared else units_spent_each)(given, scale)
    else:
        units = np.array([units_spent(value, scale, squared) for value in given.reshape(-1).tolist()], np.int64)
    return np.broadcast_to(units, (count,)).copy() if given.ndim == 0 else units
