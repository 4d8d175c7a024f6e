"""The episodes of a run in shares, one for each worker, and what becomes of a share whose worker has died.

Nobody can tell which of the episodes under way has ended a process. So those that can have done it are played again by
another worker, one at a time; the one that ends that process too has failed, and all others go on.
"""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

from gde.data.trajectory import EpisodeKey
from gde.errors import RunFailed, WorkerDied
from gde.offers import ModelOffer
from gde.parts.executor import Ask
from gde.request.resolve import Ready
from gde.runs.stopping import Stop
from gde.stages.budget import Cost, Left, cost_before, gone, left_of
from gde.stages.context import Resources
from gde.stages.rollout import Listed, at_once, count_episodes, episode_keys, roll_out, seed_of
from gde.store.copying import DistantJournal, copied
from gde.store.journal import Journal

MOST_DEATHS = 20
"""Workers that may die over one share before the run stops: each costs the start of another."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """Every `of`-th episode of a run: one worker's work."""

    ready: Ready
    worlds: Listed
    index: int
    of: int
    deaths: int = 0
    """Workers that have died over it."""
    suspects: tuple[EpisodeKey, ...] = ()
    """Played one at a time before the others."""
    finished: int = -1
    """Episodes of the share that had ended when a worker died over it last."""
    until: float | None = None
    """Seconds since the epoch at which `run.run_seconds` are over, whoever works on it by then."""
    most: Left | None = None
    """What its episodes may cost in all, None for what the plan allows: whatever becomes of its workers."""

    def episodes(self) -> Iterator[EpisodeKey]:
        """In their order."""
        return (key for i, key in enumerate(episode_keys(self.ready, self.worlds)) if i % self.of == self.index)

    @property
    def note(self) -> str:
        """The name of the journal's note of the episode that is played alone."""
        return f"alone {self.index}/{self.of}"


def shares(ready: Ready, worlds: Listed, journal: Journal, workers: int) -> list[Share]:
    """All episodes of a run, in equal parts, each with its part of what the run may still spend."""
    of, seconds = _of_use(workers, ready, count_episodes(ready, worlds)), ready.plan.run_seconds
    until = None if seconds is None else time() + seconds
    every = [Share(ready=ready, worlds=worlds, index=i, of=of, until=until) for i in range(of)]
    left = left_of(ready.plan, cost_before(journal, ready.plan.prices))
    if of < 2 or not left:
        return every
    parts = ({name: _part(name, each, share.index, of) for name, each in left.items()} for share in every)
    before = (gone(_spent(share, journal)) for share in every)
    return [
        replace(share, most={name: part[name] + known[name] for name in part})
        for share, part, known in zip(every, parts, before, strict=True)
    ]


def _of_use(workers: int, ready: Ready, n: int) -> int:
    """How many of the workers have something to do that others would not do in the same time: two that answer half of
    the episodes each compute twice, where a model answers all together."""
    offers = [model.entry.offer for model in ready.models.values()]
    batches = any(isinstance(offer, ModelOffer) and offer.batches for offer in offers)
    return min(n, workers, max(1, n // at_once(ready)) if batches else workers)


def _part(name: str, left: float, index: int, of: int) -> float:
    """Of calls and tokens there are no fractions."""
    return left / of if name == "max_cost" else left // of + (index < left % of)


def _spent(share: Share, journal: Journal) -> Cost:
    return cost_before(journal, share.ready.plan.prices, {str(key) for key in share.episodes()})


def left_to(share: Share, journal: Journal) -> Left | None:
    """What a share may still spend; None for what the plan allows."""
    if share.most is None:
        return None
    spent = gone(_spent(share, journal))
    return {name: most - spent[name] for name, most in share.most.items()}


@dataclass(frozen=True)
class Sharing:
    """Implements `gde.parts.executor.Survivable`: rolls a share out."""

    path: Path
    """Of the journal."""
    stop: Stop
    keys_to: Collection[str] | None

    def __call__(self, share: Share) -> None:
        """Run a share of the episodes; the unit of work of an executor.

        Raises:
            RunFailed: the journal cannot be written, the time of the plan is over, or the run was stopped.
        """
        with (
            closing(Journal.open(self.path)) as journal,
            closing(Resources(share.ready, journal, left=left_to(share, journal), keys_to=self.keys_to)) as resources,
        ):
            self.stop.run(_within(share, resources, journal))

    def after_death(self, share: Share, died: WorkerDied) -> Share:
        """The share, to be gone on with by another worker.

        Raises:
            WorkerDied: no episode has ended since a worker has died over it before, or many have died.
        """
        with closing(Journal.open(self.path)) as journal:
            ended, keys = journal.finished(), [*share.episodes()]
            alone = journal.noted(share.note) if share.suspects else None
            culprit = next((key for key in keys if str(key) == alone and alone not in ended), None)
            if culprit is not None:
                _fail(share, culprit, died, journal)
                ended.add(str(culprit))
            journal.note(share.note, None)
        left = [key for key in keys if str(key) not in ended]
        finished = len(keys) - len(left)
        if finished <= share.finished or share.deaths >= MOST_DEATHS:
            raise died
        suspects = tuple(left[: at_once(share.ready)])
        return replace(share, deaths=share.deaths + 1, suspects=suspects, finished=finished)


@dataclass(frozen=True)
class DistantSharing:
    """Rolls a share out where the run folder is not seen: what is written is sent to whoever holds the journal."""

    near: Sharing

    def __call__(self, share: Share, ask: Ask) -> None:
        """As `Sharing`. Sends a share and is given what the journal knows of it and what it may spend, then sends what
        is to be written."""
        with (
            TemporaryDirectory(prefix="gde-") as folder,
            closing(DistantJournal.create(Path(folder) / "run.sqlite")) as journal,
        ):
            known, left = ask(share)
            with closing(Resources(share.ready, journal, left=left, keys_to=self.near.keys_to)) as resources:
                journal.write(known)
                journal.send = ask
                self.near.stop.run(_within(share, resources, journal))

    def after_death(self, share: Share, died: WorkerDied) -> Share:
        """As `Sharing`."""
        return self.near.after_death(share, died)


def answer(journal: Journal, message: Any) -> Any:
    """What a distant share is answered by the process that holds the journal."""
    if isinstance(message, Share):
        return copied(journal, {str(key) for key in message.episodes()}), left_to(message, journal)
    return journal.write(message)


async def _within(share: Share, resources: Resources, journal: Journal) -> None:
    ready = share.ready
    try:
        async with asyncio.timeout(None if share.until is None else max(0.0, share.until - time())):
            for key in share.suspects:
                journal.note(share.note, str(key))
                await roll_out(ready, resources, [key], share.worlds, journal)
            if share.suspects:
                journal.note(share.note, None)
            await roll_out(ready, resources, share.episodes(), share.worlds, journal)
    except TimeoutError:
        raise RunFailed(f"run.run_seconds={ready.plan.run_seconds:g} are over; go on with `gde resume`") from None


def _fail(share: Share, key: EpisodeKey, died: WorkerDied, journal: Journal) -> None:
    reason = f"its worker process {died.death}, twice: the second time while it played no other episode"
    seed = seed_of(share.ready, share.worlds, key)
    asyncio.run(journal.fail(key, seed, reason) if journal.world(str(key)) is None else _end(key, reason, journal))


async def _end(key: EpisodeKey, reason: str, journal: Journal) -> None:
    await journal.end(key, "failed", reason, None)
