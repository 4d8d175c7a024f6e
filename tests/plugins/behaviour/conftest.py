"""Episodes in a world of four states, written down move by move."""

from collections.abc import Callable, Mapping, Sequence
from math import inf

import pytest

from gde.data.observation import State, World
from gde.data.trajectory import Ending, Trajectory
from gde.testing.episodes import Move, episode_of

Step = tuple[int, str | None]
"""A state and the action taken in it; None for an answer that cannot be used."""
OPTIMAL = {0: ("UP",), 1: ("UP", "LEFT"), 2: ("RIGHT", "DOWN", "LEFT"), 3: ()}
VALUE = {0: -1.0, 1: -2.0, 2: -7.0, 3: -inf}


def write_down(
    world: int,
    steps: Sequence[Step],
    repeat: int = 0,
    base: str = "",
    ending: Ending = "horizon",
    labels: Mapping[str, str | int | float | bool] | None = None,
) -> Trajectory:
    """An episode that reaches the goal if its ending is "terminated"."""
    moves = [
        Move(
            action=action,
            state=State(facts={}, index=state),
            optimal=OPTIMAL[state],
            value=VALUE[state],
        )
        for state, action in steps
    ]
    place = World(id=f"world{world}", base=base)
    return episode_of(
        moves,
        world=place,
        index=world,
        repeat=repeat,
        ending=ending,
        seed=world,
        labels=labels or {},
    )


@pytest.fixture(scope="session")
def episode() -> Callable[..., Trajectory]:
    return write_down


@pytest.fixture(scope="session")
def optimal() -> Mapping[int, tuple[str, ...]]:
    """State to its optimal actions."""
    return OPTIMAL
