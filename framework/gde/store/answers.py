"""Answers of models in earlier runs, in one SQLite file that runs share, by all that can change an answer."""

import json
import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Self

from gde.data.completion import Completion
from gde.errors import GdeError
from gde.store.checksums import checksum
from gde.store.rows import to_json

APPLICATION = 0x67646561
"""Marks the file as one of answers, so that no other database is taken for one."""
TABLE = """CREATE TABLE answers (
    key TEXT PRIMARY KEY,   -- SHA-256 of model, configuration, versions and everything that was asked
    answer TEXT NOT NULL,   -- JSON
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID"""
TOLD = ("text", "reasoning", "finish", "n_prompt", "n_completion", "answered_by", "marks", "prompt_tokens", "tokens")
"""Fields of a completion that come from the model; the others are of the run that asked."""


class Answers:
    """A file of answers, which several runs and processes may read and write at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """The file, made where there is none.

        Raises:
            GdeError: it is something else, or cannot be written.
        """
        wanted = f"run.cache={path}: wanted a file of answers that gde made, or a place to make one"
        try:
            connection = sqlite3.connect(path, timeout=120, isolation_level=None)
        except sqlite3.Error as error:
            raise GdeError(f"{wanted}; {error}") from error
        try:
            connection.execute("PRAGMA trusted_schema=OFF")
            if not _made(connection):
                raise GdeError(f"{wanted}, got another database")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        except (sqlite3.Error, GdeError) as error:
            connection.close()
            if isinstance(error, GdeError):
                raise
            raise GdeError(f"{wanted}; {error}") from error
        return cls(connection)

    def get(self, key: str) -> Completion | None:
        """The answer under a key; None where there is none, or not as it was written."""
        with closing(self._connection.execute("SELECT answer, checksum FROM answers WHERE key = ?", (key,))) as found:
            row = found.fetchone()
        if row is None or checksum((key, row[0])) != row[1]:
            return None
        answer = json.loads(row[0])

        # JSON has lists for tuples.
        answer["marks"] = {name: tuple(places) for name, places in answer["marks"].items()}
        for name in ("prompt_tokens", "tokens"):
            answer[name] = tuple(answer[name])
        return Completion(**answer)

    def put(self, key: str, answer: Completion) -> None:
        """Keep an answer; a damaged one is replaced."""
        told = asdict(answer)
        text = to_json({name: told[name] for name in TOLD})
        values = (key, text, checksum((key, text)))
        self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", values)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _made(connection: sqlite3.Connection) -> bool:
    """Make an empty file one of answers, and say whether the file is one; any other is left as it was."""
    connection.execute("BEGIN IMMEDIATE")
    found = connection.execute("SELECT sql FROM sqlite_master").fetchall()
    if not found:
        connection.execute(TABLE)
        connection.execute(f"PRAGMA application_id={APPLICATION}")
    ((application,),) = connection.execute("PRAGMA application_id")
    connection.execute("COMMIT")
    return application == APPLICATION and found in ([], [(TABLE,)])
