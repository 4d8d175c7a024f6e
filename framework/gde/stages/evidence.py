"""A run folder as evidence: lazy trajectories, and MDPs of worlds."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from itertools import compress
from pathlib import Path
from typing import overload
from weakref import WeakValueDictionary

import numpy as np

from gde.data.episode_table import EpisodeTable, Head
from gde.data.evidence import Evidence
from gde.data.how import How
from gde.data.json import Labels
from gde.data.mdp import TabularMDP
from gde.data.plan import Plan
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.offers import Capability
from gde.parts.environment import Environment
from gde.request.catalogue import Catalogue
from gde.request.finding import DEFAULT_HOW
from gde.request.ready import Condition, Ready, untrusted
from gde.request.resolve import resolve
from gde.stages.beginning import begin
from gde.stages.context import Resources, check_world
from gde.stages.telling import no_process
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.probes import read_reports
from gde.store.rewards import read_traces
from gde.validating import checked

KEPT = 64 * 2**20
"""Largest journal, in bytes, whose episodes are kept in memory once they are read;
there they take up to nine times as much (tokens are Python integers). Episodes of a
larger journal are read anew whenever they are iterated over.
"""
Holds = Callable[[Head], bool]
RECENT = 64
"""Number of decision processes that are kept: episodes come in the order of their
worlds.
"""


class Recorded(Sequence[Trajectory]):
    """The finished episodes of a journal, all or some."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._whole: Recorded | None = None
        """All episodes, if these are some of them."""
        self.tables: Mapping[object, EpisodeTable] = {}
        """Facts of the episodes by metric, where they are known."""

    @cached_property
    def episodes(self) -> list[str]:
        """Their keys, in order."""
        with closing(Journal.open(self._path, write=False)) as journal:
            return journal.episodes()

    @cached_property
    def heads(self) -> list[Head]:
        """One an episode, in order."""
        with closing(Journal.open(self._path, write=False)) as journal:
            return journal.heads()

    def part(self, holds: Holds) -> "Recorded":
        """The episodes of which something holds."""
        chosen = np.array([holds(head) for head in self.heads], dtype=bool)
        part = Recorded(self._path)
        part._whole = self
        part.heads = [*compress(self.heads, chosen)]
        part.episodes = [head.episode for head in part.heads]
        part.tables = {
            metric: table.where(chosen) for metric, table in self.tables.items()
        }
        return part

    def __len__(self) -> int:
        return len(self.episodes)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self._kept) if self._are_kept else self._read(self.episodes)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Trajectory, ...]: ...

    def __getitem__(self, index: int | slice) -> Trajectory | tuple[Trajectory, ...]:
        if isinstance(index, slice):
            return tuple(self._read(self.episodes[index]))
        (one,) = self._read([self.episodes[index]])
        return one

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _are_kept(self) -> bool:
        with closing(Journal.open(self._path, write=False)) as journal:
            return journal.size() <= KEPT

    @cached_property
    def _kept(self) -> tuple[Trajectory, ...]:
        if self._whole is not None:
            chosen = set(self.episodes)
            return tuple(one for one in self._whole if str(one.key) in chosen)
        return tuple(self._read(self.episodes))

    def _read(self, episodes: Sequence[str]) -> Iterator[Trajectory]:
        with closing(Journal.open(self._path, write=False)) as journal:
            yield from journal.trajectories(episodes)


@checked
def load_evidence(path: Path | str, catalogue: Catalogue | None = None) -> Evidence:
    """Load everything that a run recorded, for use in one's own code.

    Of a run that the user does not trust, no world is made.
    """
    folder = RunFolder.open(Path(path))
    ready = partial(parts_of, folder, catalogue)
    with closing(folder.journal()) as journal:
        return gather(folder, journal, ready)


