"""Lower bounds by networks against tabular optima."""

from dataclasses import replace

import numpy as np
import pytest

from gde_plugins.meg import unknown_utility
from gde_plugins.meg.trajectories.black_box import Tries, lower_bound
from gde_plugins.meg.trajectories.tabular_agent import Tabulated
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy, random_policy

WORLD = cliff_world(4, 3)
HORIZON = 6
ERRING = epsilon_greedy(greedy(WORLD, HORIZON), 0.2)


def test_a_network_is_a_lower_bound_that_reaches_the_tabular_optimum() -> None:
    torch = pytest.importorskip("torch")
    rng, world = (
        np.random.default_rng(0),
        replace(WORLD, discount=0.8, terminal=WORLD.labels["goal"] > 0),
    )
    states = np.arange(12)
    policy = epsilon_greedy(replace(ERRING, probabilities=ERRING.probabilities[0]), 0.2)
    agent = Tabulated(mdp=world, probabilities=policy.probabilities, steps=40)
    episodes = [agent.draw(rng, str(i)) for i in range(150)]
    optimum = unknown_utility(world, policy, "states", None)

    def make(width: int) -> "torch.nn.Module":
        torch.manual_seed(0)
        return torch.nn.Linear(width, 1)

    one_hot = lower_bound(
        Tries.tabulated(episodes, [np.eye(12)[states]] * 150), lambda: make(12), rng
    )
    coarse = lower_bound(
        Tries.tabulated(episodes, [(states % 4 / 4)[:, None]] * 150),
        lambda: make(1),
        rng,
    )
    assert one_hot.interval is not None
    assert one_hot.interval[0] <= optimum.bounds[1] + 1e-6
    assert one_hot.value == pytest.approx(optimum.value, rel=0.3)
    assert coarse.value < one_hot.value


def test_too_few_clusters_are_said() -> None:
    pytest.importorskip("torch")
    agent = Tabulated(
        mdp=WORLD,
        probabilities=random_policy(np.random.default_rng(0), WORLD).probabilities,
        steps=3,
    )
    tries = Tries.tabulated(
        [agent.draw(np.random.default_rng(0), "one")] * 3, [np.eye(12)] * 3
    )
    with pytest.raises(
        ValueError, match="at least 2 clusters of episodes, one for each fold, got 1"
    ):
        lower_bound(tries, lambda: None, np.random.default_rng(0))  # type: ignore[arg-type, return-value]
