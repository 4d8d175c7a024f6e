"""Episodes in a world of four states, written down move by move."""

from collections.abc import Callable, Mapping, Sequence
from math import inf

import pytest

from gde.data.observation import Observation, State, World
from gde.data.trajectory import Decision, Ending, EpisodeKey, Trajectory, Turn

Step = tuple[int, str | None]
"""A state and the action taken in it; None for an answer that cannot be used."""
OPTIMAL = {0: ("UP",), 1: ("UP", "LEFT"), 2: ("RIGHT", "DOWN", "LEFT"), 3: ()}
VALUE = {0: -1.0, 1: -2.0, 2: -7.0, 3: -inf}
MUTE = Decision.unusable("unparsable", "wanted an action, got nothing")


def write_down(
    world: int,
    steps: Sequence[Step],
    repeat: int = 0,
    base: str = "",
    ending: Ending = "horizon",
    labels: Mapping[str, str | int | float | bool] | None = None,
) -> Trajectory:
    """An episode that reaches the goal if its ending is "terminated"."""
    last = len(steps) - 1
    turns = tuple(
        Turn(
            index=index,
            observation=Observation(text="?"),
            decision=MUTE if action is None else Decision.act(action),
            reward=float(ending == "terminated" and index == last),
            terminated=ending == "terminated" and index == last,
            success=float(ending == "terminated" and index == last),
            truncated=False,
            state=State(facts={}, index=state),
            optimal=OPTIMAL[state],
            value=VALUE[state],
        )
        for index, (state, action) in enumerate(steps)
    )
    return Trajectory(
        key=EpisodeKey(stratum=0, world=world, repeat=repeat),
        seed=world,
        world=World(id=f"world{world}", base=base),
        labels=labels or {},
        horizon=99,
        turns=turns,
        ending=ending,
    )


@pytest.fixture(scope="session")
def episode() -> Callable[..., Trajectory]:
    return write_down


@pytest.fixture(scope="session")
def optimal() -> Mapping[int, tuple[str, ...]]:
    """State to its optimal actions."""
    return OPTIMAL
