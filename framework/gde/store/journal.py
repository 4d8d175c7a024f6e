"""run.sqlite: a turn is committed before its episode's next turn begins."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from secrets import token_hex
from textwrap import shorten
from time import monotonic
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from gde.data.activations import Intervention
from gde.data.completion import Completion
from gde.data.episode_table import Head
from gde.data.json import Labels
from gde.data.observation import IMPOSSIBLE, State, World
from gde.data.result import UnusableAnswers
from gde.data.trajectory import Decision, Ending, EpisodeKey, Trajectory, Turn
from gde.errors import RunFailed, RunFolderError
from gde.store import digests, manifest, rows
from gde.store.damage import ADVICE, decoding
from gde.store.database import Database, Statement

LOG = logging.getLogger(__name__)
ASKER = "asker"
"""The note of the process that alone may ask models, by a number of its own."""
RESUMED = "resumed with"
"""The note of other software than the run began with, once for each change of it."""
JUDGED = "judged by"
"""The note of the versions that judged, by reward model."""
REMARKS = "remarks"
"""The note of what the environments remark on their worlds."""
RETRIED = "retried"
"""The note of episodes that were begun anew after they had failed, with the reasons."""
TRACEBACK = "traceback of "
"""How the name of a note begins that holds the traceback of a failure; its reason
follows.
"""
REASON = 300
"""The most characters of a reason in the name of such a note."""
TRACEBACKS = 30
"""The most such notes of a run."""
TOLD = "told "
"""How the name of a note begins that tells of a model's answers to a part; part, model,
and the name and value of what is told follow as JSON.
"""
DAY = "day"
"""What is told of the day of an answer."""
LIKELIEST = "asked for the likeliest tokens"
"""What is told of a server that was asked for them or not."""
SERVED_MOST = 100
"""The most such notes of a run: a server may tell another value with each answer."""
FAILED = "failed "
"""How the name of a note begins that counts failures of a server; part, model and how it
failed follow as JSON.
"""
FROM_CACHE = "prompt tokens from the server's cache "
"""How the name of a note begins that counts them; part and model follow as JSON."""
CLASSES = 3
"""Classes of unusable answers that a result shows."""
EXAMPLE = 240
"""The most characters of the example of a class."""
OF_EPISODES = (
    *("turns", "replays", "activations", "rewards", "judgements"),
    *("episode_facts", "episodes"),
)
"""Tables with what belongs to an episode, but for the answers of models."""
TURNS_AT_ONCE = 100
SECONDS = 0.5
"""After which a turn is written that waits for others."""
PAGE = 64
"""Episodes that are read with one query."""


# A process that may not ask sends null times, which the table refuses.
_ALONE = f"SELECT value FROM facts WHERE name = '{ASKER}'"
_SENT = f"(SELECT 1 WHERE ?4 IS NULL OR ?4 IS ({_ALONE}))"
_RESERVE = f"""
    INSERT INTO requests VALUES (?1, ?2, ?3, {_SENT}, 0, 0, 0, 0, ?5, ?6)
    ON CONFLICT DO UPDATE SET sent = sent + 1
"""
_SETTLE = """
    UPDATE requests SET answered = answered + 1, told = told + ?,
    n_prompt = n_prompt + ?, n_completion = n_completion + ?
    WHERE scope = ? AND request = ?
"""
_COUNT = """
    INSERT INTO facts VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
