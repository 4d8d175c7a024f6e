"""The head of a journal: how many commits it has, and what its rows add up to.

The journal holds it, and so does a small file beside it. A journal that lacks what was
committed, e.g. because the end of its log is damaged, has fewer commits than the file.
Rows that were removed or added otherwise make another sum of checksums. Sums do not
depend on the order of rows, so rows may be replaced and deleted.
"""

import os
import sqlite3
from binascii import crc32
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from gde.errors import RunFolderError
from gde.store.checksums import ADVICE, COLUMN, signed_tables

NAME = "run.head"
COMMITS = "commits"
"""The entry in the table that counts commits; the others are named by tables."""
FOLD = "fold"
SLOTS = 16
"""Places in the file. Each commit writes the next, so that a process that is slower than
another never hides the other's commit.
"""
SLOT = 48
"""Bytes of a place."""

Totals = Mapping[str, int]
"""Entries of the table `head`."""


class Head:
    """Follows what one connection writes."""

    def __init__(self, connection: sqlite3.Connection, journal: Path) -> None:
        """Watch all changes of rows with a checksum."""
        self._connection = connection
        self._changes: Counter[str] = Counter()
        self._file = os.open(journal.with_name(NAME), os.O_RDWR | _NO_LINK)
        connection.create_function(FOLD, 2, self._fold)

        # Without it, a row that is replaced would not count as deleted.
        connection.execute("PRAGMA recursive_triggers=ON")
        for table in signed_tables(connection):
            for event, value in (
                (f"INSERT ON main.{table} WHEN NEW.{COLUMN} <> 0", f"NEW.{COLUMN}"),
                (f"UPDATE OF {COLUMN} ON main.{table}", f"NEW.{COLUMN} - OLD.{COLUMN}"),
                (f"DELETE ON main.{table}", f"-OLD.{COLUMN}"),
            ):
                name = f"fold_{table}_{event.split()[0]}"
                body = f"SELECT {FOLD}('{table}', {value});"
                connection.execute(
                    f"CREATE TEMP TRIGGER {name} AFTER {event} BEGIN {body} END"
                )

    def begin(self) -> None:
        """Forget the changes of a transaction that failed."""
        self._changes.clear()

    def advance(self) -> bytes:
        """Bring the table up to date, before a commit; gives what to publish after it."""
        self._changes[COMMITS] += 1
        add = 'UPDATE head SET total = total + ? WHERE "table" = ?'
        for table, change in self._changes.items():
            self._connection.execute(add, (change, table))
        totals = totals_of(self._connection)
        return _slot(totals[COMMITS], _sum(totals))

    def publish(self, slot: bytes) -> None:
        """Write the file, after the commit."""
        place = int(slot.split()[0]) % SLOTS
        os.pwrite(self._file, slot, place * SLOT)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _fold(self, table: str, change: int) -> None:
        self._changes[table] += change


def create(connection: sqlite3.Connection, journal: Path) -> None:
    """Begin the head of a journal with the rows that are there, and its file."""
    begin = [(COMMITS, 0), *_totals(connection)]
    connection.executemany("INSERT OR REPLACE INTO head VALUES (?, ?)", begin)
    slot = _slot(0, _sum(dict(begin)))
    journal.with_name(NAME).write_bytes(slot * SLOTS)


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


def lost(totals: Totals, head: tuple[int, int]) -> str:
    """Why a journal with these totals is not the one of a head; empty if it is."""
    commits, total = head
    if totals[COMMITS] < commits:
        n = commits - totals[COMMITS]
        return (
            f"its last {n} commits are lost: restore it from a copy, or delete {NAME} and"
            " go on without them with `gde resume`"
        )
    if totals[COMMITS] == commits and _sum(totals) != total:
        return f"it is not the one that {NAME} belongs to"
    return ""


def totals_of(connection: sqlite3.Connection) -> dict[str, int]:
    """The entries of the table."""
    return dict(connection.execute('SELECT "table", total FROM head').fetchall())


def missing(
    connection: sqlite3.Connection, without: Collection[str] = ()
) -> Iterator[str]:
    """The tables whose rows do not add up to what was written."""
    written = totals_of(connection)
    for table, total in _totals(connection, without):
        if total != written.get(table):
            yield table


def _totals(
    connection: sqlite3.Connection, without: Collection[str] = ()
) -> Iterator[tuple[str, int]]:
    for table in signed_tables(connection):
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


def _sum(totals: Totals) -> int:
    """The sum of all tables; tables must not be able to swap their totals."""
    return crc32(repr(sorted(totals.items())).encode())


def _slot(commits: int, total: int) -> bytes:
    """A place of the file, with its own checksum."""
    text = f"{commits:>20} {total:>10}"
    return f"{text} {crc32(text.encode()):>10x}".ljust(SLOT - 1).encode() + b"\n"
