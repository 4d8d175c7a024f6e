"""What is known of each episode, as columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from gde.data.trajectory import Ending, Trajectory

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ENDINGS: tuple[str, ...] = get_args(Ending)
EPISODES = "episodes"
"""The column that is one everywhere."""
ENDING = "ending."
"""Begins the names of columns that are one where an episode ended so, else zero."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EpisodeTable:
    """N episodes and the facts of one metric about them."""

    conditions: Ints
    """(N,) index of the condition."""
    worlds: Ints
    """(N,) number of the world."""
    clusters: Ints
    """(N,) number of the world's cluster, in the order of their names."""
    endings: Ints
    """(N,) place of the ending in `ENDINGS`."""
    facts: Mapping[str, Floats]
    """(N,) each, by name; nan where there is none, as of failed episodes."""

    @classmethod
    def of(cls, trajectories: Iterable[Trajectory]) -> "EpisodeTable":
        """The episodes without facts."""
        conditions = []
        worlds = []
        clusters = []
        endings = []
        numbers: dict[str, int] = {}
        for one in trajectories:
            conditions.append(one.key.condition)
            worlds.append(numbers.setdefault(one.world.id, len(numbers)))
            clusters.append(one.world.cluster)
            endings.append(ENDINGS.index(one.ending))
        places = {name: i for i, name in enumerate(sorted(set(clusters)))}
        return cls(
            conditions=np.array(conditions, dtype=np.int64),
            worlds=np.array(worlds, dtype=np.int64),
            clusters=np.array([places[name] for name in clusters], dtype=np.int64),
            endings=np.array(endings, dtype=np.int64),
            facts={},
        )

    def __len__(self) -> int:
        return len(self.worlds)

    def __getitem__(self, name: str) -> Floats:
        """(N,) the column of this name."""
        if name == EPISODES:
            return np.ones(len(self))
        if name.startswith(ENDING):
            ending = name.removeprefix(ENDING)
            found: Floats = (self.endings == ENDINGS.index(ending)).astype(np.float64)
            return found
        return self.facts[name]

    def where(self, chosen: NDArray[np.bool_]) -> "EpisodeTable":
        """The chosen (N,) episodes."""
        return replace(
            self,
            conditions=self.conditions[chosen],
            worlds=self.worlds[chosen],
            clusters=self.clusters[chosen],
            endings=self.endings[chosen],
            facts={name: column[chosen] for name, column in self.facts.items()},
        )
