"""Estimates from episodes against exact values, and what their bias and intervals are
worth.
"""

from dataclasses import replace
from math import inf, isinf, log

import numpy as np
import pytest
from sampled import sample
from scipy.sparse import csr_array

from gde.data.mdp import Policy, TabularMDP
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.meg import from_trajectories, known_utility, soft_policy
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.linear_utility import Linear
from gde_plugins.meg.trajectories.utilities import own_reward
from gde_plugins.meg.worlds import cliff_world

HORIZON = 9


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def grid(seed: int) -> TabularMDP:
    environment = GridEnvironment(GridConfig(size=7, density=0.3))
    environment.reset(seed)
    return environment.mdp()


def empirical(mdp: TabularMDP, episodes: list[Episode], horizon: int) -> Policy:
    """(T, S, A) relative frequencies; uniform where nothing was decided."""
    counts = np.zeros((horizon, mdp.n_states, mdp.n_actions))
    for episode in episodes:
        np.add.at(
            counts,
            (np.arange(len(episode.states)), episode.states, episode.actions),
            1.0,
        )
    total = counts.sum(axis=-1, keepdims=True)
    return Policy(
        probabilities=np.where(
            total > 0, counts / np.maximum(total, 1), 1 / mdp.n_actions
        )
    )


@pytest.mark.parametrize("discount", [1.0, 0.8])
@pytest.mark.parametrize("beta", [-0.4, 0.0, 0.7, 3.0, inf])
def test_without_chance_the_accuracy_is_the_exact_one_of_the_frequencies(
    beta: float, discount: float
) -> None:
    mdp = replace(grid(3), discount=discount)
    episodes = sample(mdp, soft_policy(mdp, beta, HORIZON), 40, rng(), HORIZON)
    found = from_trajectories(episodes, rng=rng())
    exact = known_utility(mdp, empirical(mdp, episodes, HORIZON), horizon=HORIZON)
    assert found.plug_in == pytest.approx(exact.value, abs=1e-6)
    assert isinf(found.beta) == isinf(exact.beta)
    assert isinf(exact.beta) or found.beta == pytest.approx(
        exact.beta, rel=1e-3, abs=1e-3
    )


@pytest.mark.parametrize("beta", [-0.1, 0.05, 0.2])
def test_with_more_episodes_rationality_and_value_are_recovered(beta: float) -> None:
    mdp = cliff_world(5, 3)
    policy = soft_policy(mdp, beta, HORIZON)
    exact = known_utility(mdp, policy, horizon=HORIZON)
    episodes = sample(mdp, policy, 2000, rng(), HORIZON)
    few, many = (from_trajectories(episodes[:n], rng=rng()) for n in (50, 2000))
    assert many.beta == pytest.approx(beta, rel=0.1)
    assert many.value == pytest.approx(exact.value, abs=0.1)
    for found in (few, many):
        assert found.interval is not None
        assert found.value is not None
        assert found.interval[0] < exact.value < found.interval[1]
        assert found.interval[0] < found.value < found.interval[1]
    assert few.interval is not None
    assert many.interval is not None
    assert many.interval[1] - many.interval[0] < (few.interval[1] - few.interval[0]) / 4


def test_a_random_agent_is_not_goal_directed() -> None:
    found = from_trajectories(
        sample(
            cliff_world(5, 3),
            soft_policy(cliff_world(5, 3), 0.0, HORIZON),
            200,
            rng(),
            HORIZON,
        ),
        rng=rng(),
    )
    assert found.interval is not None
    assert found.interval[0] == 0.0 < found.interval[1] < 0.05
    assert found.value is not None
    assert found.value < 0.02


def test_an_optimal_agent_has_the_exact_supremum_and_may_yet_slip() -> None:
    mdp = cliff_world(10, 4)
    policy = soft_policy(mdp, inf, 30)
    exact = known_utility(mdp, policy, horizon=30)
    found = from_trajectories(sample(mdp, policy, 100, rng(), 30), rng=rng())
    assert found.beta == inf
    assert found.plug_in == pytest.approx(exact.value, abs=1e-6)
    assert found.value == pytest.approx(exact.value, abs=0.01)
    assert found.ceiling == pytest.approx(30 * log(4))
    assert found.interval is not None
    assert found.value is not None
    assert exact.value - 15 < found.interval[0] < found.value <= found.interval[1]


def test_one_action_that_is_not_optimal_makes_rationality_finite() -> None:
    mdp = grid(3)
    episodes = sample(mdp, soft_policy(mdp, inf, HORIZON), 20, rng(), HORIZON)
    assert from_trajectories(episodes, rng=rng()).beta == inf
    slipped = Episode(
        mdp=mdp,
        states=episodes[0].states[:1],
        actions=(episodes[0].actions[:1] + 2) % 4,
        horizon=HORIZON,
    )
    assert 1 < from_trajectories([*episodes, slipped], rng=rng()).beta < 1000


