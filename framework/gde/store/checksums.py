"""Checksums of rows and arrays, which tell whether they are as they were written.

A connection that writes signs every row that it inserts or changes, except rows that
come as `Signed`. Its triggers are temporary and not in the file.
"""

import sqlite3
from binascii import crc32
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter

from gde.errors import RunFolderError
from gde.store.schema import empty

COLUMN = "checksum"
FUNCTION = "row_checksum"
ADVICE = "the file is damaged: take a copy from elsewhere"


def checksum(values: Iterable[object]) -> int:
    """CRC-32 of values as SQLite gives them."""
    return crc32(repr(tuple(values)).encode("utf-8", "surrogatepass"))


class Signed(tuple[object, ...]):
    """The values of a row to insert, to which the writer itself adds their checksum.

    That takes a third of a trigger's time. The values must have the columns' types:
    1.0, and not 1, where a column is REAL.
    """

    __slots__ = ()


def sign(connection: sqlite3.Connection, schema: str) -> None:
    """Make the connection sign what it writes to the tables of a schema."""
    connection.create_function(
        FUNCTION, -1, lambda *values: checksum(values), deterministic=True
    )
    connection.executescript(_triggers(schema))


def check(table: str, row: sqlite3.Row) -> sqlite3.Row:
    """The row, whose last column is the checksum of the others.

    Raises:
        RunFolderError: it is not.
    """
    *values, signed = row
    if checksum(values) != signed:
        raise RunFolderError(
            f"run.sqlite: a row of {table} ({values[0]!r}, ...) is not as it was written; {ADVICE}"
        )
    return row


def faults(connection: sqlite3.Connection, schema: str) -> Iterator[str]:
    """What is wrong with a database of that schema: its structure, rows that have
    changed, turns that are missing.
    """
    connection.create_function(
        FUNCTION, -1, lambda *values: checksum(values), deterministic=True
    )
    try:
        for (said,) in connection.execute("PRAGMA integrity_check(5)"):
            if said != "ok":
                yield f"run.sqlite: {' '.join(said.split())}"
        for table, columns in _signed(schema).items():
            wrong = f"{COLUMN} IS NOT {FUNCTION}({', '.join(columns)})"
            for (key,) in connection.execute(
                f"SELECT {next(iter(columns))} FROM {table} WHERE {wrong}"
            ):
                yield f"run.sqlite: a row of {table} ({key!r}, ...) is not as it was written"
        lost = "ending IS NOT NULL AND turns <> (SELECT count(*) FROM turns WHERE turns.episode = episodes.episode)"
        for (episode,) in connection.execute(
            f"SELECT episode FROM episodes WHERE {lost}"
        ):
            yield f"run.sqlite: turns of episode {episode} are missing"
    except (sqlite3.Error, UnicodeDecodeError) as error:
        yield f"run.sqlite: {' '.join(str(error).split())}"


def is_damage(error: Exception) -> bool:
    """Whether an error comes from a damaged file, not from a wrong query."""
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")):
        return True

    # Damaged text is found only where Python decodes it.
    return "decode" in str(error)


def refuse(faults: Iterable[str]) -> None:
    """Raise the first of the faults, before anything is built on the record.

    Raises:
        RunFolderError: there is a fault.
    """
    for fault in faults:
        raise RunFolderError(f"{fault}; {ADVICE}")


@cache
def _signed(schema: str) -> Mapping[str, Mapping[str, bool]]:
    """The columns of every table that has checksums, and whether each is of the primary
    key.
    """
    found: dict[str, dict[str, bool]] = {}
    with empty(schema) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            columns = {
                row[1]: bool(row[5])
                for row in connection.execute(f"PRAGMA table_info({table})")
            }
            if COLUMN in columns:
                del columns[COLUMN]
                found[table] = columns
    return found


@cache
def _triggers(schema: str) -> str:
    """Triggers that sign every row that is inserted or changed."""
    triggers = []
    for table, columns in _signed(schema).items():
        values = ", ".join(f"NEW.{name}" for name in columns)
        same = " AND ".join(
            f"{name} = NEW.{name}" for name, key in columns.items() if key
        )
        change = f"UPDATE {table} SET {COLUMN} = {FUNCTION}({values}) WHERE {same};"

        # A row that comes with its checksum needs no second look.
        inserted = f"INSERT ON main.{table} WHEN NEW.{COLUMN} = 0"
        updated = f"UPDATE OF {', '.join(columns)} ON main.{table}"
        triggers.append(
            f"CREATE TEMP TRIGGER sign_{table}_INSERT AFTER {inserted} BEGIN {change} END;"
        )
        triggers.append(
            f"CREATE TEMP TRIGGER sign_{table}_UPDATE AFTER {updated} BEGIN {change} END;"
        )
    return "\n".join(triggers)


def array_checksum(
    arrays: Sequence[tuple[str, str, tuple[int, ...], bytes | memoryview]],
) -> str:
    """The checksum of arrays, given as name, type, shape and bytes each."""
    total = 0
    for name, kind, shape, data in sorted(arrays, key=itemgetter(0)):
        total = crc32(data, crc32(repr((name, kind, tuple(shape))).encode(), total))
    return f"{total:08x}"
