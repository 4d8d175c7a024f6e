"""Trajectories of `imitation`, told by their structure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gde_plugins.meg import from_imitation, from_trajectories
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.worlds import cliff_world, random_policy

WORLD = cliff_world(3, 2)
MOVES = np.stack([matrix.toarray() for matrix in WORLD.transition])


@dataclass
class Played:
    """As `imitation.data.types.Trajectory`."""

    obs: Any
    acts: Any
    terminal: bool = False


def played(rng: np.random.Generator, steps: int = 5) -> Played:
    policy = random_policy(rng, WORLD).probabilities
    states, actions = [0], list[int]()
    for _ in range(steps):
        actions.append(int(rng.choice(4, p=policy[states[-1]])))
        states.append(int(rng.choice(6, p=MOVES[actions[-1], states[-1]])))
    return Played(np.array(states), np.array(actions))


def test_states_one_hot_and_anything_that_can_be_read_are_the_same_episodes() -> None:
    rng = np.random.default_rng(0)
    every = [played(rng) for _ in range(6)]
    hot = [Played(np.eye(6)[each.obs], each.acts) for each in every]
    places = [Played(np.stack(np.divmod(each.obs, 3), axis=1), each.acts) for each in every]
    wanted = [Episode(mdp=WORLD, states=each.obs[:-1], actions=each.acts, horizon=5) for each in every]
    value = from_trajectories(wanted, rng=np.random.default_rng(1)).value
    for found in (
        from_imitation(every, WORLD, horizon=5),
        from_imitation(hot, WORLD, horizon=5),
        from_imitation(places, WORLD, lambda place: int(place[0] * 3 + place[1]), horizon=5),
    ):
        assert from_trajectories(found, rng=np.random.default_rng(1)).value == value


@pytest.mark.parametrize(
    ("trajectory", "said"),
    [
        (object(), "wanted something with obs and acts, got object"),
        (Played(np.zeros(3, dtype=int), np.array([0.5, 1])), "acts must be one whole number a step, got float64"),
        (Played(np.zeros(2, dtype=int), np.array([0, 1])), "one observation more than actions, 3, got 2"),
        (Played(np.zeros((3, 2)), np.array([0, 1])), r"got float64 of shape \(3, 2\): give state_of"),
        (Played(np.ones((3, 6)), np.array([0, 1])), "a single 1 in every row"),
        (Played(np.array([0, 0, 6]), np.array([0, 1])), "states from 0 to 5, got 0 to 6"),
        (Played(np.array([0, 0, 5]), np.array([0, 0])), "from state 0 by action 0 to state 5, which the model rules"),
    ],
)
def test_what_does_not_fit_is_named(trajectory: Any, said: str) -> None:
    rest: Sequence[Any] = [played(np.random.default_rng(0)), trajectory]
    with pytest.raises(ValueError, match=f"trajectory 1: .*{said}"):
        from_imitation(rest, WORLD)


def test_lists_are_no_episode() -> None:
    with pytest.raises(ValueError, match="states must be a NumPy array of whole numbers, got list"):
        Episode(mdp=WORLD, states=[0], actions=np.array([0]))  # type: ignore[arg-type]