"""


class Summary(NamedTuple):
    """A finished episode in short."""

    episode: str
    """Its key."""
    condition: int
    world: str
    cluster: str
    seed: int
    """Of the world."""
    turns: int
    ending: Ending
    failure: str
    labels: Labels


class Outcome(NamedTuple):
    """What is told of an episode while the run goes on."""

    success: float | None
    """After the last turn; None without a goal."""
    turns: int
    unusable: int
    """Turns whose answer could not be used."""


class Journal(Database):
    """Reads and writes the record of episodes.

    Several processes may write to one journal.
    """

    def __init__(self, path: Path, *, write: bool = True, frozen: bool = False) -> None:
        super().__init__(path, write=write, frozen=frozen)
        self._interventions: WeakValueDictionary[str, Intervention] = (
            WeakValueDictionary()
        )
        """Interventions in use, by identity: most calls of a run are made with the same
        few.
        """
        self._asked: set[str] = set()
        """The notes on asked models that this process has written."""
        self._told: set[str] = set()
        """The reasons of failures that this process has warned of."""
        self.asker: str | None = None
        """What `asking_alone` has noted; None outside of it."""
        self.together = False
        """Whether turns wait for others before they are written."""
        self._waiting: dict[str, tuple[float, list[Statement]]] = {}
        """What is not written yet of each episode, and since when."""

    @contextmanager
    def asking_alone(self) -> Iterator[None]:
        """Let only this process and its workers ask models.

        Workers may outlive a process that was killed, and would spend what the next
        process counts as left.
        """
        self.asker = token_hex(8)
        self.note(ASKER, self.asker)
        try:
            yield
        finally:
            self.asker = None
            # Where nothing can be written, nothing can be asked either.
            with suppress(RunFailed, sqlite3.Error):
                self.write([("DELETE FROM facts WHERE name = ?", (ASKER,))])

    # Writing, while episodes run

    async def begin(
        self,
        key: EpisodeKey,
        seed: int,
        world: World,
        labels: Mapping[str, Any],
        horizon: int,
    ) -> None:
        """Write the beginning of an episode, soon; a second time is without effect."""
        row = rows.episode_row(key, seed, world, labels, horizon)
        # What was left of an earlier try is played again.
        self._left(str(key))
        await self._soon(str(key), self._beginning(row, "INSERT OR IGNORE"))

    async def fail(self, key: EpisodeKey, seed: int, failure: str) -> None:
        """Write an episode that failed before it had a world."""
        row = rows.episode_row(key, seed, World(id=f"unmade {key}"), {}, 0)
        begun = self._beginning(row, "INSERT OR REPLACE")
        self._left(str(key))
        await self.commit([begun, *_ending(key, "failed", failure, None)])

    def _beginning(self, row: tuple[Any, ...], insert: str) -> Statement:
        not_ended = (None, "", None, None)
        return digests.inserting("episodes", insert), (*row, *not_ended)

    async def turn(self, key: EpisodeKey, turn: Turn) -> None:
        """Write a finished turn, soon; `call` has already written its completions."""
        row = rows.turn_row(key, turn)
        await self._soon(str(key), (digests.inserting("turns"), row))

    async def _soon(self, episode: str, statement: Statement) -> None:
        """Write with the next that is written of an episode, at the latest after so many
        turns or so long.

        Each commit costs whole pages, and a run that goes on repeats what was lost, from
        the answers of models.
        """
        since, waiting = self._waiting.setdefault(episode, (monotonic(), []))
        waiting.append(statement)
        due = len(waiting) >= TURNS_AT_ONCE or monotonic() - since > SECONDS
        if due or not self.together:
            await self._now(episode)
        else:
            # Others get on meanwhile, as they do while something is written.
            await asyncio.sleep(0)

    async def _now(self, episode: str, *statements: Statement) -> None:
        """Write what waits of an episode, and more."""
        waiting = self._left(episode)
        try:
            await self.commit([*waiting, *statements])
        except RunFailed:
            raise
        except Exception:
            # What cannot be written must not cost what came before it.
            for each in waiting:
                await self.commit([each])
            raise

    def _left(self, episode: str) -> list[Statement]:
        """Take what is not written yet of an episode."""
        _, waiting = self._waiting.pop(episode, (0.0, []))
        return waiting

    async def reserve(
        self,
        scope: str,
        request: str,
        model: str,
        most: tuple[int, int],
        failed: str = "",
    ) -> None:
        """Write that a request is about to be sent to a model.

        Args:
            scope: the episode or part that asks.
            request: its identity.
            model: as the user named it.
            most: tokens of prompt and answer that it may take.
            failed: how the server failed when it was sent before; empty otherwise.

        Raises:
            RunFailed: it cannot be written, or another process asks alone.
        """
        asker = None if self.asker is None else rows.to_json(self.asker)
        note = f"{FAILED}{rows.to_json([_part(scope), model, failed])}"
        counted = [(_COUNT, (note, "1"))] if failed and self._is_told(note) else []
        try:
            reserve = (_RESERVE, (scope, request, model, asker, *most))
            await self._now(scope, reserve, *counted)
        except sqlite3.IntegrityError as error:
            raise RunFailed(
                "another process goes on with this run: this one asks no more"
            ) from error

    def _is_told(self, note: str) -> bool:
        """Whether there is room for a note on what a server tells."""
        if len(self._asked) < SERVED_MOST:
            self._asked.add(note)
        return note in self._asked

    def settle(self, scope: str, request: str, answer: Completion) -> None:
        """Write that a request has been answered, and the tokens that this took.

        It is committed with the next commit, which is that of the answer: a run that is
        interrupted here has both or neither.
        """
        n_prompt, n_completion = answer.n_prompt, answer.n_completion
        told = n_prompt is not None and n_completion is not None
        taken = (n_prompt, n_completion) if told else (0, 0)
        self.commit_soon([(_SETTLE, (int(told), *taken, scope, request))])

    async def call(
        self, scope: str, turn: int | None, completion: Completion, day: str = ""
    ) -> None:
        """Write a language model's answer to a request of an episode or part.

        Args:
            scope: the episode or part.
            turn: of the episode; None outside of turns.
            completion: the answer, with its request.
            day: of the answer, e.g. "2026-11-23"; empty where it is not known.
        """
        query = f"INSERT OR IGNORE INTO interventions VALUES ({_places(7)})"
        statements: list[Statement] = [
            (query, rows.intervention_row(each)) for each in completion.interventions
        ]
        row = rows.call_row(scope, turn, completion)
        statements.append((digests.inserting("calls"), row))

        # Notes, not columns: all calls of a day would repeat them.
        who = (_part(scope), completion.model)
        told: dict[str, Any] = {}
        if len(self._asked) < SERVED_MOST:
            told.update(completion.served)
        if day:
            told[DAY] = day
        if completion.likeliest is not None:
            told[LIKELIEST] = completion.likeliest
        notes = {f"{TOLD}{rows.to_json([*who, *each])}" for each in told.items()}
        if completion.n_prompt_cached and day:
            counted = f"{FROM_CACHE}{rows.to_json(who)}"
            statements.append((_COUNT, (counted, str(completion.n_prompt_cached))))
        new = notes - self._asked
        note_query = "INSERT OR IGNORE INTO facts VALUES (?, '{}')"
        statements += [(note_query, (note,)) for note in sorted(new)]

        await self._now(scope, *statements)
        self._asked |= new

    async def end(
        self,
        key: EpisodeKey,
        ending: Ending,
        failure: str,
        final: State | None,
        also: Sequence[Statement] = (),
    ) -> None:
        """Write the end of an episode, and what is known of it then."""
        state = (
            None
            if final is None
            else rows.to_json({"facts": final.facts, "index": final.index})
        )
        ended = _ending(key, ending, failure, state)
        await self._now(str(key), *ended, *also)

    def tell_failure(self, subject: str, reason: str, text: str) -> None:
        """Warn of the first failure with this reason and keep its traceback, if any."""
        if reason not in self._told:
            self._told.add(reason)
            LOG.warning("%s: %s", subject, self.secrets.scrubbed(reason))
        if not text:
            return
        few = f"(SELECT count(*) FROM facts WHERE name LIKE '{TRACEBACK}%') < {TRACEBACKS}"
        values = (f"{TRACEBACK}{reason[:REASON]}", rows.to_json(text))
        query = f"INSERT OR IGNORE INTO facts SELECT ?, ? WHERE {few}"
        self.write([(query, values)])

    def forget_failed(self) -> int:
        """Delete the failed episodes so that they begin anew, and note the reasons.

        Returns their number.

        The answers of models in them are kept.
        """
        failed = dict(self.failed_episodes())
        known: dict[str, list[str]] = self.noted(RETRIED, dict) or {}
        for episode, reason in failed.items():
            known.setdefault(episode, []).append(reason)
        note = (RETRIED, rows.to_json(known))
        self.forget(failed, [("INSERT OR REPLACE INTO facts VALUES (?, ?)", note)])
        return len(failed)

    def forget(self, episodes: Iterable[str], also: Sequence[Statement] = ()) -> None:
        """Delete episodes with all that was made of them, but the answers of models.

        Other statements are committed with it.
        """
        query = "DELETE FROM {} WHERE episode = ?"
        statements = [*also]
        for episode in episodes:
            statements += [(query.format(each), (episode,)) for each in OF_EPISODES]
        if statements:
            stages = ("episodes", "activations", "rewards", "facts")
            manifest.begin(self.folder, *stages)
            self.write(statements)

    def mend(self) -> None:
        """Delete damaged answers, and damaged episodes that have not ended.

        They are asked and played again.

        Raises:
            RunFolderError: an episode that has ended is damaged.
        """
        finished = self.finished()
        scopes = []
        answers: list[Statement] = []
        for table, scope, request in self.damaged():
            if scope in finished:
                raise digests.damaged(scope)
            scopes.append(scope)
            if table == "calls":
                query = "DELETE FROM calls WHERE scope = ? AND request = ?"
                answers.append((query, (scope, request)))
        self.forget(scopes, answers)

    # Reading

    def finished(self) -> set[str]:
        """Keys of all episodes that have ended."""
        return {*self.column("SELECT episode FROM episodes WHERE ending IS NOT NULL")}

    def unfinished(self) -> str:
        """Say whether episodes of the plan are left; empty if all are finished."""
        planned = self.noted("episodes", int)
        ended = len(self.finished())
        if planned is None or ended >= planned:
            return ""
        return f"{ended} of {planned} episodes are finished; resume with `gde resume`"

    def turns_played(self) -> dict[str, int]:
        """The number of turns of the episodes that have begun and not failed."""
        counted = "(SELECT count(*) FROM turns WHERE turns.episode = episodes.episode)"
        query = f"SELECT episode, coalesce(turns, {counted}) AS n FROM episodes WHERE ending IS NOT 'failed'"
        return dict(map(tuple, self.query(query)))

    def turns_ended(self) -> list[tuple[str, int]]:
        """Episode and index of every turn of the finished episodes, in order."""
        query = """SELECT episode, turn FROM turns JOIN episodes USING (episode)
            WHERE ending IS NOT NULL ORDER BY condition, world, repeat, turn"""
        return [(episode, turn) for episode, turn in self.query(query)]

    def begun_since(self, last: int) -> list[tuple[int, str, bool]]:
        """Number, key and end of the episodes after the given number.

        The end says whether the episode has ended.
        """
        query = "SELECT rowid, episode, ending IS NOT NULL FROM episodes WHERE rowid > ? ORDER BY rowid"
        found = self.query(query, (last,))
        return [(number, episode, bool(over)) for number, episode, over in found]

    def outcomes(self, episodes: Sequence[str]) -> list[Outcome]:
        """What became of these episodes."""
        of_it = "FROM turns WHERE episode = each.value"
        query = f"""SELECT (SELECT success {of_it} ORDER BY turn DESC LIMIT 1),
            (SELECT count(*) {of_it}), (SELECT count(*) {of_it} AND status != 'ok')
            FROM json_each(?) AS each"""
        return [Outcome(*row) for row in self.query(query, (rows.to_json(episodes),))]

    def under_way(self, last: int = 0) -> float:
        """The sum, over episodes under way, of their turns as a share of the horizon.

        Only episodes with a higher number than `last` count.
        """
        done = "(SELECT max(turn) + 1 FROM turns WHERE turns.episode = episodes.episode) * 1.0 / horizon"
        query = f"SELECT total({done}) FROM episodes WHERE ending IS NULL AND rowid > ?"
        (share,) = self.column(query, (last,))
        return float(share)

    def world(self, episode: str) -> str | None:
        """Id of the episode's world, None before it has begun."""
        query = "SELECT world_id FROM episodes WHERE episode = ?"
        return next(iter(self.column(query, (episode,))), None)

    def calls(self, scope: str) -> dict[str, Completion]:
        """Every completion requested by an episode or part, by request."""
        found = {}
        for row in self.call_rows(scope):
            with decoding("calls"):
                identities = json.loads(row["interventions"])
                interventions = tuple(map(self._intervention, identities))
            found[row["request"]] = rows.read_completion(row, interventions)
        return found

    def call_rows(self, scope: str) -> Iterator[sqlite3.Row]:
        """The rows of an episode's or part's calls.

        Raises:
            RunFolderError: one is not as it was written.
        """
        query = f"{digests.selecting('calls')} WHERE scope = ?"
        for row in self.each(query, (scope,)):
            if not digests.is_whole("calls", row):
                raise digests.damaged(scope)
            yield row

    def _intervention(self, identity: str) -> Intervention:
        known = self._interventions.get(identity)
        if known is not None:
            return known
        query = "SELECT * FROM interventions WHERE intervention = ?"
        found = [*map(rows.read_intervention, self.query(query, (identity,)))]
        if [each.identity for each in found] != [identity]:
            raise RunFolderError(
                f"run.sqlite: the intervention {identity} of a call is missing or changed; {ADVICE}"
            )
        (intervention,) = found
        self._interventions[identity] = intervention
        return intervention

    def decisions(self, episode: str) -> list[Decision]:
        """Decisions of the finished turns, in order, without their completions."""
        query = "SELECT * FROM turns WHERE episode = ? ORDER BY turn"
        decisions = []
        for row in self.query(query, (episode,)):
            status, action, detail = row["status"], row["action"], row["detail"]
            decisions.append(Decision(status=status, action=action, detail=detail))
        return decisions

    def probes(self) -> set[str]:
        """The probes that have stored fits."""
        return {*self.column("SELECT DISTINCT probe FROM probes")}

    def failed_episodes(self) -> list[tuple[str, str]]:
        """The episodes that failed, in their order, each with its reason."""
        query = "SELECT episode, failure FROM episodes WHERE ending = 'failed' ORDER BY condition, world, repeat"
        return [(episode, reason) for episode, reason in self.query(query)]

    def tracebacks(self) -> dict[str, str]:
        """Tracebacks of failures, by the first characters of their reasons."""
        query = f"SELECT * FROM facts WHERE name LIKE '{TRACEBACK}%' ORDER BY name"
        known = self.query(query)
        with decoding("facts"):
            return {
                row["name"].removeprefix(TRACEBACK): json.loads(row["value"])
                for row in known
            }

    @decoding("facts")
    def told(self) -> dict[tuple[str, str], dict[str, list[Any]]]:
        """What is told of answers, by part and model and by name; the part of all
        episodes is empty.
        """
        found: dict[tuple[str, str], dict[str, list[Any]]] = {}
        for who, (name, value), _ in self._notes(TOLD):
            found.setdefault(who, {}).setdefault(name, []).append(value)
        return found

    @decoding("facts")
    def failed_tries(self) -> dict[tuple[str, str], dict[str, int]]:
        """How often servers failed in each way, by part and model; the part of all
        episodes is empty.
        """
        found: dict[tuple[str, str], dict[str, int]] = {}
        for who, (failed,), n in self._notes(FAILED):
            found.setdefault(who, {})[failed] = int(n)
        return found

    def _notes(self, begin: str) -> Iterator[tuple[tuple[str, str], list[Any], Any]]:
        """The notes on models whose names begin so: part and model, what else the name
        has, and the value.
        """
        names = f"{begin}[%"
        query = "SELECT name, value FROM facts WHERE name LIKE ? ORDER BY name"
        for row in self.query(query, (names,)):
            part, model, *more = json.loads(row["name"].removeprefix(begin))
            yield (part, model), more, row["value"]

    def counts(self) -> dict[str, int]:
        """The numbers of a `gde.data.result.Subject`."""
        (row,) = self.query(
            "SELECT count(*) AS episodes, coalesce(sum(ending = 'failed'), 0) AS failed,"
            " count(DISTINCT CASE WHEN ending <> 'failed' THEN world_id END) AS worlds"
            " FROM episodes WHERE ending IS NOT NULL"
        )
        # The least double is minus infinity, see `Trajectory.impossible`.
        (unsolvable,) = self.query(
            "SELECT count(DISTINCT world_id) AS impossible FROM episodes LEFT JOIN turns"
            " ON turns.episode = episodes.episode AND turn = 0 WHERE ending IS NOT NULL AND ending <> 'failed'"
            " AND (value = -9e999 OR CASE WHEN json_valid(facts) THEN json_extract(facts, ?) END IS NOT NULL)",
            (f"$.{IMPOSSIBLE}",),
        )
        (answers,) = self.query(
            "SELECT count(*) AS turns, coalesce(sum(status <> 'ok'), 0) AS unusable"
            " FROM turns JOIN episodes USING (episode) WHERE ending IS NOT NULL AND ending <> 'failed'"
        )
        return {**dict(row), **dict(unsolvable), **dict(answers)}

    def unusable_classes(self) -> tuple[UnusableAnswers, ...]:
        """The most frequent classes of unusable answers, each with its first example."""
        # The first by its place in the plan, whatever order the episodes were played in.
        numbered = (
            "SELECT status, detail, count(*) OVER (PARTITION BY status) AS answers,"
            " row_number() OVER (PARTITION BY status ORDER BY condition, world, repeat, turn) AS place"
            " FROM turns JOIN episodes USING (episode) WHERE status <> 'ok' AND ending <> 'failed'"
        )
        query = f"SELECT * FROM ({numbered}) WHERE place = 1 ORDER BY answers DESC, status LIMIT {CLASSES}"
        found = []
        for row in self.query(query):
            example = shorten(row["detail"], EXAMPLE, placeholder="...")
            found.append(
                UnusableAnswers(
                    status=row["status"], answers=row["answers"], example=example
                )
            )
        return tuple(found)

    def episodes(self) -> list[str]:
        """Keys of the finished episodes, in order."""
        query = "SELECT episode FROM episodes WHERE ending IS NOT NULL ORDER BY condition, world, repeat"
        return self.column(query)

    def heads(self) -> list[Head]:
        """The finished episodes in order, without what happened in them."""
        query = """SELECT episode, condition, world_id, iif(base = '', world_id, base), ending FROM episodes
            WHERE ending IS NOT NULL ORDER BY condition, world, repeat"""
        return [Head(*row) for row in self.query(query)]

    def served(self) -> dict[str, str]:
        """The names that models gave themselves, by the episode that they answered; those
        of several models in one text.
        """
        query = """SELECT DISTINCT scope, answered_by FROM calls
            WHERE answered_by <> '' AND NOT instr(scope, ' ') ORDER BY scope, answered_by"""
        found: dict[str, list[str]] = {}
        for scope, name in self.query(query):
            found.setdefault(scope, []).append(name)
        return {scope: " and ".join(names) for scope, names in found.items()}

    def summaries(self) -> Iterator[Summary]:
        """The finished episodes in the order of keys."""
        query = f"{digests.selecting('episodes')} WHERE ending IS NOT NULL ORDER BY condition, world, repeat"
        for row in self.query(query):
            if not digests.is_whole("episodes", row):
                raise digests.damaged(row["episode"])
            with decoding("episodes"):
                labels = dict(json.loads(row["labels"]))
            yield Summary(
                episode=row["episode"],
                condition=row["condition"],
                world=row["world_id"],
                cluster=row["base"] or row["world_id"],
                seed=row["seed"],
                turns=row["turns"],
                ending=row["ending"],
                failure=row["failure"],
                labels=labels,
            )

    def trajectories(
        self, episodes: Sequence[str] | None = None
    ) -> Iterator[Trajectory]:
        """Finished episodes, read page by page: the given ones, or all in order."""
        wanted = self.episodes() if episodes is None else episodes
        for start in range(0, len(wanted), PAGE):
            yield from self._page(wanted[start : start + PAGE])

    def trajectory(self, episode: str) -> Trajectory:
        """One finished episode."""
        (one,) = self._page([episode])
        return one

    def turns_since(self, last: int) -> tuple[int, list[tuple[str, Turn]]]:
        """The turns after the given number, and the number of the last of them."""
        turns = []
        for row in self.query(
            "SELECT *, rowid FROM turns WHERE rowid > ? ORDER BY rowid", (last,)
        ):
            last = row["rowid"]
            with decoding("turns"):
                turns.append((row["episode"], rows.read_turn(row, None)))
        return last, turns

    def last_turn(self) -> int:
        """The number of the turn that was committed last, 0 before the first."""
        (last,) = self.column("SELECT coalesce(max(rowid), 0) FROM turns")
        return int(last)

    def _page(self, episodes: Sequence[str]) -> Iterator[Trajectory]:
        wanted = f"({_places(len(episodes))})"
        heads = {}
        for row in self.query(
            f"{digests.selecting('episodes')} WHERE episode IN {wanted}", episodes
        ):
            heads[row["episode"]] = row

        # In the order of the primary key, so that nothing is sorted.
        turns = self.query(
            f"{digests.selecting('turns')} WHERE episode IN {wanted} ORDER BY episode, turn",
            episodes,
        )
        parts = {
            episode: list(part)
            for episode, part in groupby(turns, itemgetter("episode"))
        }
        for episode in episodes:
            part = parts.get(episode, ())
            asked = any(row["completion"] is not None for row in part)
            calls = self.calls(episode) if asked else {}
            yield rows.read_trajectory(episode, heads.get(episode), part, calls)


def _part(scope: str) -> str:
    """A scope whose calls are counted together: a part, or empty for all episodes."""
    # Those of parts are "KIND LABEL"; the key of an episode has no blank.
    return scope if " " in scope else ""


def _ending(
    key: EpisodeKey, ending: Ending, failure: str, final_state: str | None
) -> list[Statement]:
    """The statements that end an episode."""
    count = "(SELECT count(*) FROM turns WHERE turns.episode = episodes.episode)"
    query = f"UPDATE episodes SET ending = ?, failure = ?, final_state = ?, turns = {count} WHERE episode = ?"
    digest = f"{digests.renewing('episodes')} WHERE episode = ?"
    values = (ending, failure, final_state, str(key))
    return [(query, values), (digest, (str(key),))]


def _places(n: int) -> str:
    """Places for n values in a query."""
    return ", ".join("?" * n)