def test_one_rationality_explains_all_worlds() -> None:
    worlds = [grid(seed) for seed in range(12)]
    each = [
        sample(mdp, soft_policy(mdp, 2.0, HORIZON), 50, rng(), HORIZON)
        for mdp in worlds
    ]
    together = from_trajectories(
        [episode for episodes in each for episode in episodes], rng=rng()
    )
    apart = [from_trajectories(episodes, rng=rng()).plug_in for episodes in each]
    assert together.beta == pytest.approx(2.0, rel=0.1)
    assert together.plug_in <= np.mean(apart)
    assert together.plug_in == pytest.approx(
        np.mean(apart), abs=len(worlds) / 2 / 600 * 3
    )


def test_scale_and_origin_of_the_utility_do_not_matter() -> None:
    mdp = cliff_world(5, 3)
    episodes = sample(mdp, soft_policy(mdp, 0.1, HORIZON), 30, rng(), HORIZON)
    found = from_trajectories(episodes, rng=rng())
    other = from_trajectories(
        episodes,
        lambda world: replace(world, reward=3 - 7 * world.reward),
        rng=rng(),
        signed=True,
    )
    assert other.plug_in == pytest.approx(found.plug_in, abs=1e-6)
    assert other.beta == pytest.approx(-found.beta / 7, rel=1e-3)
    assert found.value is not None
    assert other.value == pytest.approx(-found.value, rel=1e-6)
    assert found.interval is not None
    assert other.interval is not None
    assert other.interval == pytest.approx(
        (-found.interval[1], -found.interval[0]), abs=0.02
    )


def test_unusable_decisions_are_worth_nothing_and_count() -> None:
    mdp = grid(3)
    episodes = sample(
        mdp, soft_policy(mdp, 1.0, HORIZON), 50, rng(), HORIZON, decisions=4
    )
    mute = [
        Episode(
            mdp=mdp,
            states=np.r_[e.states[:1], e.states],
            actions=np.r_[UNUSABLE, e.actions],
            horizon=HORIZON + 1,
        )
        for e in episodes
    ]
    found, other = (from_trajectories(each, rng=rng()) for each in (episodes, mute))
    assert other.plug_in == pytest.approx(found.plug_in, abs=1e-9)
    assert found.share is not None
    assert other.share == pytest.approx(
        found.share * found.n_decisions / (found.n_decisions + 50)
    )
    assert (found.n_unusable, other.n_unusable) == (0, 50)


@pytest.mark.parametrize("scale", [1e-9, 1e5, 1e9])
def test_the_unit_of_the_utility_does_not_matter(scale: float) -> None:
    mdp = cliff_world(4, 3)
    episodes = sample(mdp, soft_policy(mdp, 0.2, 8), 30, rng(), 8)
    found = from_trajectories(episodes, rng=rng())
    other = from_trajectories(
        episodes, lambda world: replace(world, reward=scale * world.reward), rng=rng()
    )
    assert other.beta * scale == pytest.approx(found.beta, rel=1e-5)
    assert (other.plug_in, other.value) == pytest.approx(
        (found.plug_in, found.value), rel=1e-9
    )


def test_a_state_of_enormous_cost_leaves_the_value_as_it_is_and_within_its_interval() -> (
    None
):
    found = {}
    for lava in (-1e3, -1e9):
        goes, stays = np.array([1, 1, 2]), np.arange(3)
        burns = np.array([2, 1, 2])
        mdp = TabularMDP(
            transition=tuple(csr_array(np.eye(3)[to]) for to in (stays, goes, burns)),
            start=np.eye(3)[0],
            reward=np.array([0.0, 1.0, lava]),
        )
        direct = Episode(
            mdp=mdp, states=np.array([0]), actions=np.array([1]), horizon=5
        )
        slipped = Episode(
            mdp=mdp, states=np.array([0, 0]), actions=np.array([0, 1]), horizon=5
        )
        found[lava] = from_trajectories([*[direct] * 20, slipped], rng=rng())
        interval, value = found[lava].interval, found[lava].value
        assert interval is not None
        assert value is not None
        assert interval[0] < value < interval[1]
    assert found[-1e9].plug_in == pytest.approx(found[-1e3].plug_in, abs=1e-6)
    assert found[-1e9].beta == pytest.approx(found[-1e3].beta, rel=1e-3)


