"""States and goals as the observations of an episode give them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.state import Item, Items

Things = dict[str, dict[str, str]]
"""Objects by name, each with its attributes, as far as they are known."""


@dataclass(frozen=True)
class Given:
    """States and goals, one a turn."""

    states: Sequence[Items]
    goals: Sequence[Items]


@dataclass(frozen=True)
class Rules:
    """How one kind of world is read."""

    name: str
    read: Callable[[Trajectory, str], Given | None]
    """Takes an episode and its objective, which may be empty; gives None for worlds of
    another kind.
    """


def seen(trajectory: Trajectory) -> list[str]:
    """The observation of every turn."""
    return [turn.observation.text for turn in trajectory.turns]


def listed(things: Things) -> Items:
    """The objects as they are now."""
    return [Item(name, dict(attributes)) for name, attributes in things.items()]
