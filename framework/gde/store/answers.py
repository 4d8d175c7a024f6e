"""A SQLite file of model answers that runs share.

The key of an answer covers all that can change it.
"""

import json
import sqlite3
from binascii import crc32
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Self

from gde.data.completion import Completion
from gde.errors import GdeError
from gde.store.rows import to_json

APPLICATION = 0x67646561
"""Positions the file as a cache of answers, so that no other database is taken for
one.
"""
TABLE = """CREATE TABLE answers (
    key TEXT PRIMARY KEY,   -- SHA-256 of model, configuration, versions and everything that was asked
    answer TEXT NOT NULL,   -- JSON
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID"""
TUPLES = ("prompt_tokens", "tokens", "logprobs")
GIVEN = (
    "text",
    "reasoning",
    "finish",
    "n_prompt",
    "n_completion",
    "answered_by",
    "positions",
    "effort",
    "likeliest",
    "n_prompt_cached",
    "served",
    *TUPLES,
)
"""Fields of a completion that the model gave; the others say in which run and for whom
it was asked.
"""


class Answers:
    """The file, which several runs and processes may read and write at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, or create it.

        Raises:
            GdeError: it is another kind of file, or cannot be written.
        """
        wanted = f"run.cache={path}: wanted a file of answers that gde made, or a place to make one"
        try:
            connection = sqlite3.connect(path, timeout=120, isolation_level=None)
        except sqlite3.Error as error:
            raise GdeError(f"{wanted}; {error}") from error

        try:
            connection.execute("PRAGMA trusted_schema=OFF")
            ours = _create_or_recognise(connection)
            if ours:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
        except sqlite3.Error as error:
            connection.close()
            raise GdeError(f"{wanted}; {error}") from error
        if not ours:
            connection.close()
            raise GdeError(f"{wanted}, got another database")
        return cls(connection)

    def get(self, key: str) -> Completion | None:
        """The answer under a key; None if it is absent or damaged."""
        with closing(
            self._connection.execute(
                "SELECT answer, checksum FROM answers WHERE key = ?", (key,)
            )
        ) as found:
            row = found.fetchone()
        if row is None or checksum((key, row[0])) != row[1]:
            return None
        fields = json.loads(row[0])
        for name in TUPLES:
            # Files of earlier versions lack what was added later.
            fields[name] = tuple(fields.get(name, ()))
        fields["positions"] = {
            name: tuple(places) for name, places in fields["positions"].items()
        }
        return Completion(**fields)

    def put(self, key: str, answer: Completion) -> None:
        """Keep an answer, in the place of a damaged one as well."""
        fields = asdict(answer)
        text = to_json({name: fields[name] for name in GIVEN})
        row = (key, text, checksum((key, text)))
        self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def checksum(values: tuple[str, str]) -> int:
    """CRC-32 of a key and its answer."""
    return crc32(repr(values).encode("utf-8", "surrogatepass"))


def _create_or_recognise(connection: sqlite3.Connection) -> bool:
    """Make an empty file a file of answers, and say whether it is one.

    Any other file is left as it was.
    """
    # One transaction, so that of two processes that find the file empty only one
    # creates the table.
    connection.execute("BEGIN IMMEDIATE")
    found = connection.execute("SELECT sql FROM sqlite_master").fetchall()
    if not found:
        connection.execute(TABLE)
        connection.execute(f"PRAGMA application_id={APPLICATION}")
    ((application,),) = connection.execute("PRAGMA application_id")
    connection.execute("COMMIT")
    return application == APPLICATION and found in ([], [(TABLE,)])
