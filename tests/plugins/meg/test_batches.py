"""Worlds solved side by side against the same worlds solved one by one."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_by_one import scores, without_batches
from random_worlds import random_mdp
from sampled import recorded, sample

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.result import Measurement
from gde.parts.metric import Metric
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.meg import soft_policy
from gde_plugins.meg.metrics.goals import known, towards, unknown
from gde_plugins.meg.metrics.recorded import observed
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.linear_utility import Linear
from gde_plugins.meg.trajectories.utilities import Feature, Pursuit, own_reward
from gde_plugins.meg.worlds import cliff_world

BETAS = [0.0, 1e-3, 0.3, -0.3, 4.0, -25.0, 3e2, -1e3, inf, -inf]
"""Some are beyond what the linear recursion can do in floating point."""
PURSUITS: list[Pursuit] = [
    own_reward,
    Feature("row"),
    Feature("goal"),
    lambda mdp: replace(mdp, reward=mdp.labels["wall"] - 2.0, terminal=None),
    lambda mdp: replace(
        mdp, reward=np.outer(mdp.labels["column"], [1.0, 0.5, 0.0, -1.0])
    ),
]
IDS = ["own reward", "row", "goal", "a function", "reward of actions"]


def grid(size: int, density: float, seed: int) -> TabularMDP:
    environment = GridEnvironment(GridConfig(size=size, density=density))
    environment.reset(seed)
    return environment.mdp()


def episodes_in(worlds: Sequence[TabularMDP], seed: int) -> list[Episode]:
    """Of many kinds: of different horizons, of one turn, with unusable turns or no
    others, several in one world.
    """
    rng, found = np.random.default_rng(seed), list[Episode]()
    for i, mdp in enumerate(worlds):
        horizon = int(rng.integers(3, 12))
        (one,) = sample(
            mdp, soft_policy(mdp, 0.5, horizon), 1, rng, horizon, decisions=horizon - 1
        )
        mute = replace(
            one,
            actions=np.where(rng.random(len(one.actions)) < 0.4, UNUSABLE, one.actions),
        )
        short = replace(one, states=one.states[:1], actions=one.actions[:1])
        silent = replace(one, actions=np.full_like(one.actions, UNUSABLE))
        found += [
            replace(each, cluster=str(i))
            for each in ([one], [mute], [short], [one, mute], [silent, one])[i % 5]
        ]
    return found


def untold(episodes: Sequence[Episode]) -> list[Episode]:
    """The same of agents that are told of no deadline."""
    return [replace(episode, horizon=None) for episode in episodes]


worlds_of_mixed_sizes = st.lists(
    st.builds(
        grid,
        st.sampled_from([5, 7, 9]),
        st.sampled_from([0.0, 0.3, 1.0]),
        st.integers(0, 1000),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("pursuit", PURSUITS, ids=IDS)
@settings(max_examples=5)
@given(worlds_of_mixed_sizes, st.integers(0, 1000))
def test_grids_of_mixed_sizes_score_as_one_by_one(
    pursuit: Pursuit, worlds: list[TabularMDP], seed: int
) -> None:
    check_scores(episodes_in(worlds, seed), pursuit)
    check_scores(untold(episodes_in(worlds, seed)), pursuit)


def test_some_agents_may_be_told_of_a_deadline_and_others_not() -> None:
    told = episodes_in([grid(7, 0.5, seed) for seed in range(5)], 0)
    check_scores([*told[:3], *untold(told[3:])], own_reward)


@pytest.mark.parametrize("discount", [1.0, 0.8])
def test_worlds_with_chance_or_a_discount_score_as_one_by_one(discount: float) -> None:
    windy = [
        replace(cliff_world(4, 3, wind=wind), discount=discount)
        for wind in (0.0, 0.3, 0.5)
    ]
    ends = [
        replace(random_mdp(seed, "episodic"), discount=discount) for seed in range(4)
    ]
    for worlds in (windy, ends):
        check_scores(episodes_in(worlds, 0), own_reward)
        check_scores(untold(episodes_in(worlds, 0)), own_reward)


def check_scores(episodes: Sequence[Episode], pursuit: Pursuit) -> None:
    behaviour = Behaviour.of(episodes, pursuit)
    expected = np.array([scores(episodes, pursuit, beta) for beta in BETAS])
    np.testing.assert_allclose(behaviour.table(BETAS), expected, rtol=1e-10, atol=1e-10)
    # The general recursion, which serves worlds with chance, agrees.
    behaviour.choices._is_linear = False
    np.testing.assert_allclose(behaviour.table(BETAS), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("beta", [-2.0, inf])
def test_random_choice_scores_as_one_by_one(beta: float) -> None:
    behaviour = Behaviour.of(
        episodes_in([grid(7, 0.5, seed) for seed in range(5)], 0), own_reward
    )
    chance = behaviour.scores_of_chance(beta)
    with without_batches():
        np.testing.assert_allclose(
            chance, behaviour.scores_of_chance(beta), rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("size", [0.0, 0.5, 3.0, 500.0])
@settings(max_examples=4)
@given(worlds=worlds_of_mixed_sizes, seed=st.integers(0, 1000))
def test_slopes_are_those_of_one_by_one(
    size: float, worlds: list[TabularMDP], seed: int
) -> None:
    check_slopes(episodes_in(worlds, seed), Linear(("row", "goal")), size, seed)
    check_slopes(untold(episodes_in(worlds, seed)), Linear(("row", "goal")), size, seed)


def test_slopes_in_worlds_with_chance_are_those_of_one_by_one() -> None:
    windy = [replace(cliff_world(4, 3, wind=wind), discount=0.9) for wind in (0.0, 0.3)]
    check_slopes(episodes_in(windy, 0), Linear(("row", "cliff")), 0.5, 0)


def check_slopes(
    episodes: Sequence[Episode], utilities: Linear, size: float, seed: int
) -> None:
    behaviour, rng = Behaviour.of(episodes, utilities), np.random.default_rng(seed)
    reward = size * rng.normal(size=behaviour.mdp.n_states)
    chosen = rng.integers(3, size=len(episodes)).astype(np.float64)
    nats, slope = behaviour.accuracy(reward, chosen)
    with without_batches():
        wanted, expected = behaviour.accuracy(reward, chosen)
    assert nats == pytest.approx(wanted, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-9)


def run(n_worlds: int = 12) -> Evidence:
    """Episodes of each kind in grids of mixed sizes, some of which failed."""
    worlds = [grid(5 + 2 * (seed % 2), seed % 3 / 2, seed) for seed in range(n_worlds)]
    evidence = recorded(episodes_in(worlds, 1))
    trajectories = tuple(
        replace(each, ending="failed") if i % 7 == 3 else each
        for i, each in enumerate(evidence.trajectories)
    )
    return replace(evidence, trajectories=trajectories)


@pytest.mark.parametrize(
    ("metric", "n_worlds"),
    [
        (known, 12),
        (towards, 12),
        pytest.param(unknown, 20, marks=pytest.mark.extended),
    ],
)
def test_metrics_are_equal_to_1e_9_with_and_without_batches(
    metric: Metric, n_worlds: int
) -> None:
    evidence = run(n_worlds)
    batched = metric(evidence)
    with without_batches():
        plain = metric(replace(evidence))
    assert any(each.interval for each in batched)
    for one, other in zip(batched, plain, strict=True):
        assert numbers(one) == pytest.approx(
            numbers(other), rel=0, abs=1e-9, nan_ok=True
        ), one
        assert told(one) == told(other)


def told(measurement: Measurement) -> tuple[object, ...]:
    return (
        measurement.name,
        measurement.n,
        measurement.where,
        measurement.reason,
    )


def numbers(measurement: Measurement) -> list[float]:
    return [
        np.nan if each is None else each
        for each in (measurement.value, *(measurement.interval or ()))
    ]


def test_a_run_is_prepared_once_for_all_metrics() -> None:
    evidence = run()
    assert observed(evidence) is observed(evidence)
    assert observed(replace(evidence)) is not observed(evidence)
