"""The episodes of a run in shares for workers, which may die.

Nobody can tell which of the episodes under way has ended a process. So all of them are
suspects: another worker plays them again, one at a time. Processes are killed from
outside, too. So an episode has failed only when it has ended its process alone, twice
at the same turn, and all others go on.
"""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

from gde.data.trajectory import EpisodeKey
from gde.errors import RunFailed, WorkerDied
from gde.offers import ModelOffer
from gde.parts.executor import Ask
from gde.request.ready import Ready
from gde.request.versions import Versions, check_worker, playing
from gde.runs.stopping import Stop
from gde.stages.budget import Cost, Left, cost_before, gone, left_of
from gde.stages.context import Resources
from gde.stages.rollout import (
    Listed,
    at_once,
    count_episodes,
    episode_keys,
    roll_out,
    seed_of,
)
from gde.store.copying import DistantJournal, copied
from gde.store.journal import Journal

Known = tuple[Journal, Left | None]
"""The journal of a run, or a part of it, and what may still be spent."""
MOST_DEATHS = 20
"""Workers that may die over one share, without one more turn of an episode that has not
failed, before the run stops: each costs the start of another.
"""


@dataclass(frozen=True, kw_only=True)
class Share:
    """Every `of`-th episode of a run: one worker's work."""

    ready: Ready
    worlds: Listed
    index: int
    of: int
    deaths: int = 0
    """Workers that have died over it since its last progress."""
    suspects: tuple[EpisodeKey, ...] = ()
    """Played one at a time before the others."""
    progress: int = 0
    """Most turns of its episodes that were there when a worker died."""
    accused: tuple[str, int] | None = None
    """The episode that was alone when a worker died, and its turns by then."""
    until: float | None = None
    """When `run.run_seconds` are over, in seconds since the epoch."""
    most: Left | None = None
    """The budget of its episodes, spent and unspent; None for the whole budget of the
    plan.
    """
    versions: Versions = field(default_factory=dict)
    """Those that the run is played with."""
    asker: str | None = None
    """As `Journal.asker`."""

    def episodes(self) -> Iterator[EpisodeKey]:
        """Yield its episodes in their order."""
        for i, key in enumerate(episode_keys(self.ready, self.worlds)):
            if i % self.of == self.index:
                yield key

    @property
    def note(self) -> str:
        """The name of the journal's note of the suspect that is being played."""
        return f"alone {self.index}/{self.of}"


def shares(ready: Ready, worlds: Listed, journal: Journal, workers: int) -> list[Share]:
    """Divide all episodes of a run into equal shares, with the remaining budget."""
    of = _useful_workers(workers, ready, count_episodes(ready, worlds))
    seconds = ready.how.run_seconds
    until = None if seconds is None else time() + seconds
    whole = Share(
        ready=ready,
        worlds=worlds,
        index=0,
        of=of,
        until=until,
        versions=playing(ready),
        asker=journal.asker,
    )
    left = left_of(ready.how, cost_before(journal, ready.how.prices))
    found = []
    for index in range(of):
        share = replace(whole, index=index)
        if of > 1 and left:
            # What it has spent already counts, so that a resumed share knows its budget.
            spent = gone(_spent(share, journal))
            most = {}
            for name, amount in left.items():
                most[name] = _part(name, amount, index, of) + spent[name]
            share = replace(share, most=most)
        found.append(share)
    return found