def in_one_world(mdp: TabularMDP, beta: float, n: int, seed: int = 7) -> list[Episode]:
    drawn = sample(
        mdp, soft_policy(mdp, beta, HORIZON), n, np.random.default_rng(seed), HORIZON
    )
    return [replace(episode, cluster="one") for episode in drawn]


def test_a_single_world_is_corrected_over_its_episodes_and_has_no_interval() -> None:
    found = from_trajectories(in_one_world(grid(3), 1.0, 10), rng=rng())
    assert (found.interval, found.share_interval, found.n_clusters) == (None, None, 1)
    assert found.cross_fitted is not None
    assert found.value == (found.plug_in + found.cross_fitted) / 2 < found.plug_in


@pytest.mark.parametrize("n", [1, 4])
def test_a_single_world_with_few_episodes_has_no_value(n: int) -> None:
    found = from_trajectories(in_one_world(grid(3), 1.0, n), rng=rng())
    assert (found.value, found.share, found.interval, found.share_interval) == (
        None,
    ) * 4
    assert (
        found.reason
        == f"wanted several worlds, or at least 5 episodes in the only one, got {n}"
    )


def test_the_mean_over_single_worlds_of_a_random_agent_is_near_zero() -> None:
    worlds = [
        from_trajectories(in_one_world(grid(seed), 0.0, 5, seed), rng=rng())
        for seed in range(60)
    ]
    values = [found.value for found in worlds if found.value is not None]
    assert len(values) == len(worlds)
    assert np.mean(values) < 0.75 * np.mean([found.plug_in for found in worlds])
    assert np.mean(values) < 0.08


def test_where_no_decision_names_an_action_there_is_no_value() -> None:
    episodes = sample(
        grid(3), soft_policy(grid(3), 1.0, HORIZON), 3, rng(), HORIZON, decisions=2
    )
    mute = [
        replace(episode, actions=np.full_like(episode.actions, UNUSABLE))
        for episode in episodes
    ]
    for utility in (own_reward, Linear(("goal",))):
        found = from_trajectories(mute, utility, rng=rng())
        assert (found.value, found.share, found.interval, found.share_interval) == (
            None,
        ) * 4
        assert found.reason == "none of the 6 decisions names an action"


def test_the_same_generator_gives_the_same_estimate() -> None:
    mdp = grid(3)
    episodes = sample(mdp, soft_policy(mdp, 1.0, HORIZON), 10, rng(), HORIZON)
    first, second = (from_trajectories(episodes, rng=rng()) for _ in range(2))
    assert vars(first) == vars(second)


def test_worlds_of_several_kinds_and_unknown_features_are_refused() -> None:
    mdp = grid(3)
    (episode,) = sample(mdp, soft_policy(mdp, 1.0, HORIZON), 1, rng(), HORIZON)
    with pytest.raises(ValueError, match="got no episode"):
        from_trajectories([], rng=rng())
    with pytest.raises(ValueError, match="one discount"):
        from_trajectories(
            [episode, replace(episode, mdp=replace(mdp, discount=0.5))], rng=rng()
        )
    forced = replace(mdp, transition=mdp.transition[:1], actions=mdp.actions[:1])
    with pytest.raises(
        ValueError, match="at least two actions, got one: there is nothing to decide"
    ):
        from_trajectories(
            [
                Episode(
                    mdp=forced, states=np.array([0]), actions=np.array([0]), horizon=2
                )
            ],
            rng=rng(),
        )
    with pytest.raises(
        ValueError,
        match="wanted a label of the model, row, column, goal, wall, got 'cheese'",
    ):
        from_trajectories([episode], "cheese", rng=rng())


BROKEN = [
    ({"actions": np.array([0])}, "equally long"),
    ({"horizon": 1}, "horizon"),
    ({"states": np.array([0, 99])}, "states: wanted whole numbers from 0 to"),
    (
        {"actions": np.array([4, 0])},
        "actions: wanted whole numbers from -1 to 3, got 4",
    ),
    (
        {"states": np.array([0, 9])},
        "from state 0 by action 0 to state 9, which the model rules out",
    ),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_episodes_that_cannot_have_happened_are_refused(
    change: dict[str, np.ndarray], message: str
) -> None:
    possible = {
        "mdp": grid(3),
        "states": np.array([0, 0]),
        "actions": np.array([0, 0]),
        "horizon": 2,
    }
    Episode(**possible)
    with pytest.raises(ValueError, match=message):
        Episode(**{**possible, **change})


def test_a_decision_after_the_end_is_refused() -> None:
    mdp = grid(3)
    assert mdp.terminal is not None
    with pytest.raises(ValueError, match="where the episode is over"):
        Episode(
            mdp=mdp,
            states=np.flatnonzero(mdp.terminal),
            actions=np.array([0]),
            horizon=1,
        )
