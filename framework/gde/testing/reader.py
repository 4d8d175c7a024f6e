"""The check of what reads files of other people."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from shutil import copyfile, copytree
from tempfile import TemporaryDirectory
from typing import Any

from gde.errors import GdeError
from gde.testing.promises import calling, promise

LONGEST = 1000
"""Characters of a refusal."""
PIECES = (
    *(b"", b"(", b")", b"[", b"]", b"{", b"}", b'"', b",", b":", b"\n", b"\r\n", b"-"),
    *(b"null", b"NaN", b"1e999", b"-1", b"[]", b"{}", b'""', b"\xff", b"\x00", b"#"),
    *(b"(not ", b"\xef\xbb\xbf", b"\xff\xfe", "ü".encode(), b"9" * 5000, b"[" * 2000),
)
"""What damage puts into a file; the last two are long."""
VALUES: tuple[Any, ...] = (
    None,
    3,
    -1,
    2.5,
    10**40,
    True,
    "",
    "x",
    "€3",
    [],
    {},
    [None],
    {"a": None},
)
"""What damage puts into JSON."""


def check_reader(
    read: Callable[[Path], object], given: Path, n: int = 100, seed: int = 0
) -> None:
    """Damage a file, and check that what is left is read, or refused in one line.

    Args:
        read: reads a file or a folder.
        given: one that it can read, which is copied and stays as it is; of a folder
            one file at a time is damaged.
        n: the number of damaged copies.
        seed: of the damage.

    Raises:
        AssertionError: a promise is broken.
    """
    rng = Random(seed)
    files = sorted(path for path in given.rglob("*") if path.is_file()) or [given]
    with TemporaryDirectory(prefix="gde-damaged-") as folder:
        place = Path(folder) / given.name
        (copytree if given.is_dir() else copyfile)(given, place)
        for number in range(n):
            # Readers may remember what they have read at a path.
            place = place.rename(place.with_name(f"{number}-{given.name}"))
            file = rng.choice(files)
            harmed = place / file.relative_to(given)
            harmed.write_bytes(_damaged(file.read_bytes(), rng))
            _check_refusal(read, place, f"{file.name} (damage {number})")
            copyfile(file, harmed)


def _check_refusal(read: Callable[[Path], object], place: Path, file: str) -> None:
    def refusal() -> str:
        try:
            read(place)
        except GdeError as error:
            return str(error)
        return ""

    said = calling(refusal, f"damage to {file} must be read, or raise a GdeError")
    promise(
        "\n" not in said and len(said) <= LONGEST,
        f"damage to {file} must be refused in one line of at most {LONGEST} characters, got {said!r}",
    )


def _damaged(content: bytes, rng: Random) -> bytes:
    """The content with another value in its JSON, or with other bytes."""
    text = content.decode("utf-8", "replace")
    if text.startswith(("[", "{")) and rng.random() < 0.5:
        lines = [json.dumps(_altered(value, rng)) for value in _values(text)]
        return "\n".join(lines).encode()

    harmed = bytearray(text.encode(rng.choice(("utf-8", "utf-8-sig", "utf-16"))))
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        place = rng.randrange(len(harmed) + 1)
        end = place + rng.choice((0, 1, 1, 4, 30))
        # Long pieces are rare: they hide what else is wrong.
        pieces = PIECES if rng.random() < 0.05 else PIECES[:-2]
        harmed[place:end] = rng.choice(pieces)
    return bytes(harmed)


def _values(text: str) -> list[Any]:
    """The values of JSON lines, or the one of JSON."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except json.JSONDecodeError:
        return [json.loads(text)]


def _altered(value: Any, rng: Random) -> Any:
    """The value with something else in one of its places."""
    places = [*value] if isinstance(value, dict) else range(len(value))
    if not places:
        return rng.choice(VALUES)
    chosen = rng.choice([*places])
    inner = value[chosen]
    goes_in = isinstance(inner, dict | list) and rng.random() < 0.8
    changed = value.copy()
    changed[chosen] = _altered(inner, rng) if goes_in else rng.choice(VALUES)
    return changed
