"""Checksums of rows and arrays, which detect changes.

A connection that writes signs every row that it inserts or changes, except rows that
are copied with their checksum. Its triggers are temporary and not in the file.
"""

import sqlite3
from binascii import crc32
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from gde.errors import RunFolderError
from gde.store import schema

COLUMN = "checksum"
FUNCTION = "row_checksum"
ADVICE = "the file is damaged: restore it from a copy"
SAID = 120
"""The most characters of what a decoder says."""


def checksum(values: Iterable[object]) -> int:
    """CRC-32 of values as SQLite gives them."""
    return crc32(repr(tuple(values)).encode("utf-8", "surrogatepass"))


@cache
def triggers() -> tuple[str, ...]:
    """The statements that make a connection sign what it writes, after `register`."""
    statements = []
    for table in signed_tables():
        columns = _columns(table)
        values = ", ".join(f"NEW.{name}" for name in columns)
        key = schema.tables()[table].key or ("rowid",)
        same_row = " AND ".join(f"{name} = NEW.{name}" for name in key)
        change = f"UPDATE {table} SET {COLUMN} = {FUNCTION}({values}) WHERE {same_row};"

        # A row that is copied with its checksum needs no second look.
        inserted = f"INSERT ON main.{table} WHEN NEW.{COLUMN} = 0"
        updated = f"UPDATE OF {', '.join(columns)} ON main.{table}"
        for event, when in (("insert", inserted), ("update", updated)):
            statements.append(
                f"CREATE TEMP TRIGGER sign_{table}_{event} AFTER {when} BEGIN {change} END"
            )
    return tuple(statements)


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
    register(connection)
    try:
        for (message,) in connection.execute("PRAGMA integrity_check(5)"):
            if message != "ok":
                yield f"run.sqlite: {' '.join(message.split())}"

        for table in signed_tables():
            columns = _columns(table)
            wrong = f"{COLUMN} IS NOT {FUNCTION}({', '.join(columns)})"
            rows = f"SELECT {columns[0]} FROM {table} WHERE {wrong}"
            for (key,) in connection.execute(rows):
                yield f"run.sqlite: checksum mismatch in a row of {table} ({key!r}, ...)"

        lost = "ending IS NOT NULL AND turns <> (SELECT count(*) FROM turns WHERE turns.episode = episodes.episode)"
        for (key,) in connection.execute(f"SELECT episode FROM episodes WHERE {lost}"):
            yield f"run.sqlite: turns of episode {key} are missing"
    except (sqlite3.Error, UnicodeDecodeError) as error:
        yield f"run.sqlite: {' '.join(str(error).split())}"


@cache
def signed_tables() -> Sequence[str]:
    """The tables whose rows have checksums, in the order of the schema."""
    # The head is no record; its checksum is its own.
    return [name for name in schema.tables() if name != "head"]


def is_full(error: Exception) -> bool:
    """Whether the disk took no more: also a reader writes, beside the file."""
    code = getattr(error, "sqlite_errorname", "")
    return code.startswith(("SQLITE_FULL", "SQLITE_IOERR_SHM", "SQLITE_IOERR_WRITE"))


def is_damage(error: Exception) -> bool:
    """Whether an error comes from a damaged file, not from a wrong query."""
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")):
        return True

    # Damaged text is found only where Python decodes it, and numbers and JSON that gde
    # never writes only where SQLite computes with them.
    said = str(error)
    return any(each in said for each in ("decode", "overflow", "malformed JSON"))


@contextmanager
def decoding(table: str) -> Iterator[None]:
    """Blame the file for what no row of gde says; its checksum may still fit.

    Whoever sends a folder can sign anything.

    Raises:
        RunFolderError: what is decoded fails.
    """
    try:
        yield
    except (
        AttributeError,
        LookupError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        said = " ".join(str(error).split())[:SAID]
        raise RunFolderError(
            f"run.sqlite: a row of {table} is none that gde writes ({said}); {ADVICE}"
        ) from error


def refuse(faults: Iterable[str]) -> None:
    """Raise the first of the faults, before anything is built on the record.

    Raises:
        RunFolderError: there is a fault.
    """
    for fault in faults:
        raise RunFolderError(f"{fault}; {ADVICE}")


def register(connection: sqlite3.Connection) -> None:
    """Give the connection the function that computes checksums."""
    connection.create_function(
        FUNCTION, -1, lambda *values: checksum(values), deterministic=True
    )


def _columns(table: str) -> Sequence[str]:
    """The columns of a table without that of the checksums, which is the last."""
    return schema.tables()[table].columns[:-1]
