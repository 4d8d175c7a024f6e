"""Runs whose truth is known: walks along a line, of worlds with variations."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from gde import Decision, EpisodeKey, Evidence, Observation, State, Trajectory, Turn, World

Labels = dict[str, str | int | float | bool]
Skill = Callable[[Mapping[str, str | int | float | bool], int], float]
MakeRun = Callable[..., Evidence]
SEEN = Observation(text="", actions=("LEFT", "RIGHT"))


def episode(key: EpisodeKey, world: World, labels: Labels, skill: Skill, rng: np.random.Generator) -> Trajectory:
    """A walk to the goal at the right end, as far away as the world is large."""
    distance = int(labels.get("size", 7))
    turns: list[Turn] = []
    for index in range(2 * distance):
        hit = bool(rng.random() < skill(labels, distance))
        turns.append(
            Turn(
                index=index,
                observation=SEEN,
                decision=Decision.act("RIGHT" if hit else "LEFT"),
                reward=float(hit and distance == 1),
                terminated=hit and distance == 1,
                success=float(hit and distance == 1),
                truncated=False,
                state=State(facts={}, index=distance),
                optimal=("RIGHT",),
                value=-float(distance),
            )
        )
        distance += -1 if hit else 1
        if distance == 0:
            break
    return Trajectory(
        key=key,
        seed=0,
        world=world,
        labels={**world.labels, **labels},
        horizon=99,
        turns=tuple(turns),
        ending="terminated" if distance == 0 else "horizon",
    )


@pytest.fixture
def make_run() -> MakeRun:
    """(skill, strata, n worlds a stratum, repeats) to a run: strata that differ in no number share base worlds."""

    def make(skill: Skill, strata: list[Labels], n: int = 20, repeats: int = 2) -> Evidence:
        rng = np.random.default_rng(1)
        trajectories = []
        for stratum, labels in enumerate(strata):
            base = " ".join(str(value) for value in labels.values() if not isinstance(value, str))
            variation = " ".join(str(value) for value in labels.values() if isinstance(value, str))
            for number in range(n):
                world = World(
                    id=f"{base} {number} {variation}", base=f"{base} {number}", labels={"distance": stratum + number}
                )
                for repeat in range(repeats):
                    key = EpisodeKey(stratum=stratum, world=number, repeat=repeat)
                    trajectories.append(episode(key, world, labels, skill, rng))
        return Evidence(trajectories=tuple(trajectories), seed=3)

    return make
