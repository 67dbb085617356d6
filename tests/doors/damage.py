"""Ways to break a file: random bytes, the lengths and counts of its format, or single values of a text file."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

from tests.cli.fuzz import VALUES, replace_value

NUMBERS = [0, 1, -1, 2, 127, 128, 255, 256, 2**15, 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63)]
TEXTS = [
    "",
    "yes",
    "-1",
    "1e400",
    "inf",
    "nan",
    '"',
    '""',
    "\0",
    "\ufeff",
    "é" * 200,
    "9" * 5000,
    "=1+1",
    "\r",
    ",",
    "0x1",
]
COMPACT = (
    b"\x00\x01\x02\x0c\x15\x16\x18\x19\x1c\x2c\x7f\x80\xfe\xff"  # types, lengths and counts, as Parquet writes them
)


def flip_bits(data: bytes, rng: random.Random) -> bytes:
    """Changes some bits."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 8, 64])):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def overwrite_bytes(data: bytes, rng: random.Random) -> bytes:
    """Changes some bytes."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        found[rng.randrange(len(found))] = rng.choice([0, 0xFF, 0x7F, 0x80, rng.randrange(256)])
    return bytes(found)


def cut_out(data: bytes, rng: random.Random) -> bytes:
    """Removes the end, the beginning or a part in between."""
    one, other = sorted((rng.randrange(len(data)), rng.randrange(len(data) + 1)))
    return rng.choice([data[:one], data[other:], data[:one] + data[other:]])


def move_blocks(data: bytes, rng: random.Random) -> bytes:
    """Exchanges two blocks, repeats one, or fills one with other bytes."""
    size = rng.choice([1, 4, 8, 16, 64, 512, 4096])
    one, other = (rng.randrange(len(data)) // size * size for _ in range(2))
    low, high = min(one, other), max(one, other)
    if low + size > high or rng.random() < 0.5:
        filling = rng.choice([bytes(size), b"\xff" * size, rng.randbytes(size), data[high : high + size] * 2])
        return data[:low] + filling + data[low + size :]
    return (
        data[:low] + data[high : high + size] + data[low + size : high] + data[low : low + size] + data[high + size :]
    )


def change_counts(data: bytes, rng: random.Random) -> bytes:
    """Changes a length, an offset or a count: an integer of two, four or eight bytes."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        size = rng.choice([2, 4, 8])
        if len(found) < size:
            break
        at = rng.randrange(len(found) - size + 1)
        at = at // size * size if rng.random() < 0.8 else at
        order = rng.choice(["little", "big"])
        usual = int.from_bytes(found[at : at + size], "little")
        number = rng.choice(
            [*NUMBERS, usual + rng.choice([-8, -1, 1, 8, 64]), usual * 2, len(data), rng.randrange(4096)]
        )
        found[at : at + size] = (number % (1 << (8 * size))).to_bytes(size, "little" if order == "little" else "big")
    return bytes(found)


def change_metadata(data: bytes, rng: random.Random) -> bytes:
    """Changes the footer of a Parquet or Arrow file, or the headers of its pages."""
    if data[-4:] == b"PAR1" and len(data) > 12:
        begin, end = max(4, len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]), len(data) - 8
        if rng.random() < 0.3:
            begin, end = 4, min(end, 44)  # the header of the first page
    elif data[-6:] == b"ARROW1" and len(data) > 24:
        begin, end = max(8, len(data) - 10 - struct.unpack("<i", data[-10:-6])[0]), len(data) - 6
        if rng.random() < 0.5:
            begin, end = 8, min(end, 1200)
    else:
        begin, end = 0, min(len(data), 100)
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(begin, max(end, begin + 1))
        if rng.random() < 0.7:
            found[at] = rng.choice(COMPACT)
        elif rng.random() < 0.5:
            found[at:at] = rng.choice([b"\xff" * 9 + b"\x01", b"\x00", rng.randbytes(2)])
        else:
            del found[at : at + rng.choice([1, 2, 4])]
    return bytes(found)


def change_field(data: bytes, rng: random.Random) -> bytes:
    """Changes a field of a CSV file or a value of a JSON document."""
    try:
        text = data.decode()
        if text.startswith("{"):
            return json.dumps(replace_value(json.loads(text), rng)).encode()
    except ValueError:
        return flip_bits(data, rng)
    fields = text.split(",")
    for _ in range(rng.choice([1, 1, 3])):
        at = rng.randrange(len(fields))
        fields[at] = rng.choice([*TEXTS, *map(str, VALUES), fields[rng.randrange(len(fields))]])
    return ",".join(fields).encode()


TEXT_DAMAGE = (flip_bits, overwrite_bytes, cut_out, move_blocks, change_field, change_field, change_field)
BINARY_DAMAGE = (
    flip_bits,
    overwrite_bytes,
    cut_out,
    move_blocks,
    change_counts,
    change_counts,
    change_metadata,
    change_metadata,
)


def damage_bytes(data: bytes, name: str, rng: random.Random) -> bytes:
    """Breaks the content of a file in one or two ways."""
    ways = TEXT_DAMAGE if Path(name).suffix in (".json", ".csv", ".toml") else BINARY_DAMAGE
    found = data
    for _ in range(rng.choice([1, 1, 1, 1, 2])):
        found = rng.choice(ways)(found, rng) if found else rng.randbytes(rng.randrange(64))
    return found
