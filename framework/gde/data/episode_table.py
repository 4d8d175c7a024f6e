"""What is known of each episode, as columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from gde.data.arrays import Bools, Doubles, Ints
from gde.data.trajectory import ENDINGS, Ending, Trajectory

EPISODES = "episodes"
"""The column that is one everywhere."""
ENDING = "ending."
"""Begins the names of columns that are one where an episode ended so, else zero."""


class Head(NamedTuple):
    """An episode without what happened in it."""

    episode: str
    """Its key."""
    condition: int
    world: str
    cluster: str
    ending: Ending

    @classmethod
    def of(cls, one: Trajectory) -> "Head":
        """The head of an episode."""
        key, world = one.key, one.world
        return cls(str(key), key.condition, world.id, world.cluster, one.ending)


@dataclass(frozen=True, kw_only=True, eq=False)
class EpisodeTable:
    """N episodes and the facts of one metric about them."""

    conditions: Ints
    """(N,) index of the condition."""
    worlds: Ints
    """(N,) number of the world in its cluster, in the order of their names."""
    clusters: Ints
    """(N,) number of the world's cluster, likewise."""
    endings: Ints
    """(N,) place of the ending in `ENDINGS`."""
    facts: Mapping[str, Doubles]
    """(N,) each, by name; nan where there is none, as of failed episodes."""
    faults: Bools
    """(N,) whether to ask for the facts has failed."""

    @classmethod
    def of(cls, heads: Sequence[Head]) -> "EpisodeTable":
        """The episodes without facts."""
        return cls(
            conditions=np.array([one.condition for one in heads], dtype=np.int64),
            # A variation may look like a world of another cluster.
            worlds=_numbered([(one.world, one.cluster) for one in heads]),
            clusters=_numbered([(one.cluster,) for one in heads]),
            endings=np.array([ENDINGS.index(one.ending) for one in heads], np.int64),
            facts={},
            faults=np.zeros(len(heads), dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.worlds)

    def __getitem__(self, name: str) -> Doubles:
        """(N,) the column of this name."""
        if name == EPISODES:
            return np.ones(len(self))
        if name.startswith(ENDING):
            names = [f"{ENDING}{ending}" for ending in ENDINGS]
            found: Doubles = (self.endings == names.index(name)).astype(np.float64)
            return found
        return self.facts[name]

    def where(self, chosen: Bools) -> "EpisodeTable":
        """The chosen (N,) episodes."""
        return replace(
            self,
            conditions=self.conditions[chosen],
            worlds=self.worlds[chosen],
            clusters=self.clusters[chosen],
            endings=self.endings[chosen],
            facts={name: column[chosen] for name, column in self.facts.items()},
            faults=self.faults[chosen],
        )


@runtime_checkable
class Tabulated(Protocol):
    """Episodes of which metrics have told the facts."""

    @property
    def heads(self) -> Sequence[Head]:
        """One an episode, known without reading the episodes."""

    @property
    def tables(self) -> Mapping[object, EpisodeTable]:
        """All of the episodes, by metric."""


def heads_of(trajectories: Sequence[Trajectory]) -> Sequence[Head]:
    """The head of each episode."""
    if isinstance(trajectories, Tabulated):
        return trajectories.heads
    return [Head.of(one) for one in trajectories]


def _numbered(names: Sequence[tuple[str, ...]]) -> Ints:
    """The place of each name among all, sorted."""
    places = {name: i for i, name in enumerate(sorted(set(names)))}
    return np.array([places[name] for name in names], dtype=np.int64)
