"""Utilities with fitted weights."""

from dataclasses import replace

import numpy as np
import pytest
from sampled import grids, sample

from gde.data.mdp import TabularMDP
from gde_plugins.meg import from_trajectories, soft_policy
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.linear_utility import Linear, LinearFit
from gde_plugins.meg.trajectories.utilities import Feature, standing_still
from gde_plugins.meg.worlds import cliff_world

HORIZON = 10
FEATURES = ("goal", "wall", "column")


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def agent_after(weights: dict[str, float], n: int, each: int = 10) -> list[Episode]:
    """Soft-optimal episodes for a weighted sum of features, in `n` worlds."""
    episodes = []
    for i, mdp in enumerate(grids(n)):
        utility = sum(
            (weight * mdp.labels[name] for name, weight in weights.items()),
            start=np.zeros(mdp.n_states),
        )
        policy = soft_policy(standing_still(mdp, utility), 1.0, HORIZON)
        drawn = sample(mdp, policy, each, np.random.default_rng(i), HORIZON)
        episodes += [replace(episode, cluster=str(i)) for episode in drawn]
    return episodes


@pytest.mark.parametrize(
    "mdp",
    [grids(1)[0], replace(cliff_world(5, 3), discount=0.9)],
    ids=["grid", "windy, discounted"],
)
def test_the_gradient_is_that_of_the_accuracy(mdp: TabularMDP) -> None:
    utilities = Linear(("goal", "wall", "column"))
    behaviour = Behaviour.of(
        sample(mdp, soft_policy(mdp, 0.3, HORIZON), 5, rng(), HORIZON), utilities
    )
    fit, at, counts = (
        LinearFit(behaviour, utilities.values(behaviour.mdp)),
        np.array([0.7, -1.2, 0.4]),
        np.arange(5.0),
    )
    nats, slope = fit.accuracy(at, counts)
    assert nats == pytest.approx(counts @ fit.scores(at))
    step = 1e-5
    differences = [
        counts @ (fit.scores(at + step * e) - fit.scores(at - step * e)) / (2 * step)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-6)


def test_weights_are_recovered_and_shared_by_worlds() -> None:
    found = from_trajectories(
        agent_after({"goal": 2.0, "wall": -0.5}, 30), Linear(FEATURES), rng=rng()
    )
    assert found.weights is not None
    # `wall` is scaled by its range, 0 to 3 walls; the column does not matter.
    np.testing.assert_allclose(found.weights, [2.0, -1.5, 0.0], atol=0.4)
    assert found.interval is not None
    assert found.value is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_a_class_of_utilities_predicts_at_least_as_well_as_each_of_them() -> None:
    episodes = agent_after({"goal": 1.0}, 10)
    best = from_trajectories(episodes, Linear(FEATURES), rng=rng()).plug_in
    for name in FEATURES:
        assert (
            best >= from_trajectories(episodes, Feature(name), rng=rng()).plug_in - 1e-3
        )


def test_a_random_agent_is_after_nothing_though_weights_fit_its_noise() -> None:
    found = from_trajectories(agent_after({}, 30, each=3), Linear(FEATURES), rng=rng())
    assert found.cross_fitted is not None
    assert found.plug_in > 0 > found.cross_fitted
    assert found.value is not None
    assert found.value < found.plug_in / 2
    assert found.interval is not None
    assert found.interval[0] == 0.0


def test_an_agent_without_slips_has_finite_weights() -> None:
    episodes = [
        e
        for mdp in grids(8)
        for e in sample(mdp, soft_policy(mdp, np.inf, HORIZON), 3, rng(), HORIZON)
    ]
    found = from_trajectories(episodes, Linear(("goal",)), rng=rng())
    known = from_trajectories(episodes, rng=rng())
    assert found.weights is not None
    assert 5 < found.weights[0] < 100
    assert found.plug_in == pytest.approx(known.plug_in, abs=0.02)


def test_a_value_needs_five_worlds_for_each_weight() -> None:
    for n, reason in (
        (14, "wanted at least 15 independent worlds to fit 3 weights (5 each), got 14"),
        (15, ""),
    ):
        found = from_trajectories(
            agent_after({"goal": 2.0}, n, each=2), Linear(FEATURES), rng=rng()
        )
        assert found.reason == reason
        assert (
            (found.value is None)
            == (found.interval is None)
            == (found.share is None)
            == bool(reason)
        )
        assert found.plug_in > 0


def test_unknown_features_are_refused() -> None:
    with pytest.raises(ValueError, match="'cheese', which one has not"):
        from_trajectories(agent_after({}, 1), Linear(("goal", "cheese")), rng=rng())
    with pytest.raises(ValueError, match="at least one and each once"):
        Linear(("goal", "goal"))
