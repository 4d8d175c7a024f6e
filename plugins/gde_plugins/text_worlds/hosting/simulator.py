"""The protocol of a simulator, which plays one game after another and answers in plain
JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A moment of a game."""

    text: str
    actions: tuple[str, ...] | None
    """The admissible ones, in an order that is a function of the moment; None where any
    text may be tried.
    """
    reward: float = 0.0
    """The simulator's own, of the step that led here."""
    success: float = 0.0
    """How much of the goal is reached, 0 to 1."""
    ended: bool = False
    """Whether the game is over."""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A game that has begun."""

    shown: Shown
    objective: str
    id: str
    """Equal for equal games."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str | int | float | bool] = field(default_factory=dict)


class Simulator(Protocol):
    """Lives in a process of its own, where it is made and called by one caller."""

    def begin(self, game: Mapping[str, Any]) -> Opening:
        """Begin a game, or begin it again. The same game is the same world in every
        process.
        """

    def step(self, action: str) -> Shown:
        """Take an action."""

    def demonstration(self) -> Sequence[str]:
        """Actions that reach all of the goal from this moment, tried or computed; empty
        where none are known. The game stays where it is.
        """

    def close(self) -> None:
        """End whatever runs outside of this process."""


def rest_of(way: Sequence[str], taken: Sequence[str]) -> Sequence[str]:
    """Return a way without the first actions that were taken already."""
    n_shared = 0
    for own, other in zip(taken, way, strict=False):
        if own != other:
            break
        n_shared += 1
    return way[n_shared:]
