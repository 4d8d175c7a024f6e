"""Targets at times, coarser models, the price of utilities, and networks against tabular optima."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gde_plugins.meg import known_utility, unknown_utility
from gde_plugins.meg.solvers.coarsening import coarsened
from gde_plugins.meg.solvers.complexity import priced
from gde_plugins.meg.solvers.timed import targets_at
from gde_plugins.meg.trajectories.black_box import Tries, lower_bound
from gde_plugins.meg.trajectories.expected import Tabulated
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy, random_mdp, random_policy

WORLD = cliff_world(4, 3)
HORIZON = 6
ERRING = epsilon_greedy(greedy(WORLD, HORIZON), 0.2)


def test_towards_every_state_at_every_time_is_at_least_towards_any_utility_of_states() -> None:
    world = replace(WORLD, labels={"state": np.arange(12.0)})
    everything = targets_at(world, ERRING, {"state": range(HORIZON)}, HORIZON)
    assert everything.bounds[1] >= unknown_utility(WORLD, ERRING, "states", HORIZON).value - 1e-6
    assert everything.converged


def test_more_targets_explain_more_and_the_past_explains_nothing() -> None:
    late = targets_at(WORLD, ERRING, {"column": [5]}, HORIZON)
    more = targets_at(WORLD, ERRING, {"column": [5], "row": [4]}, HORIZON)
    assert 0 < late.value <= more.value + 1e-6
    assert targets_at(WORLD, ERRING, {"row": [0]}, HORIZON).value == pytest.approx(0, abs=1e-9)


def test_who_only_cares_for_the_end_is_explained_by_the_end() -> None:
    """Soft-optimal towards the last column at the last step: no utility of states at all times explains it as well."""
    ends = replace(WORLD, labels={"column": WORLD.labels["column"]})
    wanted = targets_at(ends, ERRING, {"column": [HORIZON - 1]}, HORIZON)
    policy = wanted.policy.probabilities.reshape(HORIZON, HORIZON + 1, 12, 4)[range(HORIZON), range(HORIZON)]
    again = targets_at(ends, replace(ERRING, probabilities=policy), {"column": [HORIZON - 1]}, HORIZON)
    itself = unknown_utility(ends, replace(ERRING, probabilities=policy), "states", HORIZON)
    assert again.value >= itself.value - 1e-6


@pytest.mark.parametrize(
    ("targets", "said"),
    [({}, "at least one variable"), ({"colour": [0]}, "got 'colour'"), ({"row": [6]}, "times from 0 to 5, got 6")],
)
def test_targets_that_are_not_there_are_named(targets: dict[str, list[int]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        targets_at(WORLD, ERRING, targets, HORIZON)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_a_model_in_which_nothing_is_merged_is_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, 5, 3, n_terminal=1)
    policy = random_policy(rng, mdp)
    order = rng.permutation(5)
    same = coarsened(mdp, policy, order, 4)
    wanted = known_utility(mdp, policy, 4).value
    assert known_utility(same.mdp, same.policy, 4).value == pytest.approx(wanted, abs=1e-8)


def test_merging_what_tells_where_the_goal_is_hides_it() -> None:
    policy = random_policy(np.random.default_rng(0), WORLD)
    one = coarsened(WORLD, policy, np.zeros(12, dtype=int), HORIZON)
    assert one.mdp.n_states == 1
    assert known_utility(one.mdp, one.policy, HORIZON).value == pytest.approx(0, abs=1e-9)
    rows = coarsened(WORLD, ERRING, np.unique(WORLD.labels["row"], return_inverse=True)[1], HORIZON)
    assert known_utility(rows.mdp, rows.policy, HORIZON).value < known_utility(WORLD, ERRING, HORIZON).value


def test_groups_are_numbered_and_keep_ends_apart() -> None:
    mdp = random_mdp(np.random.default_rng(0), 4, 2, n_terminal=1)
    policy = random_policy(np.random.default_rng(0), mdp)
    for groups in (np.array([0, 2, 2, 0]), np.array([0, 1]), np.array([0.0, 1, 2, 3])):
        with pytest.raises(ValueError, match="groups: wanted"):
            coarsened(mdp, policy, groups, 3)
    with pytest.raises(ValueError, match="terminal states in groups of their own"):
        coarsened(mdp, policy, np.array([0, 1, 2, 2]), 3)


def test_a_table_of_actions_explains_all_and_costs_most() -> None:
    policy = random_policy(np.random.default_rng(1), WORLD, HORIZON)
    classes = {name: unknown_utility(WORLD, policy, name, HORIZON) for name in ("states", "state-actions")}
    found = {"reward": known_utility(WORLD, policy, HORIZON), **classes}
    assert max(found, key=lambda name: found[name].value) == "state-actions"
    few = priced(found, episodes=20)
    assert few[0].name == "reward"
    assert few[-1].price > few[0].price
    assert priced(found, episodes=10**6)[0].name == "state-actions"
    with pytest.raises(ValueError, match="at least 1, got 0"):
        priced(found, episodes=0)


def test_a_network_is_a_lower_bound_that_reaches_the_tabular_optimum() -> None:
    torch = pytest.importorskip("torch")
    rng, world = np.random.default_rng(0), replace(WORLD, discount=0.8, terminal=WORLD.labels["goal"] > 0)
    states = np.arange(12)
    policy = epsilon_greedy(replace(ERRING, probabilities=ERRING.probabilities[0]), 0.2)
    agent = Tabulated(mdp=world, probabilities=policy.probabilities, steps=40)
    episodes = [agent.draw(rng, str(i)) for i in range(150)]
    optimum = unknown_utility(world, policy, "states", None)

    def make(width: int) -> "torch.nn.Module":
        torch.manual_seed(0)
        return torch.nn.Linear(width, 1)

    one_hot = lower_bound(Tries.tabulated(episodes, [np.eye(12)[states]] * 150), lambda: make(12), rng)
    coarse = lower_bound(Tries.tabulated(episodes, [(states % 4 / 4)[:, None]] * 150), lambda: make(1), rng)
    assert one_hot.interval is not None
    assert one_hot.interval[0] <= optimum.bounds[1] + 1e-6
    assert one_hot.value == pytest.approx(optimum.value, rel=0.3)
    assert coarse.value < one_hot.value


def test_too_few_clusters_are_said() -> None:
    pytest.importorskip("torch")
    agent = Tabulated(mdp=WORLD, probabilities=random_policy(np.random.default_rng(0), WORLD).probabilities, steps=3)
    tries = Tries.tabulated([agent.draw(np.random.default_rng(0), "one")] * 3, [np.eye(12)] * 3)
    with pytest.raises(ValueError, match="at least 2 clusters of episodes, one for each fold, got 1"):
        lower_bound(tries, lambda: None, np.random.default_rng(0))  # type: ignore[arg-type, return-value]
