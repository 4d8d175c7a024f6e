"""One SQLite file: a transaction for each tick of the loop, and checked rows."""

import asyncio
import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from gde.data.json import Json
from gde.errors import RunFailed, RunFolderError
from gde.request.secrets import Secrets
from gde.store import checksums, head, rows, schema
from gde.store.connecting import connect
from gde.store.head import Head
from gde.store.received import readable

# Plugins may give NumPy's numbers.
for kind in (np.bool_, np.int32, np.int64, np.float32):
    sqlite3.register_adapter(kind, kind.item)

Statement = tuple[str, tuple[Any, ...]]
"""A query and its values."""
WAL_AT = slice(18, 20)
WAL = b"\2\2"
"""Where a SQLite file says that it has a write-ahead log, and how."""
PAGES_AT = 28
"""Where it says how many pages it has, in 4 bytes."""


def make(path: Path) -> None:
    """Write an empty journal and its head."""
    journal, beside = _empty()
    path.write_bytes(journal)
    path.with_name(head.NAME).write_bytes(beside)


@cache
def _empty() -> tuple[bytes, bytes]:
    """The files of an empty journal.

    All are alike, and SQLite would wait several times for the disk to make one.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(schema.TABLES)
        connection.execute(f"PRAGMA user_version={schema.VERSION}")
        beside = head.create(connection)
        journal = bytearray(connection.serialize())
    journal[WAL_AT] = WAL
    return bytes(journal), beside


def restore_schema(path: Path) -> None:
    """Give a damaged journal the pages with the schema, which are the same in all."""
    content, _ = _empty()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.TABLES)
        ((size,),) = connection.execute("PRAGMA page_size")
        roots = connection.execute("SELECT rootpage FROM sqlite_master").fetchall()
    with path.open("r+b") as file:
        for at in range(0, len(content), size):
            if (at // size + 1,) not in roots:
                file.seek(at)
                file.write(content[at : at + size])

        # The size of the file says how many pages there are, where the first does not.
        file.seek(PAGES_AT)
        file.write(bytes(4))
        file.truncate(max(path.stat().st_size, len(content)))


class Database:
    """The file of a run: transactions, facts about the run as a whole, and queries.

    The journal knows what the tables mean.
    """

    def __init__(self, path: Path, *, write: bool = True, frozen: bool = False) -> None:
        self._connection = connect(path, write=write, frozen=frozen)
        self._resources = ExitStack()
        self._resources.callback(self._connection.close)
        self._copy = ExitStack()
        """What is read in place of the file itself."""
        self._head: Head | None = None
        """None for a reader."""
        self.secrets = Secrets()
        """Texts that are kept out of all that is written."""
        self._pending: list[tuple[list[Statement], asyncio.Future[None]]] = []

    @classmethod
    def create(cls, path: Path) -> Self:
        """An empty journal."""
        make(path)
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
        with ExitStack() as stack:
            frozen = False
            if not write:
                path, frozen = stack.enter_context(readable(path))

            # Read before the journal, which may be written meanwhile.
            published = head.published(path)
            journal = cls._opened(path, published, write, frozen)
            journal._copy = stack.pop_all()
        return journal

    @classmethod
    def _opened(
        cls, path: Path, published: tuple[int, int], write: bool, frozen: bool
    ) -> Self:
        journal: Self | None = None
        try:
            journal = cls(path, write=write, frozen=frozen)
            ((version,),) = journal.query("PRAGMA user_version")
            found = {
                (row["type"], row["name"]): row["sql"]
                for row in journal.query("SELECT * FROM sqlite_master")
            }
            reason = schema.mismatch(version, found)
            if not reason:
                reason = head.lost(journal._connection, published)
        except (sqlite3.Error, RunFolderError, RunFailed) as error:
            if journal is not None:
                journal.close()
            if isinstance(error, RunFailed):
                raise
            if checksums.is_full(error):
                raise _no_room(path, error) from error
            raise RunFolderError(
                f"{path}: {error}; the file is damaged or cannot be read"
            ) from error
        if reason:
            journal.close()
            raise RunFolderError(f"{path}: {reason}")
        if write:
            journal._follow(path)
        return journal

    def _follow(self, path: Path) -> None:
        """Sign what this connection writes, and keep the head."""
        connection = self._connection
        checksums.register(connection)
        self._head = Head(connection, path)
        self._resources.callback(self._head.close)

        # One transaction in memory: by themselves, they would take three times as long.
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("BEGIN")
        for trigger in (*checksums.triggers(), *head.triggers()):
            connection.execute(trigger)
        connection.execute("COMMIT")

    def close(self) -> None:
        self._resources.close()
        self._copy.close()

    async def commit(self, statements: list[Statement]) -> None:
        """Commit together with what other episodes write in this tick of the loop."""
        await self._enqueue(statements)

    def commit_soon(self, statements: list[Statement]) -> None:
        """Commit likewise, without waiting; a failure shows in the next commit."""
        # A failure that nobody waits for must not be reported as forgotten.
        self._enqueue(statements).add_done_callback(
            lambda done: None if done.cancelled() else done.exception()
        )

    def _enqueue(self, statements: list[Statement]) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        if not self._pending:
            loop.call_soon(self._flush)
        committed: asyncio.Future[None] = loop.create_future()
        self._pending.append((statements, committed))
        return committed

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
        if self._head is None:
            raise RunFailed("cannot write the journal: it was opened readonly")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._head.begin()
            for query, values in statements:
                self._connection.execute(query, self.secrets.scrubbed_row(values))
            committed = self._head.advance()
            self._connection.execute("COMMIT")
            self._head.publish(committed)
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

    def noted(self, name: str, kind: type = object) -> Any:
        """A fact kept with `note`, None where there is none.

        Raises:
            RunFolderError: it is damaged, or not of this kind.
        """
        found = self.signed("facts", "SELECT * FROM facts WHERE name = ?", (name,))
        with checksums.decoding("facts"):
            value = json.loads(found[0]["value"]) if found else None
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"{name} is a {type(value).__name__}")
            return value

    def query(self, text: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """The rows that a SELECT gives."""
        try:
            return self._connection.execute(text, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if checksums.is_full(error):
                raise _no_room("run.sqlite", error) from error
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
        found = list(checksums.faults(self._connection))
        return found + self._missing()

    def check_complete(self) -> None:
        """Check that no row is missing or added, without reading all of them.

        Turns and answers are checked with the episodes that they belong to.

        Raises:
            RunFolderError: one is.
        """
        checksums.refuse(self._missing(without=("turns", "calls")))

    def _missing(self, without: Collection[str] = ()) -> list[str]:
        try:
            # All tables as one commit has left them.
            self._connection.execute("BEGIN")
            tables = [*head.missing(self._connection, without)]
            self._connection.execute("COMMIT")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            return [f"run.sqlite: {' '.join(str(error).split())}"]
        return [
            f"run.sqlite: rows of {table} are missing, or others were added"
            for table in tables
        ]

    def size(self) -> int:
        """Bytes of the database."""
        ((pages,),) = self.query("PRAGMA page_count")
        ((page_size,),) = self.query("PRAGMA page_size")
        return int(pages * page_size)


def _no_room(path: Path | str, error: Exception) -> RunFailed:
    return RunFailed(
        f"cannot open {path}: {error}; free disk space, then run the command again"
    )
