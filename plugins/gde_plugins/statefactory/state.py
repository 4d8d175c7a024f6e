"""A factorised state: objects with attributes; and the states and goals of an
episode.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from gde.data.trajectory import Trajectory

Level = Literal[1, 2, 3, 4]
"""How far a state is taken apart (Shen et al. 2026, appendix C.5.1): the observation
itself, sentences, objects with one description, objects with attributes.
"""


@dataclass(frozen=True)
class Item:
    """One object of a state or of a goal."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Key to value; empty where the name says everything."""

    def texts(self) -> Iterator[str]:
        """Name, keys and values."""
        yield self.name
        for key, value in self.attributes.items():
            yield from (key, value)


Items = Sequence[Item]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """An episode as states and goals."""

    made_by: str
    """The extractor that read it."""
    states: Sequence[Items] = ()
    """One a turn."""
    goals: Sequence[Items] = ()
    """One a turn, none of them empty."""
    counts: Counter[str] = field(default_factory=Counter)
    failure: str = ""
    """Why there are no states and goals; empty where there are."""


class Extractor(Protocol):
    """Reads states and goals from episodes."""

    async def read(self, trajectory: Trajectory) -> Reading:
        """Read every turn of an episode; the reading says why it failed."""
