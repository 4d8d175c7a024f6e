"""Journals of earlier versions, brought forward: every row is copied by the names of its
columns.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from gde.errors import RunFolderError
from gde.store import checksums, head, schema
from gde.store.connecting import connect
from gde.store.rows import to_json

OLDEST = 6
"""The first version that can be brought forward."""
RENAMED = {
    "stratum": "condition",
    "mark": "position",
    "marks": "positions",
    "arm": "fit",
}
"""Columns that once had another name."""
RENAMED_FACTS = {"strata": "conditions"}
JSON_COLUMNS = {"probes": "report", "measurements": "place"}
"""Columns whose JSON has keys with such names."""
REPORT: Mapping[str, Any] = {
    "coded": {"rows": [], "worlds": []},
    "worlds": [],
    "model": "",
    "unread": "",
    "absent": False,
}
"""Fields that the reports of probes did not always have."""
ADDED: Mapping[str, Any] = {
    "turns.probabilities": None,
    "calls.prompt": "[]",
    "calls.seconds": None,
    "calls.cached": 0,
    "calls.effort": None,
    "calls.logprobs": b"",
    "measurements.clusters": None,
}
"""Values of columns that earlier versions did not have."""
ANSWERED = """SELECT scope, request, model, n_prompt, n_completion
    FROM calls WHERE NOT cached"""
"""What the ledger needs of the answers that models gave."""


def bring_forward(journal: Path) -> Path:
    """Replace a journal of an earlier version, which nobody else has open.

    Raises:
        RunFolderError: it is damaged, or has what no version had.
    """
    new = journal.with_name("forward.sqlite")
    try:
        with closing(connect(journal)) as old, closing(connect(new)) as connection:
            connection.executescript(schema.TABLES)
            connection.execute(f"PRAGMA user_version={schema.VERSION}")
            connection.execute("BEGIN")
            _check_head(old, journal)
            _copy_rows(old, connection)
            beside = head.create(connection)
            connection.execute("COMMIT")
            journal.with_name(head.NAME).write_bytes(beside)
    except (sqlite3.Error, ValueError, KeyError) as error:
        raise RunFolderError(f"run.sqlite: {error}; {checksums.ADVICE}") from error
    journal.with_name(f"{journal.name}-wal").unlink(missing_ok=True)
    journal.with_name(f"{journal.name}-shm").unlink(missing_ok=True)
    return new.replace(journal)


def _check_head(old: sqlite3.Connection, journal: Path) -> None:
    """Check the head of version 11, the first that had one: a row for each table.

    Raises:
        RunFolderError: rows are missing, or others were added.
    """
    if "head" not in _columns(old) or not journal.with_name(head.NAME).exists():
        return
    published, _ = head.published(journal)
    for table, total in old.execute('SELECT "table", total FROM head').fetchall():
        if table == "commits":
            is_whole = total >= published
        else:
            ((found,),) = old.execute(f"SELECT total(checksum) FROM {table}")
            is_whole = found == total
        if not is_whole:
            raise RunFolderError(f"run.sqlite: {table} are missing; {checksums.ADVICE}")


def _copy_rows(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Copy all rows of an earlier version into an empty journal of this one.

    Raises:
        RunFolderError: a row is not as it was written, or the old file has what no
        version had.
    """
    known = schema.tables()
    for kind, table, _ in old.execute("SELECT type, name, sql FROM sqlite_master"):
        if kind == "index" and table.startswith("sqlite_autoindex"):
            continue
        if kind != "table" or table not in known:
            raise RunFolderError(f"run.sqlite: unknown {kind} {table!r}")
    tables = _columns(old)
    tables.pop("head", None)
    for table, columns in tables.items():
        _copy(old, new, table, columns, known[table].columns)
    if "requests" not in tables:
        for query, row in booking(new.execute(ANSWERED).fetchall()):
            new.execute(query, row)


def booking(answered: Iterable[Sequence[Any]]) -> Iterator[tuple[str, Sequence[Any]]]:
    """The statements that add answers to the ledger; what it has already stays.

    Args:
        answered: rows of the query `ANSWERED`.
    """
    for scope, request, model, n_prompt, n_completion in answered:
        told = n_prompt is not None and n_completion is not None
        tokens = (n_prompt, n_completion) if told else (0, 0)
        row = (scope, request, model, 1, 1, int(told), *tokens, *tokens)
        places = ", ".join("?" * (len(row) + 1))
        query = f"INSERT OR IGNORE INTO requests VALUES ({places})"
        yield query, (*row, checksums.checksum(row))


def _copy(
    old: sqlite3.Connection,
    new: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    wanted: Sequence[str],
) -> None:
    names = [RENAMED.get(name, name) for name in columns]
    if unknown := set(names) - set(wanted):
        raise RunFolderError(f"run.sqlite: unknown column {min(unknown)!r} of {table}")
    is_signed = names[-1:] == [checksums.COLUMN]
    query = f"INSERT INTO {table} VALUES ({', '.join('?' * len(wanted))})"
    for row in old.execute(f"SELECT {', '.join(columns)} FROM {table}"):
        if is_signed:
            checksums.check(table, row)
        values = dict(zip(names, row, strict=True))
        if table == "facts":
            values["name"] = RENAMED_FACTS.get(values["name"], values["name"])
        if column := JSON_COLUMNS.get(table):
            stored = _renamed(json.loads(values[column]))
            if table == "probes":
                stored = {**REPORT, **stored}
            values[column] = to_json(stored)
        complete = [*_complete(table, values, wanted[:-1])]
        new.execute(query, [*complete, checksums.checksum(complete)])


def _complete(
    table: str, values: Mapping[str, Any], wanted: Sequence[str]
) -> Iterator[Any]:
    for name in wanted:
        if name in values:
            yield values[name]
        else:
            yield ADDED[f"{table}.{name}"]


def _renamed(value: Any) -> Any:
    """JSON with the present names of its keys."""
    if isinstance(value, list):
        return [_renamed(each) for each in value]
    if isinstance(value, dict):
        return {RENAMED.get(name, name): _renamed(each) for name, each in value.items()}
    return value


def _columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of every table."""
    found = connection.execute(
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
        " WHERE m.type = 'table' ORDER BY m.name, c.cid"
    )
    tables: dict[str, list[str]] = {}
    for table, column in found.fetchall():
        tables.setdefault(table, []).append(column)
    return tables
