"""How often intervals hold the true value, and how much bias the correction removes,
over simulated samples.
"""

from typing import NamedTuple

import numpy as np
import pytest
from sampled import sample

from gde.data.arrays import Doubles
from gde.data.mdp import Policy
from gde_plugins.meg import from_trajectories, known_utility, soft_policy
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.utilities import own_reward
from gde_plugins.meg.worlds import cliff_world

HORIZON, CLUSTERS, SAMPLES = 5, 40, 400
WORLD = cliff_world(3, 2)
CHANCE = np.full((HORIZON, WORLD.n_states, 4), 0.25)


class Simulated(NamedTuple):
    """What came of all samples."""

    coverage: float
    plug_in: float
    """Bias, in nats."""
    cross_fitted: float
    middle: float


def simulate(policy: Doubles, seed: int) -> Simulated:
    """Estimates against the exact value. What the accuracy at the true rationality has
    by luck is taken off.
    """
    true = known_utility(WORLD, Policy(probabilities=policy), horizon=HORIZON)
    rng = np.random.default_rng(seed)
    held, off = 0, []
    for _ in range(SAMPLES):
        episodes = sample(WORLD, Policy(probabilities=policy), CLUSTERS, rng, HORIZON)
        found = from_trajectories(episodes, rng=rng)
        assert found.interval is not None
        assert found.cross_fitted is not None
        held += found.interval[0] <= true.value <= found.interval[1]
        luck = Behaviour.of(episodes, own_reward).scores(true.beta).mean()
        off.append(
            [
                found.plug_in - luck,
                found.cross_fitted - luck,
                (found.plug_in + found.cross_fitted) / 2 - luck,
            ]
        )
    return Simulated(held / SAMPLES, *np.mean(off, axis=0).tolist())


ERRING = 0.2 * CHANCE + 0.8 * soft_policy(WORLD, np.inf, HORIZON).probabilities


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(
            soft_policy(WORLD, 0.03, HORIZON).probabilities,
            marks=pytest.mark.slow,
            id="weak",
        ),
        pytest.param(
            soft_policy(WORLD, 0.1, HORIZON).probabilities,
            marks=pytest.mark.extended,
            id="soft-optimal",
        ),
        pytest.param(
            soft_policy(WORLD, -0.1, HORIZON).probabilities,
            marks=pytest.mark.slow,
            id="avoiding",
        ),
        pytest.param(ERRING, marks=pytest.mark.slow, id="epsilon-greedy"),
    ],
)
def test_intervals_cover_and_the_middle_is_nearly_unbiased(policy: Doubles) -> None:
    found = simulate(policy, seed=1)
    assert 0.92 <= found.coverage <= 0.985
    # One number is fitted: 1 / (2 n) nats, if the model is right.
    assert found.plug_in == pytest.approx(1 / (2 * CLUSTERS), rel=0.6)
    assert found.cross_fitted < 0
    assert abs(found.middle) < found.plug_in / 2


@pytest.mark.extended
def test_a_random_agent_is_found_to_have_no_goal() -> None:
    found = simulate(CHANCE, seed=1)
    assert found.coverage >= 0.93
    assert abs(found.middle) < 0.6 * found.plug_in