def parts_of(
    folder: RunFolder,
    catalogue: Catalogue | None = None,
    plan: Plan | None = None,
    how: How = DEFAULT_HOW,
) -> Ready:
    """The parts of a recorded run; of one that the user does not trust, none are made
    but metrics that read turns alone.

    Args:
        folder: of the run.
        catalogue: the parts that are offered; None for all that are installed.
        plan: of the run, perhaps with its objects; None for the one in the folder.
        how: it is read.
    """
    catalogue = catalogue or Catalogue.default()
    ready = resolve(plan or folder.plan(), catalogue, how, absent=True)
    return ready if folder.is_trusted else untrusted(ready)


def gather(
    folder: RunFolder,
    journal: Journal,
    ready: Callable[[], Ready],
) -> Evidence:
    """The evidence of a run, from its folder and its open journal."""
    worlds = Worlds(ready)
    return Evidence(
        trajectories=Recorded(folder.journal_path),
        reward_traces=read_traces(journal),
        probe_reports=read_reports(journal, folder.probes),
        seed=folder.plan().seed,
        served=journal.served(),
        mdp=worlds.mdp,
        begin=worlds.begin,
    )


def restricted(evidence: Evidence, labels: Labels, holds: Holds) -> Evidence:
    """The evidence of the episodes of which something holds, as labels say.

    It has no probe reports: probes are fitted to the whole run, and break their own
    numbers down.
    """
    every = evidence.trajectories
    chosen: Sequence[Trajectory]
    if isinstance(every, Recorded):
        chosen = part = every.part(holds)
        # Their keys are known without reading the episodes.
        episodes = set(part.episodes)
    else:
        chosen = tuple(one for one in every if holds(Head.of(one)))
        episodes = {str(one.key) for one in chosen}
    traces = (each for each in evidence.reward_traces if each.episode in episodes)
    return replace(
        evidence,
        trajectories=chosen,
        reward_traces=tuple(traces),
        probe_reports=(),
        part=labels,
    )


class Worlds:
    """Makes recorded worlds again."""

    def __init__(self, ready: Callable[[], Ready]) -> None:
        """Make worlds from the parts of a run, looked up at the first request."""
        self._find = ready
        self._made: WeakValueDictionary[tuple[int, str], TabularMDP] = (
            WeakValueDictionary()
        )
        self._recent: deque[TabularMDP] = deque(maxlen=RECENT)

    def begin(self, trajectory: Trajectory) -> Environment:
        """An environment at the start of an episode, which the caller closes.

        Raises:
            GdeError: it no longer makes the recorded world.
        """
        condition = self._condition(trajectory)
        environment: Environment = self._resources.make(condition.environment)
        try:
            begun = begin(environment, trajectory.seed, condition.goal_moved)
            check_world(trajectory.world.id, begun.world)
        except BaseException:
            environment.close()
            raise
        return environment

    def mdp(self, trajectory: Trajectory) -> TabularMDP:
        """The decision process of an episode's world.

        All trajectories of a world share one object for as long as it is held, here or
        elsewhere.

        Raises:
            GdeError: the environment has none, or no longer makes the recorded world.
        """
        place = trajectory.key.condition, trajectory.world.id
        mdp = self._made.get(place)
        if mdp is None:
            mdp = self._made[place] = self._make(trajectory)
            self._recent.append(mdp)
        return mdp

    @cached_property
    def _ready(self) -> Ready:
        return self._find()

    @cached_property
    def _resources(self) -> Resources:
        return Resources(self._ready)

    def _make(self, trajectory: Trajectory) -> TabularMDP:
        chosen = self._condition(trajectory).environment
        if Capability.MDP not in chosen.entry.offer.gives:
            raise no_process(chosen.label)
        environment = self.begin(trajectory)
        try:
            mdp: TabularMDP = environment.mdp()  # type: ignore[attr-defined]  # its offer gives Capability.MDP
            return mdp
        finally:
            environment.close()

    def _condition(self, trajectory: Trajectory) -> Condition:
        condition = self._ready.conditions[trajectory.key.condition]
        if condition.environment.absent:
            raise GdeError(condition.environment.absent)
        return condition
