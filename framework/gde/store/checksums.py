"""Rows and files that tell whether they are as they were written.

A connection that writes signs every row that it inserts or changes, unless it is written as `Signed`. Its triggers are
temporary and no part of the file.
"""

import sqlite3
from binascii import crc32
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter

from gde.errors import RunFolderError
from gde.store.schema import empty

COLUMN, FUNCTION = "checksum", "row_checksum"
ADVICE = "the file is damaged: take a copy from elsewhere"


def checksum(values: Iterable[object]) -> int:
    """CRC-32 of values as SQLite gives them."""
    return crc32(repr(tuple(values)).encode("utf-8", "surrogatepass"))


class Signed(tuple[object, ...]):
    """The values of a row to insert, to which the writer adds their checksum: a third of the time of a trigger's second
    look. They must be of the columns' types: 1.0, and not 1, where a column is REAL."""

    __slots__ = ()


def sign(connection: sqlite3.Connection, schema: str) -> None:
    """Have the connection sign what it writes to the tables of a schema."""
    connection.create_function(FUNCTION, -1, lambda *values: checksum(values), deterministic=True)
    connection.executescript(_triggers(schema))


def check(table: str, row: sqlite3.Row) -> sqlite3.Row:
    """The row, whose last column is the checksum of the others.

    Raises:
        RunFolderError: it is not.
    """
    *values, signed = row
    if checksum(values) != signed:
        raise RunFolderError(f"run.sqlite: a row of {table} ({values[0]!r}, ...) is not as it was written; {ADVICE}")
    return row


def faults(connection: sqlite3.Connection, schema: str) -> Iterator[str]:
    """What is wrong with a database of that schema: its structure, rows that have changed, turns that are missing."""
    connection.create_function(FUNCTION, -1, lambda *values: checksum(values), deterministic=True)
    try:
        for (said,) in connection.execute("PRAGMA integrity_check(5)"):
            if said != "ok":
                yield f"run.sqlite: {' '.join(said.split())}"
        for table, columns in _signed(schema).items():
            wrong = f"{COLUMN} IS NOT {FUNCTION}({', '.join(columns)})"
            for (key,) in connection.execute(f"SELECT {next(iter(columns))} FROM {table} WHERE {wrong}"):
                yield f"run.sqlite: a row of {table} ({key!r}, ...) is not as it was written"
        lost = "ending IS NOT NULL AND turns <> (SELECT count(*) FROM turns WHERE turns.episode = episodes.episode)"
        for (episode,) in connection.execute(f"SELECT episode FROM episodes WHERE {lost}"):
            yield f"run.sqlite: turns of episode {episode} are missing"
    except (sqlite3.Error, UnicodeDecodeError) as error:
        yield f"run.sqlite: {' '.join(str(error).split())}"


def is_damage(error: Exception) -> bool:
    """Whether the file is to blame, and not the question: its bytes may be no text either."""
    code = getattr(error, "sqlite_errorname", "")
    return code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")) or "decode" in str(error)


def refuse(faults: Iterable[str]) -> None:
    """Whoever builds on a record wants to know before.

    Raises:
        RunFolderError: there is a fault.
    """
    for fault in faults:
        raise RunFolderError(f"{fault}; {ADVICE}")


@cache
def _signed(schema: str) -> Mapping[str, Mapping[str, bool]]:
    """The columns of every table that has checksums, and whether each is of the primary key."""
    with empty(schema) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {
            table: {row[1]: bool(row[5]) for row in connection.execute(f"PRAGMA table_info({table})")}
            for table in tables
        }
    return {
        table: {name: key for name, key in each.items() if name != COLUMN}
        for table, each in columns.items()
        if COLUMN in each
    }


@cache
def _triggers(schema: str) -> str:
    return "\n".join(
        _trigger(table, event, columns)
        for table, columns in _signed(schema).items()
        for event in ("INSERT", f"UPDATE OF {', '.join(columns)}")
    )


def _trigger(table: str, event: str, columns: Mapping[str, bool]) -> str:
    values = ", ".join(f"NEW.{name}" for name in columns)
    same = " AND ".join(f"{name} = NEW.{name}" for name, key in columns.items() if key)
    change = f"UPDATE {table} SET {COLUMN} = {FUNCTION}({values}) WHERE {same};"
    unsigned = f" WHEN NEW.{COLUMN} = 0" if event == "INSERT" else ""
    name = f"sign_{table}_{event.split()[0]}"
    return f"CREATE TEMP TRIGGER {name} AFTER {event} ON main.{table}{unsigned} BEGIN {change} END;"


def array_checksum(arrays: Sequence[tuple[str, str, tuple[int, ...], bytes | memoryview]]) -> str:
    """Of arrays given as name, type, shape and bytes."""
    total = 0
    for name, kind, shape, data in sorted(arrays, key=itemgetter(0)):
        total = crc32(data, crc32(repr((name, kind, tuple(shape))).encode(), total))
    return f"{total:08x}"
