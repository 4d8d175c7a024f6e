"""The head of a journal: how many commits it has, and what its rows add up to.

The journal holds it, and so does a small file beside it. A journal that lacks what was
committed, e.g. because the end of its log is damaged, has fewer commits than the file.
Rows that were removed or added otherwise make another sum of checksums. Sums do not
depend on the order of rows, so rows may be replaced and deleted.
"""

import os
import sqlite3
from binascii import crc32
from collections.abc import Collection, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, Self

from gde.errors import RunFolderError
from gde.store.checksums import ADVICE, COLUMN, signed_tables

NAME = "run.head"
FOLD = "fold"
SLOTS = 16
"""Places in the file. Each commit writes the next, so that a process that is slower than
another never hides the other's commit.
"""
SLOT = 48
"""Bytes of a place."""


class State(NamedTuple):
    """The one row of the table `head`."""

    commits: int
    text: str
    """What the checksums of each table add up to, in the order of `signed_tables`."""
    checksum: int

    @classmethod
    def of(cls, commits: int, totals: Iterable[str]) -> Self:
        """The state with these totals."""
        text = " ".join(totals)
        return cls(commits, text, _sum(commits, text))

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> Self:
        """The state after the last commit.

        Raises:
            RunFolderError: the row is damaged.
        """
        rows = connection.execute("SELECT * FROM head").fetchall()
        if len(rows) != 1:
            raise RunFolderError(f"wanted one row in table head, got {len(rows)}")
        state = cls(*rows[0])
        if _sum(state.commits, state.text) != state.checksum:
            raise RunFolderError("checksum mismatch in the row of head")
        return state

    @property
    def totals(self) -> list[int]:
        """The totals as numbers."""
        return [int(each) for each in self.text.split()]

    @property
    def slot(self) -> bytes:
        """What the file says about it."""
        return _slot(self.commits, self.checksum)


def _sum(commits: int, totals: str) -> int:
    return crc32(f"{commits} {totals}".encode())


class Head:
    """Follows what one connection writes."""

    def __init__(self, connection: sqlite3.Connection, journal: Path) -> None:
        """Watch all changes of rows with a checksum."""
        self._connection = connection
        self._file = os.open(journal.with_name(NAME), os.O_RDWR | _NO_LINK)
        self._commits = -1
        self._totals = ["0"] * len(signed_tables())
        """Of the last commit that is known. Other connections may have written since.

        Digits, since a commit changes few of them and writes all.
        """
        self._changes: dict[int, int] = {}
        """In the present transaction, by the place of their table."""

        # A function a table: its name would have to be passed with each row.
        for place, table in enumerate(signed_tables()):
            fold = partial(self._fold, place)
            connection.create_function(f"{FOLD}_{table}", 1, fold)

        # Without it, a row that is replaced would not count as deleted.
        connection.execute("PRAGMA recursive_triggers=ON")

    def begin(self) -> None:
        """Forget the changes of a transaction that failed."""
        self._changes = {}

    def advance(self) -> State:
        """Bring the table up to date, before a commit; gives what to publish after it."""
        while True:
            totals = self._totals.copy()
            for place, change in self._changes.items():
                totals[place] = str(int(totals[place]) + change)
            state = State.of(self._commits + 1, totals)
            update = "UPDATE head SET commits = ?, totals = ?, checksum = ? WHERE commits = ?"
            done = self._connection.execute(update, (*state, self._commits))
            if done.rowcount:
                return state
            self._know(State.read(self._connection))

    def publish(self, state: State) -> None:
        """Write the file, after the commit."""
        self._know(state)
        os.pwrite(self._file, state.slot, state.commits % SLOTS * SLOT)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _know(self, state: State) -> None:
        self._commits = state.commits
        self._totals = state.text.split()

    def _fold(self, place: int, change: int) -> None:
        self._changes[place] = self._changes.get(place, 0) + change


@cache
def triggers() -> tuple[str, ...]:
    """The statements that make a connection call a `Head`."""
    statements = []
    for table in signed_tables():
        for event, value in (
            (f"INSERT ON main.{table} WHEN NEW.{COLUMN} <> 0", f"NEW.{COLUMN}"),
            (f"UPDATE OF {COLUMN} ON main.{table}", f"NEW.{COLUMN} - OLD.{COLUMN}"),
            (f"DELETE ON main.{table}", f"-OLD.{COLUMN}"),
        ):
            name = f"fold_{table}_{event.split()[0]}"
            body = f"SELECT {FOLD}_{table}({value});"
            statements.append(
                f"CREATE TEMP TRIGGER {name} AFTER {event} BEGIN {body} END"
            )
    return tuple(statements)


def create(connection: sqlite3.Connection) -> bytes:
    """Begin the head of a journal with the rows that are there; gives its file."""
    state = State.of(0, (str(total) for _, total in _totals(connection)))
    connection.execute("DELETE FROM head")
    connection.execute("INSERT INTO head VALUES (?, ?, ?)", state)
    return state.slot * SLOTS


def published(journal: Path) -> tuple[int, int]:
    """The commits and the sum in the file beside a journal.

    To compare a journal that is being written, read the file before the journal.

    Raises:
        RunFolderError: the file is missing or damaged.
    """
    path = journal.with_name(NAME)
    try:
        content = _read(path)
    except OSError as error:
        raise RunFolderError(f"{path}: {error.strerror}; {ADVICE}") from error
    if len(content) != SLOT * SLOTS:
        raise RunFolderError(f"{path}: wanted {SLOT * SLOTS} bytes; {ADVICE}")
    heads = []
    for begin in range(0, len(content), SLOT):
        slot = content[begin : begin + SLOT]
        words = slot.split()
        try:
            commits, total = int(words[0]), int(words[1])
        except (ValueError, IndexError):
            commits, total = -1, 0
        if slot != _slot(commits, total):
            raise RunFolderError(f"{path}: checksum mismatch; {ADVICE}")
        heads.append((commits, total))
    return max(heads)


def lost(connection: sqlite3.Connection, head: tuple[int, int]) -> str:
    """Why a journal is not the one of a head; empty if it is."""
    state = State.read(connection)
    commits, checksum = head
    if state.commits < commits:
        n = commits - state.commits
        return (
            f"its last {n} commits are lost: restore it from a copy, or delete {NAME} and"
            " go on without them with `gde resume`"
        )
    if state.commits == commits and state.checksum != checksum:
        return f"it is not the one that {NAME} belongs to"
    return ""


def missing(
    connection: sqlite3.Connection, without: Collection[str] = ()
) -> Iterator[str]:
    """The tables whose rows do not add up to what was written."""
    written = State.read(connection).totals
    tables = dict(zip(signed_tables(), written, strict=True))
    for table, total in _totals(connection, without):
        if total != tables[table]:
            yield table


def _totals(
    connection: sqlite3.Connection, without: Collection[str] = ()
) -> Iterator[tuple[str, int]]:
    for table in signed_tables():
        if table not in without:
            query = f"SELECT coalesce(sum({COLUMN}), 0) FROM {table}"
            ((total,),) = connection.execute(query)
            yield table, total


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def _read(path: Path) -> bytes:
    file = os.open(path, os.O_RDONLY | _NO_LINK)
    try:
        return os.read(file, SLOT * SLOTS + 1)
    finally:
        os.close(file)


def _slot(commits: int, total: int) -> bytes:
    """A place of the file, with its own checksum."""
    text = b"%20d %10d" % (commits, total)
    return b"%s %10x     \n" % (text, crc32(text))
