"""One SQLite file: a transaction for each tick of the loop, and checked rows."""

import asyncio
import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np

from gde.data.json import Json
from gde.errors import RunFailed, RunFolderError
from gde.request.secrets import Secrets
from gde.store import checksums, rows, schema

# Plugins may give NumPy's numbers.
for kind in (np.bool_, np.int32, np.int64, np.float32):
    sqlite3.register_adapter(kind, kind.item)

Statement = tuple[str, tuple[Any, ...]]
"""A query and its values."""


def connect(path: Path, *, write: bool = True) -> sqlite3.Connection:
    """A connection that survives the death of its process with everything committed.

    A reader changes nothing, not even beside the file, and can read from read-only
    media. The schema of the file cannot call functions, since the file may come from
    anyone.
    """
    if write:
        connection = sqlite3.connect(path, timeout=120, isolation_level=None)
    else:
        # Without the right to write there can be no writer either: the file is read as
        # it lies there.
        frozen = "" if os.access(path.parent, os.W_OK) else "&immutable=1"
        uri = f"file:{quote(str(path.resolve()))}?mode=ro{frozen}"
        connection = sqlite3.connect(uri, uri=True, timeout=120, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA trusted_schema=OFF")
    if write:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
    return connection


class Database:
    """The file of a run: transactions, facts about the run as a whole, and queries.

    The journal knows what the tables mean.
    """

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self._connection = connect(path, write=write)
        self.secrets = Secrets()
        """Texts that are kept out of all that is written."""
        self._pending: list[tuple[list[Statement], asyncio.Future[None]]] = []

    @classmethod
    def create(cls, path: Path) -> Self:
        """An empty journal."""
        with closing(connect(path)) as connection:
            connection.executescript(schema.TABLES)
            connection.execute(f"PRAGMA user_version={schema.VERSION}")
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, write: bool = True) -> Self:
        """The journal of an earlier run.

        Raises:
            RunFolderError: no journal, not SQLite, another schema version, or tables
            that gde does not make.
        """
        if not path.is_file() or path.is_symlink():
            raise RunFolderError(
                f"{path.parent} is no run folder: wanted a file run.sqlite in it"
            )
        journal: Self | None = None
        try:
            journal = cls(path, write=write)
            ((version,),) = journal.query("PRAGMA user_version")
            found = {
                (row["type"], row["name"]): row["sql"]
                for row in journal.query("SELECT * FROM sqlite_master")
            }
        except (sqlite3.Error, RunFolderError) as error:
            if journal is not None:
                journal.close()
            raise RunFolderError(
                f"{path}: {error}; the file is damaged or cannot be read"
            ) from error
        reason = schema.mismatch(version, found)
        if reason:
            journal.close()
            raise RunFolderError(f"{path}: {reason}")
        if write:
            checksums.sign(journal._connection)
        return journal

    def close(self) -> None:
        self._connection.close()

    async def commit(self, statements: list[Statement]) -> None:
        """Commit together with what other episodes write in this tick of the loop."""
        loop = asyncio.get_running_loop()
        if not self._pending:
            loop.call_soon(self._flush)
        committed: asyncio.Future[None] = loop.create_future()
        self._pending.append((statements, committed))
        await committed

    def _flush(self) -> None:
        waiting = self._pending
        self._pending = []
        together: list[Statement] = []
        for statements, _ in waiting:
            together += statements
        try:
            self.write(together)
        except Exception:
            # One writer's mistake must not cost the others: each tries again alone.
            for statements, committed in waiting:
                self._write_alone(statements, committed)
            return
        for _, committed in waiting:
            if not committed.done():
                committed.set_result(None)

    def _write_alone(
        self, statements: list[Statement], committed: asyncio.Future[None]
    ) -> None:
        failure = None
        try:
            self.write(statements)
        except Exception as error:
            failure = error

        # A cancelled writer waits no more.
        if committed.done():
            return
        if failure:
            committed.set_exception(failure)
        else:
            committed.set_result(None)

    def write(self, statements: Sequence[Statement]) -> None:
        """Commit some statements as one transaction.

        Raises:
            RunFailed: the database cannot be written to, e.g. because the disk is full;
            nothing is half-written.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for query, values in statements:
                self._connection.execute(query, self.secrets.scrubbed_row(values))
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if not isinstance(error, sqlite3.OperationalError):
                raise
            raise RunFailed(
                f"cannot write the journal: {error}; free disk space, then resume with `gde resume`"
            ) from error

    def note(self, name: str, value: Json) -> None:
        """Keep a fact about the run as a whole."""
        self.write(
            [
                (
                    "INSERT OR REPLACE INTO facts VALUES (?, ?, 0)",
                    (name, rows.to_json(value)),
                )
            ]
        )

    def add_note(self, name: str, entries: Mapping[str, Json]) -> None:
        """Add entries to a fact that is a mapping, also while other processes do."""
        query = """INSERT INTO facts VALUES (?, ?, 0)
            ON CONFLICT (name) DO UPDATE SET value = json_patch(value, excluded.value)"""
        self.write([(query, (name, rows.to_json(entries)))])

    def noted(self, name: str) -> Any:
        """A fact kept with `note`, None where there is none."""
        found = self.signed("facts", "SELECT * FROM facts WHERE name = ?", (name,))
        return json.loads(found[0]["value"]) if found else None

    def query(self, text: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """The rows that a SELECT gives."""
        try:
            return self._connection.execute(text, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if not checksums.is_damage(error):
                raise
            raise RunFolderError(
                f"run.sqlite: {' '.join(str(error).split())}; {checksums.ADVICE}"
            ) from error

    def signed(
        self, table: str, text: str, values: Sequence[Any] = ()
    ) -> list[sqlite3.Row]:
        """The whole rows of one table that a SELECT gives, each as it was written.

        Raises:
            RunFolderError: one is not.
        """
        return [checksums.check(table, row) for row in self.query(text, values)]

    def faults(self) -> list[str]:
        """All that is not as it was written."""
        return list(checksums.faults(self._connection))

    def size(self) -> int:
        """Bytes of the database."""
        ((pages,),) = self.query("PRAGMA page_count")
        ((page_size,),) = self.query("PRAGMA page_size")
        return int(pages * page_size)
