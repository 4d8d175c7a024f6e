"""Files of other people: one reader of text, one form of complaint, one account."""

import json
from codecs import (
    BOM_UTF8,
    BOM_UTF16_BE,
    BOM_UTF16_LE,
    BOM_UTF32_BE,
    BOM_UTF32_LE,
)
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from gde.errors import ConfigError
from gde.validating import expected

T = TypeVar("T")
MARKS = {
    # The mark of UTF-16 begins that of UTF-32, which therefore comes first.
    BOM_UTF32_LE: "utf-32",
    BOM_UTF32_BE: "utf-32",
    BOM_UTF16_LE: "utf-16",
    BOM_UTF16_BE: "utf-16",
    BOM_UTF8: "utf-8-sig",
}
"""The encodings that a file names by its first bytes."""
LONGEST, LONGEST_VALUE = 400, 80
"""Characters of a complaint, and of a value in one."""


@dataclass(frozen=True)
class ForeignFile:
    """A file that the value of a setting names."""

    setting: str
    """E.g. env.grids."""
    path: Path

    def text(self, errors: str = "strict") -> str:
        r"""The text, whose lines end in \n.

        It is in UTF-8 unless its byte order mark says UTF-16 or UTF-32.

        Args:
            errors: as for `bytes.decode`.

        Raises:
            ConfigError: the file cannot be read, or is no such text.
        """
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise self.refused(f"wanted a file, got {error.strerror}") from error
        marked = (name for mark, name in MARKS.items() if content.startswith(mark))
        encoding = next(marked, "utf-8")
        try:
            text = content.decode(encoding, errors)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            got = f"byte {content[error.start]:#04x}"
            raise self.refused(
                f"wanted text in UTF-8, got {got}: save it as UTF-8", line
            ) from error
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def json(self, text: str | None = None, line: int | None = None) -> Any:
        """The value of a text in JSON, by default of the whole file.

        Raises:
            ConfigError: it is not in JSON.
        """
        try:
            return json.loads(self.text() if text is None else text)
        except json.JSONDecodeError as error:
            at = line or error.lineno
            raise self.refused(
                f"wanted JSON, got {error.msg}, column {error.colno}", at
            ) from error
        # Too many digits, or too many brackets.
        except (ValueError, RecursionError) as error:
            raise self.refused(f"wanted JSON, got {error}", line) from error

    def lines(self, text: str | None = None) -> Iterator[tuple[int, Any]]:
        """Each line of a text that is not blank as a value in JSON, with its number; by
        default of the whole file.

        Raises:
            ConfigError: as `text` and `json`.
        """
        # JSON may hold the other characters at which `splitlines` ends a line.
        text = self.text() if text is None else text
        for n, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield n, self.json(line, n)

    def valid(
        self, adapter: TypeAdapter[T], value: object, at: int | str | None = None
    ) -> T:
        """A value that a schema has checked.

        Raises:
            ConfigError: it is another; `at` is its line or name.
        """
        try:
            # JSON has no tuples: only its reader takes lists for them.
            return adapter.validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            raise self.refused(fault(error), at) from error

    def refused(self, problem: str, at: int | str | None = None) -> ConfigError:
        """The complaint about a line, a record or the whole file.

        Args:
            problem: the expected and the actual value.
            at: a line's number, or a record's name.
        """
        place = f":{at}" if isinstance(at, int) else f": {at}" if at else ""
        said = shorten(problem, LONGEST)
        return ConfigError(f"{self.setting}: {self.path}{place}: {said}")


def fault(error: ValidationError) -> str:
    """The first fault that pydantic has found: the field, the expected and the actual
    value.
    """
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    got = shown(first["input"])
    if first["type"] == "missing":
        return f"{field}: wanted a value, got none"
    return f"{field or 'the record'}: wanted {expected(first)}, got {got}"


def shown(value: object) -> str:
    """A value in one line of a complaint."""
    return shorten(repr(value)[:1000], LONGEST_VALUE)


@dataclass(frozen=True)
class Account:
    """How many records were read, and why others were left out."""

    read: int
    left_out: Sequence[tuple[str, str]] = ()
    """The reason for each record, e.g. "without a game file", and its name."""

    def told(self, what: str) -> Iterable[str]:
        """A sentence, e.g. "trials: read 137, left out 118: 96 without a game file, 22
        unsolvable", each reason with the first record's name; none where nothing was left out.
        """
        if self.left_out:
            # Of each reason the first name that it has.
            first = dict(reversed(self.left_out))
            counts = Counter(reason for reason, _ in self.left_out).most_common()
            reasons = ", ".join(f"{n} {why} ({first[why]})" for why, n in counts)
            n_left_out = len(self.left_out)
            yield f"{what}: read {self.read}, left out {n_left_out}: {reasons}"
