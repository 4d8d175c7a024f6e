"""run.sqlite: every finished turn is committed before the next turn of its episode is asked for."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from gde.data.completion import Completion
from gde.data.json import Json
from gde.data.observation import State, World
from gde.data.trajectory import Decision, Ending, EpisodeKey, Trajectory, Turn
from gde.errors import RunFailed, RunFolderError
from gde.store import rows, schema

Statement = tuple[str, tuple[Any, ...]]


def connect(path: Path) -> sqlite3.Connection:
    """A connection that survives the death of its process with everything committed."""
    connection = sqlite3.connect(path, timeout=120, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


class Journal:
    """Reads and writes the record of episodes. Several processes may write to one journal."""

    def __init__(self, path: Path) -> None:
        self._connection = connect(path)
        self._pending: list[tuple[list[Statement], asyncio.Future[None]]] = []

    @classmethod
    def create(cls, path: Path) -> Self:
        """An empty journal."""
        with closing(connect(path)) as connection:
            connection.executescript(schema.TABLES)
            connection.execute(f"PRAGMA user_version={schema.VERSION}")
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """The journal of an earlier run.

        Raises:
            RunFolderError: no journal, not SQLite, or another schema version.
        """
        if not path.is_file():
            raise RunFolderError(f"{path.parent} is no run folder: wanted run.sqlite in it")
        try:
            with closing(connect(path)) as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            raise RunFolderError(f"{path}: {error}; the file is damaged") from error
        if version != schema.VERSION:
            raise RunFolderError(f"{path}: wanted schema {schema.VERSION}, got {version}; use the gde that wrote it")
        return cls(path)

    def close(self) -> None:
        self._connection.close()

    # Writing, while episodes run

    async def begin(self, key: EpisodeKey, seed: int, world: World, labels: Mapping[str, Any], horizon: int) -> None:
        """Write the beginning of an episode; a second time is without effect."""
        row = rows.episode_row(key, seed, world, labels, horizon)
        await self._commit([(f"INSERT OR IGNORE INTO episodes VALUES ({_marks(11)}, NULL, '', NULL)", row)])

    async def fail(self, key: EpisodeKey, seed: int, failure: str) -> None:
        """Write an episode that failed before it had a world."""
        row = rows.episode_row(key, seed, World(id=f"unmade {key}"), {}, 0)
        query = f"INSERT OR REPLACE INTO episodes VALUES ({_marks(11)}, 'failed', ?, NULL)"
        await self._commit([(query, (*row, failure))])

    async def turn(self, key: EpisodeKey, turn: Turn) -> None:
        """Write a finished turn. The completions that went into it are in the journal already, see `call`."""
        await self._commit([(f"INSERT INTO turns VALUES ({_marks(16)})", rows.turn_row(key, turn))])

    async def call(self, scope: str, turn: int | None, completion: Completion) -> None:
        """Write what a language model answered to a request made on behalf of an episode or a part."""
        await self._commit([(f"INSERT INTO calls VALUES ({_marks(12)})", rows.call_row(scope, turn, completion))])

    async def end(self, key: EpisodeKey, ending: Ending, failure: str, final: State | None) -> None:
        """Write the end of an episode."""
        state = None if final is None else rows.to_json({"facts": final.facts, "index": final.index})
        query = "UPDATE episodes SET ending = ?, failure = ?, final_state = ? WHERE episode = ?"
        await self._commit([(query, (ending, failure, state, str(key)))])

    async def _commit(self, statements: list[Statement]) -> None:
        """Commit with whatever else the episodes of this moment write: one transaction a tick of the loop."""
        loop = asyncio.get_running_loop()
        if not self._pending:
            loop.call_soon(self._flush)
        committed: asyncio.Future[None] = loop.create_future()
        self._pending.append((statements, committed))
        await committed

    def _flush(self) -> None:
        waiting, self._pending = self._pending, []
        try:
            self.write([statement for statements, _ in waiting for statement in statements])
        except Exception:  # one writer's mistake must not cost the others: each tries again alone
            for statements, committed in waiting:
                self._write_alone(statements, committed)
        else:
            for _, committed in waiting:
                _resolve(committed, None)

    def _write_alone(self, statements: list[Statement], committed: asyncio.Future[None]) -> None:
        try:
            self.write(statements)
        except Exception as error:
            _resolve(committed, error)
        else:
            _resolve(committed, None)

    def write(self, statements: Sequence[Statement]) -> None:
        """Commit some statements as one transaction.

        Raises:
            RunFailed: the database cannot be written to, e.g. because the disk is full; nothing is half-written.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for query, values in statements:
                self._connection.execute(query, values)
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if not isinstance(error, sqlite3.OperationalError):
                raise
            raise RunFailed(f"cannot write the journal: {error}; make room and go on with `gde resume`") from error

    def note(self, name: str, value: Json) -> None:
        """Keep a fact about the run as a whole."""
        self.write([("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, rows.to_json(value)))])

    # Reading

    def noted(self, name: str) -> Any:
        """A fact kept with `note`, None where there is none."""
        found = self.query("SELECT value FROM facts WHERE name = ?", (name,))
        return json.loads(found[0]["value"]) if found else None

    def query(self, text: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """The rows that a SELECT gives."""
        return self._connection.execute(text, values).fetchall()

    def finished(self) -> set[str]:
        """Keys of all episodes that have ended."""
        return {row["episode"] for row in self.query("SELECT episode FROM episodes WHERE ending IS NOT NULL")}

    def world(self, episode: str) -> str | None:
        """Id of the episode's world, None before it has begun."""
        found = self.query("SELECT world_id FROM episodes WHERE episode = ?", (episode,))
        return found[0]["world_id"] if found else None

    def calls(self, scope: str) -> dict[str, Completion]:
        """Every completion that was asked for on behalf of an episode or a part, by request."""
        found = self.query("SELECT * FROM calls WHERE scope = ?", (scope,))
        return {row["request"]: rows.read_completion(row) for row in found}

    def decisions(self, episode: str) -> list[Decision]:
        """Decisions of the finished turns, in order, without their completions."""
        found = self.query("SELECT status, action, detail FROM turns WHERE episode = ? ORDER BY turn", (episode,))
        return [Decision(status=row["status"], action=row["action"], detail=row["detail"]) for row in found]

    def probes(self) -> set[str]:
        """The probes that have stored arms."""
        return {row["probe"] for row in self.query("SELECT DISTINCT probe FROM probes")}

    def failed_episodes(self) -> list[tuple[str, str]]:
        """The episodes that failed, in their order, each with its reason."""
        query = "SELECT episode, failure FROM episodes WHERE ending = 'failed' ORDER BY stratum, world, repeat"
        return [(row["episode"], row["failure"]) for row in self.query(query)]

    def counts(self) -> dict[str, int]:
        """The numbers of a `gde.data.result.Subject`."""
        (row,) = self.query(
            "SELECT count(*) AS episodes, coalesce(sum(ending = 'failed'), 0) AS failed,"
            " count(DISTINCT CASE WHEN ending <> 'failed' THEN world_id END) AS worlds"
            " FROM episodes WHERE ending IS NOT NULL"
        )
        (answers,) = self.query(
            "SELECT count(*) AS turns, coalesce(sum(status <> 'ok'), 0) AS unusable"
            " FROM turns JOIN episodes USING (episode) WHERE ending IS NOT NULL AND ending <> 'failed'"
        )
        return {**dict(row), **dict(answers)}

    def episodes(self, stratum: int | None = None) -> list[str]:
        """Keys of the finished episodes, of all or of one stratum, in their order, whatever order they ended in."""
        chosen = "" if stratum is None else "AND stratum = ?"
        query = f"SELECT episode FROM episodes WHERE ending IS NOT NULL {chosen} ORDER BY stratum, world, repeat"
        return [row["episode"] for row in self.query(query, () if stratum is None else (stratum,))]

    def trajectories(self, episodes: Sequence[str] | None = None) -> Iterator[Trajectory]:
        """Finished episodes, all or the given ones, in the order of their keys."""
        for episode in self.episodes() if episodes is None else episodes:
            yield self.trajectory(episode)

    def trajectory(self, episode: str) -> Trajectory:
        """One finished episode."""
        (row,) = self.query("SELECT * FROM episodes WHERE episode = ?", (episode,))
        return rows.read_trajectory(row, self._turns(episode))

    def turns_since(self, last: int) -> tuple[int, list[tuple[str, Turn]]]:
        """The turns committed after the one of the given number, and the number of the last of them."""
        found = self.query("SELECT rowid, * FROM turns WHERE rowid > ? ORDER BY rowid", (last,))
        return (found[-1]["rowid"] if found else last), [(row["episode"], rows.read_turn(row, None)) for row in found]

    def last_turn(self) -> int:
        """The number of the turn that was committed last, 0 before the first."""
        return int(self.query("SELECT coalesce(max(rowid), 0) AS last FROM turns")[0]["last"])

    def _turns(self, episode: str) -> list[Turn]:
        turns = self.query("SELECT * FROM turns WHERE episode = ? ORDER BY turn", (episode,))
        asked = any(row["completion"] is not None for row in turns)
        calls = self.calls(episode) if asked else {}
        return [rows.read_turn(row, calls.get(row["completion"])) for row in turns]


def _resolve(committed: asyncio.Future[None], error: Exception | None) -> None:
    """Tell a writer how it went, unless it has been cancelled meanwhile."""
    if committed.done():
        return
    if error is None:
        committed.set_result(None)
    else:
        committed.set_exception(error)


def _marks(n: int) -> str:
    return ", ".join("?" * n)
