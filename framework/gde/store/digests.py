"""Running digests of the record of episodes.

An answer has the digest of its row. A turn has that of the last turn's digest, the
digest of its answer and its row; an episode that of its last turn's digest and its row.
"""

import sqlite3
from collections.abc import Mapping
from functools import cache
from hashlib import sha256

from gde.errors import RunFolderError
from gde.store.damage import ADVICE
from gde.store.schema import tables

COLUMN = "digest"
"""The last column of a table whose rows have digests."""
SIZE = 8
"""Bytes of a digest."""
BEFORE = {
    "calls": (),
    "turns": (
        "(SELECT last.digest FROM turns AS last"
        " WHERE last.episode = {episode} AND last.turn = {turn} - 1)",
        "(SELECT calls.digest FROM calls"
        " WHERE calls.scope = {episode} AND calls.request = {completion})",
    ),
    "episodes": (
        "iif({ending} IS NULL, NULL, (SELECT turns.digest FROM turns"
        " WHERE turns.episode = {episode} ORDER BY turns.turn DESC LIMIT 1))",
    ),
}
"""What a digest depends on beside its row, by table."""


def digest(*values: object) -> bytes:
    """The digest of values as SQLite gives them."""
    # As text, bytes would take four times their length.
    short = [sha256(each).digest() if type(each) is bytes else each for each in values]
    return sha256(ascii(short).encode()).digest()[:SIZE]


def register(connection: sqlite3.Connection) -> None:
    """Give a connection the function that computes digests."""
    connection.create_function(COLUMN, -1, digest, deterministic=True)


@cache
def inserting(table: str, insert: str = "INSERT") -> str:
    """The statement that inserts a row, with its digest."""
    columns = _columns(table)
    given = {name: f"?{place}" for place, name in enumerate(columns, start=1)}
    values = ", ".join(given.values())
    return f"{insert} INTO {table} VALUES ({values}, {_computed(table, given)})"


@cache
def renewing(table: str) -> str:
    """The statement that computes the digests of a table anew; WHERE may follow."""
    return f"UPDATE {table} SET {COLUMN} = {_computed(table, _named(table))}"


@cache
def selecting(table: str) -> str:
    """The query for rows that `is_whole` checks; WHERE may follow."""
    return f"SELECT {', '.join([f'{table}.*', *_before(table, _named(table))])} FROM {table}"


@cache
def differing(table: str) -> str:
    """The query for a row that is not as it was written.

    It fails where a text is damaged.
    """
    now = _computed(table, _named(table))
    return f"SELECT 1 FROM {table} WHERE {table}.{COLUMN} IS NOT {now} LIMIT 1"


def is_whole(table: str, row: sqlite3.Row) -> bool:
    """Whether a row of `selecting` is as it was written."""
    n = len(_columns(table))
    kept: bytes = row[n]
    return kept == digest(*row[n + 1 :], *row[:n])


def damaged(scope: str) -> RunFolderError:
    """The error of an episode or part with a row that is not as it was written."""
    whose = f"an answer to {scope}" if " " in scope else f"episode {scope}"
    return RunFolderError(f"run.sqlite: {whose} is not as it was written; {ADVICE}")


def _computed(table: str, columns: Mapping[str, str]) -> str:
    return f"{COLUMN}({', '.join([*_before(table, columns), *columns.values()])})"


def _before(table: str, columns: Mapping[str, str]) -> list[str]:
    return [each.format(**columns) for each in BEFORE[table]]


def _named(table: str) -> Mapping[str, str]:
    return {name: f"{table}.{name}" for name in _columns(table)}


@cache
def _columns(table: str) -> tuple[str, ...]:
    return tables()[table].columns[:-1]
