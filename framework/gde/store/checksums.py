"""Checksums of rows and arrays, which detect changes.

A connection that writes signs every row that it inserts or changes, except rows that
are copied with their checksum. Its triggers are temporary and not in the file.
"""

import sqlite3
from binascii import crc32
from collections.abc import Iterable, Iterator

from gde.errors import RunFolderError

COLUMN = "checksum"
FUNCTION = "row_checksum"
ADVICE = "the file is damaged: restore it from a copy"


def checksum(values: Iterable[object]) -> int:
    """CRC-32 of values as SQLite gives them."""
    return crc32(repr(tuple(values)).encode("utf-8", "surrogatepass"))


def sign(connection: sqlite3.Connection) -> None:
    """Make the connection sign what it writes."""
    _register(connection)
    for table in signed_tables(connection):
        values = ", ".join(f"NEW.{name}" for name in _columns(connection, table))
        change = f"UPDATE {table} SET {COLUMN} = {FUNCTION}({values}) WHERE {_same_row(connection, table)};"

        # A row that is copied with its checksum needs no second look.
        inserted = f"INSERT ON main.{table} WHEN NEW.{COLUMN} = 0"
        updated = f"UPDATE OF {', '.join(_columns(connection, table))} ON main.{table}"
        for event, when in (("insert", inserted), ("update", updated)):
            connection.execute(
                f"CREATE TEMP TRIGGER sign_{table}_{event} AFTER {when} BEGIN {change} END"
            )


def check(table: str, row: sqlite3.Row) -> sqlite3.Row:
    """The row, whose last column is the checksum of the others.

    Raises:
        RunFolderError: it is not.
    """
    *values, signed = row
    if checksum(values) != signed:
        raise RunFolderError(
            f"run.sqlite: checksum mismatch in a row of {table} ({values[0]!r}, ...); {ADVICE}"
        )
    return row


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """List the faults of a journal: structure, changed rows, missing turns."""
    _register(connection)
    try:
        for (message,) in connection.execute("PRAGMA integrity_check(5)"):
            if message != "ok":
                yield f"run.sqlite: {' '.join(message.split())}"

        for table in signed_tables(connection):
            columns = _columns(connection, table)
            wrong = f"{COLUMN} IS NOT {FUNCTION}({', '.join(columns)})"
            rows = f"SELECT {columns[0]} FROM {table} WHERE {wrong}"
            for (key,) in connection.execute(rows):
                yield f"run.sqlite: checksum mismatch in a row of {table} ({key!r}, ...)"

        lost = "ending IS NOT NULL AND turns <> (SELECT count(*) FROM turns WHERE turns.episode = episodes.episode)"
        for (key,) in connection.execute(f"SELECT episode FROM episodes WHERE {lost}"):
            yield f"run.sqlite: turns of episode {key} are missing"
    except (sqlite3.Error, UnicodeDecodeError) as error:
        yield f"run.sqlite: {' '.join(str(error).split())}"


def signed_tables(connection: sqlite3.Connection) -> list[str]:
    """The tables that have checksums."""
    found = connection.execute(
        "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE c.name = ?",
        (COLUMN,),
    )
    return [name for (name,) in found.fetchall()]


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


def _register(connection: sqlite3.Connection) -> None:
    connection.create_function(
        FUNCTION, -1, lambda *values: checksum(values), deterministic=True
    )


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table without that of the checksums, which is the last."""
    found = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [name for _, name, *_ in found[:-1]]


def _same_row(connection: sqlite3.Connection, table: str) -> str:
    """The condition that a row has the primary key of the new one."""
    key = []
    for _, name, _, _, _, is_key in connection.execute(f"PRAGMA table_info({table})"):
        if is_key:
            key.append(f"{name} = NEW.{name}")
    return " AND ".join(key) or "rowid = NEW.rowid"
