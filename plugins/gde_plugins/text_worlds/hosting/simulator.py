"""The protocol of a simulator, which plays games one after the other.

It answers in plain JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A moment of a game."""

    text: str
    actions: tuple[str, ...] | None
    """The admissible actions, in an order that is a function of the moment; None if any
    text may be tried.
    """
    reward: float = 0.0
    """The simulator's own reward of the step that led here."""
    success: float = 0.0
    """Share of the goal that is reached, 0 to 1."""
    ended: bool = False
    """Whether the game is over."""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A game that has begun."""

    shown: Shown
    objective: str
    id: str
    """Key that is equal for equal games."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str | int | float | bool] = field(default_factory=dict)


class Simulator(Protocol):
    """Made and called by one caller in its own process."""

    def begin(self, game: Mapping[str, Any]) -> Opening:
        """Begin a game, or restart it.

        The same game is the same world in every process.
        """

    def step(self, action: str) -> Shown:
        """Take an action."""

    def demonstration(self) -> Sequence[str]:
        """Return actions that reach all of the goal from this moment, tried or
        computed.

        The list is empty if none are known. The game's state does not change.
        """

    def close(self) -> None:
        """End everything that runs outside of this process."""


def rest_of(way: Sequence[str], taken: Sequence[str]) -> Sequence[str]:
    """Return a plan without its first actions that were taken already."""
    n_shared = 0
    for own, other in zip(taken, way, strict=False):
        if own != other:
            break
        n_shared += 1
    return way[n_shared:]
