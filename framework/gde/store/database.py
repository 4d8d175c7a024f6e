"""One SQLite file: a transaction for each tick of the loop, and checked rows."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np

from gde.data.json import Json
from gde.errors import RunFailed, RunFolderError
from gde.request.secrets import Secrets
from gde.store import digests, rows, schema
from gde.store.damage import ADVICE, decoding, is_damage, is_full
from gde.store.received import readable

# Plugins may give NumPy's numbers.
for kind in (np.bool_, np.int32, np.int64, np.float32):
    sqlite3.register_adapter(kind, kind.item)

Statement = tuple[str, tuple[Any, ...]]
"""A query and its values."""
LONGEST = 2**28
"""The most bytes of a text or blob."""
WAL_AT = slice(18, 20)
WAL = b"\2\2"
"""Where a SQLite file says that it has a write-ahead log, and how."""


def make(path: Path) -> None:
    """Write an empty journal."""
    path.write_bytes(_empty())


@cache
def _empty() -> bytes:
    """The file of an empty journal.

    All are alike, and SQLite would wait several times for the disk to make one.
    """
    with closing(schema.empty()) as connection:
        connection.execute(f"PRAGMA user_version={schema.VERSION}")
        journal = bytearray(connection.serialize())
    journal[WAL_AT] = WAL
    return bytes(journal)


def connect(
    path: Path, *, write: bool = True, frozen: bool = False
) -> sqlite3.Connection:
    """A connection that survives the death of its process with everything committed.

    A reader changes nothing in the file. The schema of the file cannot call functions,
    since the file may come from anyone.

    Args:
        path: of the file.
        write: whether the connection may write.
        frozen: whether nothing changes the file: then nothing is written beside it
            either, and nothing but the file is read.
    """
    if write:
        connection = sqlite3.connect(path, timeout=120, isolation_level=None)
    else:
        immutable = "&immutable=1" if frozen else ""
        uri = f"file:{quote(str(path.resolve()))}?mode=ro{immutable}"
        connection = sqlite3.connect(uri, uri=True, timeout=120, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        if write:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
    except UnicodeDecodeError as error:  # SQLite quotes the damaged text
        connection.close()
        raise sqlite3.DatabaseError("malformed database schema") from error
    except BaseException:
        connection.close()
        raise
    return connection


class Database:
    """The file of a run: transactions, facts about the run as a whole, and queries.

    The journal knows what the tables mean.
    """

    def __init__(self, path: Path, *, write: bool = True, frozen: bool = False) -> None:
        self._connection = connect(path, write=write, frozen=frozen)
        digests.register(self._connection)
        self._copy = ExitStack()
        """What is read in place of the file itself."""
        self._writes = write
        self.folder = path.parent
        """Of the run."""
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
        folder = path.parent
        with ExitStack() as stack:
            frozen = False
            if not write:
                path, frozen = stack.enter_context(readable(path))
            journal = cls._opened(path, write, frozen)
            journal.folder = folder
            journal._copy = stack.pop_all()
        return journal

    @classmethod
    def _opened(cls, path: Path, write: bool, frozen: bool) -> Self:
        journal: Self | None = None
        try:
            journal = cls(path, write=write, frozen=frozen)
            ((version,),) = journal.query("PRAGMA user_version")
            found = {
                (row["type"], row["name"]): row["sql"]
                for row in journal.query("SELECT * FROM sqlite_master")
            }
            reason = schema.mismatch(version, found)
        except (sqlite3.Error, RunFolderError, RunFailed) as error:
            if journal is not None:
                journal.close()
            if isinstance(error, RunFailed):
                raise
            if is_full(error):
                raise _no_room(path, error) from error
            raise RunFolderError(
                f"{path}: {error}; the file is damaged or cannot be read"
            ) from error
        if reason:
            journal.close()
            raise RunFolderError(f"{path}: {reason}")
        return journal

    def close(self) -> None:
        self._connection.close()
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
        if not self._writes:
            raise RunFailed("cannot write the journal: it was opened readonly")
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
        query = "INSERT OR REPLACE INTO facts VALUES (?, ?)"
        self.write([(query, (name, rows.to_json(value)))])

    def add_note(self, name: str, entries: Mapping[str, Json]) -> None:
        """Add entries to a fact that is a mapping, also while other processes do."""
        query = """INSERT INTO facts VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = json_patch(value, excluded.value)"""
        self.write([(query, (name, rows.to_json(entries)))])

    def noted(self, name: str, kind: type = object) -> Any:
        """A fact kept with `note`, None where there is none.

        Raises:
            RunFolderError: it is damaged, or not of this kind.
        """
        found = self.query("SELECT value FROM facts WHERE name = ?", (name,))
        with decoding("facts"):
            value = json.loads(found[0]["value"]) if found else None
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"{name} is a {type(value).__name__}")
            return value

    def query(self, text: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """The rows that a SELECT gives."""
        return list(self.each(text, values))

    def column(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        """The first column of the rows that a SELECT gives."""
        return [row[0] for row in self.each(text, values)]

    def each(self, text: str, values: Sequence[Any] = ()) -> Iterator[sqlite3.Row]:
        """The rows that a SELECT gives, one at a time."""
        try:
            yield from self._connection.execute(text, values)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if is_full(error):
                raise _no_room("run.sqlite", error) from error
            if not is_damage(error):
                raise
            raise RunFolderError(
                f"run.sqlite: {' '.join(str(error).split())}; {ADVICE}"
            ) from error

    def damaged(self) -> Iterator[tuple[str, str, str]]:
        """The rows that are not as they were written: table, and first two columns."""
        if self._is_whole():
            return

        # Damaged text is one more difference.
        self._connection.text_factory = partial(
            str, errors="surrogateescape", encoding="utf-8"
        )
        try:
            for table in digests.BEFORE:
                for row in self.each(digests.selecting(table)):
                    if not digests.is_whole(table, row):
                        yield table, str(row[0]), str(row[1])
        finally:
            self._connection.text_factory = str

    def _is_whole(self) -> bool:
        """Whether no row is damaged, which SQLite tells sooner than which rows are."""
        with suppress(sqlite3.Error):
            return not any(map(self.query, map(digests.differing, digests.BEFORE)))
        return False

    def check_structure(self) -> None:
        """Check the pages of the file, not what they say.

        Raises:
            RunFolderError: some are damaged.
        """
        for (message,) in self.query("PRAGMA integrity_check(1)"):
            if message != "ok":
                said = " ".join(message.split())
                raise RunFolderError(
                    f"run.sqlite: {said}; {ADVICE}, or save its rows with `.recover` of sqlite3"
                )

    def sync(self) -> None:
        """Bring all that is committed onto the disk."""
        self.query("PRAGMA wal_checkpoint")

    def size(self) -> int:
        """Bytes of the database."""
        (pages,) = self.column("PRAGMA page_count")
        (page_size,) = self.column("PRAGMA page_size")
        return int(pages * page_size)


def _no_room(path: Path | str, error: Exception) -> RunFailed:
    return RunFailed(
        f"cannot open {path}: {error}; free disk space, then run the command again"
    )
