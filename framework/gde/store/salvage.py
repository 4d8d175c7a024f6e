"""What a damaged journal still holds of what cannot be computed again.

Every row counts whose checksum holds, and every finished episode that is whole.
"""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gde.errors import RunFolderError
from gde.store import checksums, database, head, received, schema
from gde.store.connecting import connect
from gde.store.database import Statement
from gde.store.journal import Journal
from gde.store.migration import ANSWERED, OLDEST, booking

KEPT = ("facts", "interventions", "calls", "requests", "episodes", "turns")
"""Tables that cannot be computed again from others."""
OF_EPISODES = {
    "episodes": "episode",
    "turns": "episode",
    "calls": "scope",
    "requests": "scope",
}
"""Tables, and their columns with the keys of episodes."""
NAMED = " UNION ".join(
    f"SELECT {column} FROM {table}" for table, column in OF_EPISODES.items()
)
"""All keys of episodes, and the scopes of parts, which have a blank."""
BATCH = 1000
"""Rows that are written at once."""


@dataclass(frozen=True, kw_only=True)
class Losses:
    """What a journal lacks that was made of a damaged one."""

    episodes: tuple[tuple[str, str], ...]
    """Episodes of which something is lost, each with the reason."""
    unfinished: tuple[str, ...]
    """Episodes that had not ended. They begin anew, and their answers are kept."""
    others: tuple[str, ...]
    """What else is lost, or cannot be known to be whole."""


def save(damaged: Path, new: Path) -> Losses:
    """Make a journal of what another one still holds.

    Args:
        damaged: the other one, which is only read.
        new: the journal to make.

    Raises:
        RunFolderError: nothing can be saved.
    """
    with TemporaryDirectory(prefix="gde-") as place:
        copy = _copied(damaged, Path(place))
        with (
            closing(connect(copy, write=False)) as old,
            closing(Journal.create(new)) as journal,
        ):
            # A text that is damaged costs its row, not all rows after it.
            old.text_factory = lambda text: str(text, "utf-8", "replace")
            _copy_tables(old, journal)
            others = [*_lost_commits(damaged, old), *_lost_rows(old, journal)]
            if not journal.query(f"SELECT name FROM facts UNION {NAMED}"):
                raise RunFolderError(
                    f"{damaged}: nothing can be saved: no row is whole"
                )
            _keep_consistent(journal)
            unfinished, lost = _forget_parts(journal)
    return Losses(episodes=lost, unfinished=unfinished, others=tuple(others))


def _copied(damaged: Path, place: Path) -> Path:
    """Copy a journal and its log, with the beginning that all journals have.

    Raises:
        RunFolderError: there is none, or it is of an earlier version and damaged.
    """
    left = [damaged.with_name(name) for name in (received.LOG, received.JOURNAL)]
    left = [file for file in left if file.is_file()]
    if not left:
        raise RunFolderError(f"{damaged}: nothing can be saved: the file is missing")
    if damaged in left and OLDEST <= received.version(damaged) < schema.VERSION:
        return received.copy_journal(damaged, place)
    for file in left:
        shutil.copyfile(file, place / file.name)
    copy = place / received.JOURNAL
    # Where it is gone, the log still has its last pages.
    copy.touch()
    database.restore_schema(copy)
    return copy


def _copy_tables(old: sqlite3.Connection, journal: Journal) -> None:
    broken = []
    for table in KEPT:
        if _copy(old, journal, table):
            continue
        broken.append(table)

        # An error hides what follows it, but neither what another index leads to nor
        # what is read from the other end. Some tables have no rowid.
        key = schema.tables()[table].key
        _copy(old, journal, table, "ORDER BY rowid DESC")
        _copy(old, journal, table, f"ORDER BY {', '.join(key)}")
        _copy(old, journal, table, f"ORDER BY {' DESC, '.join(key)} DESC")

    # What lies between two errors can be looked up.
    scopes = [row[0] for row in journal.query(NAMED)]
    for table in OF_EPISODES.keys() & set(broken):
        for scope in scopes:
            _copy(old, journal, table, f"WHERE {OF_EPISODES[table]} = ?", (scope,))


def _copy(
    old: sqlite3.Connection,
    journal: Journal,
    table: str,
    which: str = "",
    values: Sequence[Any] = (),
) -> bool:
    """Copy rows whose checksum holds, up to the first row that cannot be read.

    Returns whether all could be read.
    """
    places = ", ".join("?" * len(schema.tables()[table].columns))
    insert = f"INSERT OR IGNORE INTO {table} VALUES ({places})"
    whole: list[Statement] = []
    is_read = True
    try:
        for row in old.execute(f"SELECT * FROM {table} {which}", values):
            *content, signed = row
            if checksums.checksum(content) == signed:
                whole.append((insert, tuple(row)))
            if len(whole) == BATCH:
                journal.write(whole)
                whole = []
    except sqlite3.Error:
        is_read = False
    journal.write(whole)
    return is_read


def _lost_commits(damaged: Path, old: sqlite3.Connection) -> Iterator[str]:
    try:
        commits, _ = head.published(damaged)
        n = commits - head.State.read(old).commits
    except (RunFolderError, sqlite3.Error):
        yield "whether the last commits are lost: what counts them is damaged"
        return
    if n > 0:
        yield f"the last {n} commits, with all that they wrote"


def _lost_rows(old: sqlite3.Connection, journal: Journal) -> Iterator[str]:
    try:
        totals = head.State.read(old).totals
    except (RunFolderError, sqlite3.Error):
        yield "which rows are lost: what adds them up is damaged"
        return
    written = dict(zip(checksums.signed_tables(), totals, strict=True))
    for table in KEPT:
        query = f"SELECT coalesce(sum({checksums.COLUMN}), 0) FROM {table}"
        ((kept,),) = journal.query(query)
        if kept != written[table]:
            yield f"rows of {table}"


def _keep_consistent(journal: Journal) -> None:
    """Delete what needs something that is lost, and add what can be inferred."""
    # These facts are noted together when a run begins, and then found again.
    begun = "('conditions', 'episodes', 'provenance')"
    known = f"(SELECT count(*) FROM facts WHERE name IN {begun})"
    made_in = "SELECT value FROM json_each(calls.interventions)"
    lacking = f"EXISTS ({made_in} EXCEPT SELECT intervention FROM interventions)"
    journal.write(
        [
            (f"DELETE FROM facts WHERE name IN {begun} AND {known} < 3", ()),
            (f"DELETE FROM calls WHERE {lacking}", ()),
        ]
    )
    answered = journal.query(ANSWERED)
    journal.write([(query, tuple(row)) for query, row in booking(answered)])


def _forget_parts(
    journal: Journal,
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Delete episodes that are not finished or not whole; return both."""
    unfinished = []
    lost = []
    finished = journal.finished()
    begun = {row[0] for row in journal.query("SELECT episode FROM episodes")}
    for (episode,) in journal.query(NAMED):
        if " " in episode:
            continue
        if episode in begun - finished:
            unfinished.append(episode)
        elif episode not in begun:
            lost.append((episode, "whether it was finished is lost"))
        else:
            try:
                journal.trajectory(episode)
            except RunFolderError:
                lost.append((episode, "turns or answers are lost"))
    journal.forget([*unfinished, *(episode for episode, _ in lost)])
    return tuple(unfinished), tuple(lost)
