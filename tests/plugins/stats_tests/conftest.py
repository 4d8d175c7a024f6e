"""Runs whose truth is known: walks along a line, of worlds with variations."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from gde import EpisodeKey, Evidence, State, Trajectory, World
from gde.data.trajectory import Ending
from gde.testing.episodes import Move, episode_of

Labels = dict[str, str | int | float | bool]
Skill = Callable[[Mapping[str, str | int | float | bool], int], float]
MakeRun = Callable[..., Evidence]


def episode(
    key: EpisodeKey,
    world: World,
    labels: Labels,
    skill: Skill,
    rng: np.random.Generator,
) -> Trajectory:
    """A walk to the goal at the right end, as far away as the world is large."""
    distance = int(labels.get("size", 7))
    moves: list[Move] = []
    while distance and len(moves) < 2 * int(labels.get("size", 7)):
        hit = bool(rng.random() < skill(labels, distance))
        state = State(facts={}, index=distance)
        moves.append(
            Move(
                action="RIGHT" if hit else "LEFT",
                state=state,
                optimal=("RIGHT",),
                value=-float(distance),
            )
        )
        distance += -1 if hit else 1
    ending: Ending = "horizon" if distance else "terminated"
    return episode_of(
        moves,
        world=world,
        condition=key.condition,
        index=key.world,
        repeat=key.repeat,
        ending=ending,
        labels={**world.labels, **labels},
    )


@pytest.fixture
def make_run() -> MakeRun:
    """(skill, conditions, n worlds a condition, repeats) to a run: conditions that
    differ in no number share base worlds.
    """

    def make(
        skill: Skill, conditions: list[Labels], n: int = 20, repeats: int = 2
    ) -> Evidence:
        rng = np.random.default_rng(1)
        trajectories = []
        for condition, labels in enumerate(conditions):
            base = " ".join(
                str(value) for value in labels.values() if not isinstance(value, str)
            )
            variation = " ".join(
                str(value) for value in labels.values() if isinstance(value, str)
            )
            for number in range(n):
                world = World(
                    id=f"{base} {number} {variation}",
                    base=f"{base} {number}",
                    labels={"distance": condition + number},
                )
                for repeat in range(repeats):
                    key = EpisodeKey(condition=condition, world=number, repeat=repeat)
                    trajectories.append(episode(key, world, labels, skill, rng))
        return Evidence(trajectories=tuple(trajectories), seed=3)

    return make
