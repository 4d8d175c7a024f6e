"""Damage to real files: of their bytes, of their texts, and of the values in them."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

DEEP = 100_000
"""Levels of a text that is nested without end."""
TEXTS = (
    "",
    "0/0/0",
    "../../treasure",
    "/dev/zero",
    "/dev/stdin",
    "a\nb\x1b[31m\u202e",
    "\ud800",
    "nan",
    "ray://127.0.0.1:1",
    "openai:m@http://127.0.0.1:1/v1",
    "hf:/dev/zero",
    "x" * 300,
    "x" * 2**20,
)
NUMBERS = (
    -1,
    0,
    1,
    2**31,
    2**62,
    2**63 - 1,
    -(2**63),
    10**400,
    0.5,
    1e308,
    float("nan"),
)
VALUES: tuple[Any, ...] = (
    *TEXTS,
    *NUMBERS,
    None,
    True,
    [],
    {},
    [[]],
    {"": None},
    [1e400],
)
WORDS = (
    b"[" * DEEP,
    b'{"a":' * DEEP,
    b"a = " + b"[" * DEEP,
    b"1" + b"0" * 5000,
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b"\xff\xfe",
    b"\0" * 8,
    b"\xff" * 8,
    b"\\ud800",
    b'"""',
)


def damaged(data: bytes, other: bytes, rng: Random) -> bytes:
    """Some bytes with one to four faults; `other` gives foreign pieces."""
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(FAULTS)(data, other, rng)
    return data


def _flip(data: bytes, _: bytes, rng: Random) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, _: bytes, rng: Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _splice(data: bytes, other: bytes, rng: Random) -> bytes:
    begin, end = _range(data, rng)
    first, last = _range(other, rng)
    return data[:begin] + other[first:last] + data[end:]


def _lose(data: bytes, _: bytes, rng: Random) -> bytes:
    begin, end = _range(data, rng)
    return data[:begin] + data[end:]


def _repeat(data: bytes, _: bytes, rng: Random) -> bytes:
    begin, end = _range(data, rng)
    return data[:end] + data[begin:end] * rng.choice((1, 2, 50)) + data[end:]


def _overwrite(data: bytes, _: bytes, rng: Random) -> bytes:
    word = rng.choice(WORDS)[:64]
    at = rng.randint(0, len(data))
    return data[:at] + word + data[at + len(word) :]


def _insert(data: bytes, _: bytes, rng: Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(WORDS) + data[at:]


FAULTS: Sequence[Callable[[bytes, bytes, Random], bytes]] = (
    _flip,
    _flip,
    _cut,
    _splice,
    _lose,
    _repeat,
    _overwrite,
    _insert,
)


def _range(data: bytes, rng: Random) -> tuple[int, int]:
    begin = rng.randint(0, len(data))
    return begin, min(len(data), begin + rng.choice((1, 4, 16, 256, 4096)))


def altered(value: Any, rng: Random) -> Any:
    """A value of JSON or TOML with one to three of its values replaced."""
    for _ in range(rng.randint(1, 3)):
        value = _altered(value, rng)
    return value


def _altered(value: Any, rng: Random) -> Any:
    """Replace, lose or add something at a random place."""
    is_here = not isinstance(value, dict | list) or not value or rng.random() < 0.1
    if is_here:
        return rng.choice(VALUES)
    if isinstance(value, list):
        place = rng.randrange(len(value))
        changed = list(value)
        fate = rng.random()
        if fate < 0.1:
            del changed[place]
        elif fate < 0.2:
            changed.append(changed[place])
        else:
            changed[place] = _altered(value[place], rng)
        return changed
    key = rng.choice([*value])
    table = dict(value)
    fate = rng.random()
    if fate < 0.1:
        del table[key]
    elif fate < 0.2:
        table[rng.choice(TEXTS[:-1])] = table.pop(key)
    else:
        table[key] = _altered(value[key], rng)
    return table


def altered_cell(cell: Any, rng: Random) -> Any:
    """A value for a place in a database, which often holds JSON."""
    if rng.random() < 0.5 and isinstance(cell, str):
        try:
            return json.dumps(altered(json.loads(cell), rng))
        except ValueError:
            pass
    if rng.random() < 0.1:
        return "[" * DEEP
    if isinstance(cell, bytes) or rng.random() < 0.05:
        return damaged(cell if isinstance(cell, bytes) else b"", b"", rng)
    alike = [each for each in VALUES if isinstance(each, type(cell))]
    found = rng.choice(alike if alike and rng.random() < 0.8 else VALUES)
    return json.dumps(found) if isinstance(found, dict | list) else found