def _useful_workers(workers: int, ready: Ready, n: int) -> int:
    # A model that answers all requests together takes as long for half of them, so two
    # workers would compute twice.
    for model in ready.models.values():
        offer = model.entry.offer
        if isinstance(offer, ModelOffer) and offer.batches:
            n_batches = max(1, n // at_once(ready))
            workers = min(workers, n_batches)
            break
    return min(n, workers)


def _part(name: str, left: float, index: int, of: int) -> float:
    if name == "max_cost":
        return left / of
    # There are no fractions of calls and tokens: the first shares get one more.
    gets_one_more = index < left % of
    return left // of + gets_one_more


def _spent(share: Share, journal: Journal) -> Cost:
    episodes = {str(key) for key in share.episodes()}
    return cost_before(journal, share.ready.how.prices, episodes)


def left_to(share: Share, journal: Journal) -> Left | None:
    """Give what a share may still spend; None for the whole budget of the plan."""
    if share.most is None:
        return None
    spent = gone(_spent(share, journal))
    return {name: most - spent[name] for name, most in share.most.items()}


@dataclass(frozen=True)
class Sharing:
    """Rolls a share out. Implements `gde.parts.executor.Survivable`."""

    path: Path
    """The file of the journal."""
    stop: Stop

    def __call__(self, share: Share, ask: Ask | None = None) -> None:
        """Run a share of the episodes.

        On a machine that does not see the run folder, it asks with the share for what
        the journal knows of it and what it may spend, and later with what is to be
        written (see `answer`).

        Raises:
            RunFailed: the journal cannot be written, the time of the plan is over, or
                the run was stopped.
        """
        check_worker(share.versions, playing(share.ready))
        opened = self._opened(share) if ask is None else _distant(share, ask)
        with opened as (journal, left):
            journal.asker = share.asker
            with closing(Resources(share.ready, journal, left=left)) as resources:
                self.stop.run(_roll_out(share, resources, journal))

    @contextmanager
    def _opened(self, share: Share) -> Iterator[Known]:
        with closing(Journal.open(self.path)) as journal:
            yield journal, left_to(share, journal)

    def after_death(self, share: Share, died: WorkerDied) -> Share:
        """Give the share with which another worker goes on.

        Raises:
            WorkerDied: too many workers have died without progress.
        """
        keys = list(share.episodes())
        with closing(Journal.open(self.path)) as journal:
            alone = journal.noted(share.note) if share.suspects else None
            accused = None
            for key in keys:
                if str(key) != alone or alone in journal.finished():
                    continue
                accused = (str(key), journal.turns_played().get(str(key), 0))
                if accused == share.accused:
                    asyncio.run(_fail(share, key, died, journal))
            journal.note(share.note, None)
            ended = journal.finished()
            played = journal.turns_played()

        # Where every worker dies at once, the next one would, too.
        progress = sum(played.get(str(key), 0) for key in keys)
        deaths = 1 if progress > share.progress else share.deaths + 1
        if deaths > MOST_DEATHS:
            raise died

        left = [key for key in keys if str(key) not in ended]
        return replace(
            share,
            deaths=deaths,
            suspects=tuple(left[: at_once(share.ready)]),
            progress=max(progress, share.progress),
            accused=accused,
        )


@contextmanager
def _distant(share: Share, ask: Ask) -> Iterator[Known]:
    with (
        TemporaryDirectory(prefix="gde-") as folder,
        closing(DistantJournal.create(Path(folder) / "run.sqlite")) as journal,
    ):
        known, left = ask(share)
        journal.write(known)
        journal.send = ask
        yield journal, left


def answer(journal: Journal, message: Any) -> Any:
    """Answer a distant share, in the process that holds the journal."""
    if isinstance(message, Share):
        episodes = {str(key) for key in message.episodes()}
        return copied(journal, episodes), left_to(message, journal)
    return journal.write(message)


async def _roll_out(share: Share, resources: Resources, journal: Journal) -> None:
    ready = share.ready
    seconds = None
    if share.until is not None:
        seconds = max(0.0, share.until - time())

    try:
        async with asyncio.timeout(seconds):
            # The note is written before the episode, since nothing can be written once
            # the process has died.
            for key in share.suspects:
                journal.note(share.note, str(key))
                await roll_out(ready, resources, [key], share.worlds, journal)
            if share.suspects:
                journal.note(share.note, None)
            journal.together = True
            await roll_out(ready, resources, share.episodes(), share.worlds, journal)
    except TimeoutError:
        raise RunFailed(
            f"run.run_seconds={ready.how.run_seconds:g} are over; resume with `gde resume`"
        ) from None


async def _fail(
    share: Share, key: EpisodeKey, died: WorkerDied, journal: Journal
) -> None:
    reason = f"its worker process {died.death}, twice at the same turn, while it played no other episode"
    if journal.world(str(key)) is None:
        await journal.fail(key, seed_of(share.ready, share.worlds, key), reason)
    else:
        await journal.end(key, "failed", reason, None)
