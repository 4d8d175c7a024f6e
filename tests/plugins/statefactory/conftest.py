"""Episodes of texts."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from gde.data.observation import Observation, World
from gde.data.trajectory import Trajectory
from gde.testing.samples import sample_evidence


@pytest.fixture
def episode() -> Callable[..., Trajectory]:
    """Makes an episode that asks for something and in which these texts are seen."""
    one = next(one for one in sample_evidence(3).trajectories if one.turns)

    def made(objective: object, *seen: str, **facts: object) -> Trajectory:
        turns = [
            replace(
                one.turns[0], index=i, observation=Observation(text=text), state=None
            )
            for i, text in enumerate(seen)
        ]
        world = World(id="w", facts={"objective": objective, **facts})  # type: ignore[dict-item]
        return replace(one, world=world, turns=tuple(turns))

    return made
