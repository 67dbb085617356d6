"""A charge as a ledger keeps it: bytes with a digest, people under pseudonyms; and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.release.ledger.amounts import CURRENCIES

CLASS, PERSON = KINDS = ("class", "person")
EVERYBODY = "everybody"  # the account of what is in no class
VERSION = 1
KEY, KEY_BYTES = "S16", 16  # NumPy compares such keys by all their bytes
AMOUNT, NUMBER = "<i8", "<u4"


_encoded = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


class Sealed(NamedTuple):
    """A charge without anybody's name.

    Attributes:
        currency: the name of the currency.
        kind: ``class`` or ``person``.
        names: the classes that pay, in order; empty for people.
        keys: the pseudonyms of the people who pay, in order; empty for classes.
        amounts: what each pays.
        deltas: the δ of each; zeros if the currency has none.
        class_names: the different classes of the people, in order; empty where none were given.
        class_numbers: for each person the position of their class in it.
        named: what the people's ids are, such as a column; None where nobody said.
        content: all this as bytes.
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
        """How many accounts pay."""
        return len(self.amounts)


def canonical(document: dict[str, Any]) -> str:
    """JSON in the one form that is hashed: ASCII, keys in order, no spaces."""
    return _encoded(document)


def is_name(value: Any) -> bool:
    """Whether a database can keep it as the name of a class."""
    return isinstance(value, str) and "\0" not in value and value.isprintable()


def pseudonyms(ids: Any, secret: bytes) -> NDArray[np.bytes_]:
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


def seal(
    currency: str,
    names: Sequence[str],
    keys: NDArray[np.bytes_] | None,
    amounts: NDArray[np.int64],
    deltas: NDArray[np.int64] | None,
    classes: Sequence[str] | None,
    named: str | None = None,
) -> Sealed:
    """Puts a charge, already in order, into bytes."""
    head: dict[str, Any] = {"schema_version": VERSION, "currency": currency, "accounts": len(amounts)}
    nobody, numbers = np.zeros(0, KEY), np.zeros(0, NUMBER)
    different: tuple[str, ...] = ()
    if keys is None:
        head |= {"kind": CLASS, "names": list(names), "amounts": amounts.tolist()}
        if deltas is not None:
            head["deltas"] = deltas.tolist()
        content = canonical(head).encode()
    else:
        if classes is not None:
            different = tuple(sorted(set(classes)))
            where = {name: at for at, name in enumerate(different)}
            numbers = np.array([where[name] for name in classes], NUMBER)
        head |= {"kind": PERSON, "classes": different, "named": named}
        columns = [amounts, *([] if deltas is None else [deltas])]
        parts = [canonical(head).encode(), b"\n", keys.tobytes(), *(each.astype(AMOUNT).tobytes() for each in columns)]
        content = b"".join([*parts, numbers.tobytes()])
    return Sealed(
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


def opened(content: Any) -> Sealed:
    """A charge from its bytes; ValueError if they are not those of a charge."""
    try:
        return _opened(content)
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise ValueError("not a charge") from None


def _opened(content: bytes) -> Sealed:
    text, _, rest = content.partition(b"\n")
    head = json.loads(text)
    if not isinstance(head, dict) or head.get("schema_version") != VERSION or head.get("currency") not in CURRENCIES:
        raise ValueError("not the head of a charge")
    count, currency = _whole(head["accounts"]), head["currency"]
    has_delta = CURRENCIES[currency].has_delta
    if head.get("kind") == CLASS:
        deltas = _array(head["deltas"]) if has_delta else None
        found = seal(currency, _names(head["names"]), None, _array(head["amounts"]), deltas, None)
    elif head.get("kind") == PERSON:
        found = _people(currency, count, _names(head["classes"]), _naming(head["named"]), rest, has_delta)
    else:
        raise ValueError("no kind of account")
    if (
        found.content != content
        or found.accounts != count
        or bool((found.amounts < 0).any() or (found.deltas < 0).any())
    ):
        raise ValueError("not as a charge is written")
    return found


def _people(currency: str, count: int, names: list[str], named: str | None, rest: bytes, has_delta: bool) -> Sealed:
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
    return seal(currency, (), keys, amounts, deltas, classes, named)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError("not a whole number")
    return value


def _naming(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError("no name of what names people")
    return value


def _array(values: Any) -> NDArray[np.int64]:
    return np.array([_whole(value) for value in values], np.int64)


def _names(values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("not names")
    if sorted(set(values)) != values:
        raise ValueError("names out of order")
    return values
