"""`gde.numerics.tabular` against what is known by hand, by enumeration of policies and
by linear algebra.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gde.data.mdp import Policy, TabularMDP
from gde.errors import GdeError
from gde.numerics.tabular import occupancy, solve, steps_to

few = settings(max_examples=60)
Floats = NDArray[np.float64]


def mdp(
    transition: Sequence[Sequence[Sequence[float]]],
    reward: Sequence[float] | Floats,
    **options: object,
) -> TabularMDP:
    """A model from dense (A, S, S) probabilities, starting in state 0."""
    dense = np.array(transition)
    start = np.eye(dense.shape[1])[0]
    matrices = tuple(csr_array(matrix) for matrix in dense)
    return TabularMDP(
        transition=matrices,
        start=start,
        reward=np.asarray(reward, dtype=float),
        **options,
    )  # type: ignore[arg-type]


def random_mdp(seed: int, n_states: int, n_actions: int, discount: float) -> TabularMDP:
    rng = np.random.default_rng(seed)
    dense = rng.dirichlet(np.full(n_states, 0.3), size=(n_actions, n_states))
    return mdp(
        dense.tolist(), rng.normal(size=(n_states, n_actions)), discount=discount
    )


def chain(
    successors: list[list[int]], terminal: list[bool], cost: float = 1.0
) -> TabularMDP:
    """A deterministic model from (A, S) successors, every step costing the same."""
    n_states = len(successors[0])
    ends = np.array(terminal)
    dense = [np.eye(n_states)[row].tolist() for row in successors]
    return mdp(dense, np.where(ends, 0.0, -cost), terminal=ends)


def value_of(model: TabularMDP, choice: tuple[int, ...]) -> Floats:
    """(S,) discounted return of a deterministic policy, by solving its linear
    equations.
    """
    S = model.n_states
    P = np.array([model.transition[a].toarray()[s] for s, a in enumerate(choice)])
    reward = model.reward[np.arange(S), list(choice)]
    return np.asarray(
        np.linalg.solve(np.eye(S) - model.discount * P, reward), dtype=np.float64
    )


def bellman_ford(successors: list[list[int]], terminal: list[bool]) -> list[float]:
    distance = [0.0 if end else np.inf for end in terminal]
    for _ in terminal:
        for row in successors:
            for state, after in enumerate(row):
                distance[state] = min(distance[state], distance[after] + 1)
    return distance


def test_a_corridor_by_hand() -> None:
    # 0 <-> 1 <-> 2 = end; action 0 goes left, 1 goes right; 3 is cut off.
    solution = solve(
        chain([[0, 0, 2, 3], [1, 2, 2, 3]], [False, False, True, False], cost=2.0)
    )
    assert solution.value.tolist() == [-4.0, -2.0, 0.0, -np.inf]
    assert solution.optimal.tolist() == [
        [False, True],
        [False, True],
        [False, False],
        [False, False],
    ]
    assert not np.signbit(solution.value[2])


CORRIDOR = chain([[0, 0, 2], [1, 2, 2]], [False, False, True], cost=2.0)


@pytest.mark.parametrize(
    ("changes", "exact"),
    [
        ({}, True),
        ({"reward": np.array([[-2.0, -2.0], [-2.0, -2.0], [9.0, 9.0]])}, True),
        ({"discount": 0.9}, False),
        ({"reward": np.array([-2.0, -1.0, 0.0])}, False),
        ({"reward": np.array([2.0, 2.0, 0.0]), "discount": 0.9}, False),
        ({"reward": np.array([-2.0, -2.0, 1.0])}, False),
        ({"reward": np.zeros(3)}, False),
        ({"terminal": None, "discount": 0.9}, False),
        (
            {
                "transition": (
                    csr_array(np.array([[0, 0.5, 0.5], [0, 0, 1], [0, 0, 1]])),
                )
            },
            False,
        ),
    ],
)
def test_worlds_of_equal_steps_are_searched_and_no_other(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], exact: bool
) -> None:
    """Search has no rounding errors, so it must be the one where it can be."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("the other method")

    other = "_iterate_values" if exact else "_search"
    monkeypatch.setattr(f"gde.numerics.tabular.{other}", refuse)
    model = replace(CORRIDOR, **changes)  # type: ignore[arg-type]
    assert solve(model).value.shape == (3,)


def test_a_solution_is_made_once_and_nobody_may_change_it() -> None:
    model = replace(CORRIDOR)
    solution = solve(model)
    assert solve(model) is solution
    for array in (solution.value, solution.optimal):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    assert solve(model, tolerance=0.5) is not solution


@few
@given(st.integers(2, 9), st.integers(1, 4), st.data())
def test_exact_search_agrees_with_bellman_ford(
    n_states: int, n_actions: int, data: st.DataObject
) -> None:
    row = st.lists(st.integers(0, n_states - 1), min_size=n_states, max_size=n_states)
    successors = data.draw(st.lists(row, min_size=n_actions, max_size=n_actions))
    terminal = data.draw(
        st.lists(st.booleans(), min_size=n_states, max_size=n_states).filter(any)
    )
    distance = bellman_ford(successors, terminal)
    solution = solve(chain(successors, terminal))
    assert solution.value.tolist() == [-steps if steps else 0.0 for steps in distance]
    for state, action in itertools.product(range(n_states), range(n_actions)):
        ahead = distance[successors[action][state]]
        wanted = (
            not terminal[state]
            and np.isfinite(distance[state])
            and ahead == distance[state] - 1
        )
        assert solution.optimal[state, action] == wanted


@few
@given(st.integers(2, 9), st.integers(1, 4), st.data())
def test_value_iteration_agrees_with_exact_search(
    n_states: int, n_actions: int, data: st.DataObject
) -> None:
    row = st.lists(st.integers(0, n_states - 1), min_size=n_states, max_size=n_states)
    successors = data.draw(st.lists(row, min_size=n_actions, max_size=n_actions))
    terminal = data.draw(
        st.lists(st.booleans(), min_size=n_states, max_size=n_states).filter(any)
    )
    exact = chain(successors, terminal)
    # A prize for ending shifts every value that is finite, and is nothing that exact
    # search takes.
    prize = TabularMDP(
        transition=exact.transition,
        start=exact.start,
        reward=exact.reward + 5.0 * np.array(terminal),
        terminal=exact.terminal,
    )
    np.testing.assert_allclose(solve(prize).value, solve(exact).value + 5.0)
    assert (solve(prize).optimal == solve(exact).optimal).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("discount", [0.0, 0.5, 0.95])
def test_no_policy_beats_the_optimum_and_the_best_reach_it(
    seed: int, discount: float
) -> None:
    model = random_mdp(seed, n_states=4, n_actions=3, discount=discount)
    solution = solve(model)
    values = {
        choice: value_of(model, choice)
        for choice in itertools.product(range(3), repeat=4)
    }
    best = np.max(list(values.values()), axis=0)
    np.testing.assert_allclose(solution.value, best, atol=1e-8)
    for choice, value in values.items():
        allowed = all(
            solution.optimal[state, action] for state, action in enumerate(choice)
        )
        assert allowed == np.allclose(value, best, atol=1e-8)


def test_a_slippery_step_takes_longer_by_its_chance() -> None:
    solution = solve(
        mdp([[[0.75, 0.25], [0, 1]]], [-1.0, 0.0], terminal=np.array([False, True]))
    )
    assert solution.value[0] == pytest.approx(-4.0)
    assert solution.optimal[0, 0]


def test_a_risk_of_never_ending_is_avoided() -> None:
    # In state 0, action 0 is quick but may fall into the pit 2; action 1 goes round by
    # 1.
    gamble: list[list[float]] = [
        [0, 0, 0.5, 0.5],
        [0, 0, 0, 1],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
    detour = [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]]
    solution = solve(
        mdp(
            [gamble, detour],
            [-1, -1, -1, 0],
            terminal=np.array([False, False, False, True]),
        )
    )
    assert solution.value.tolist() == [-2.0, -1.0, -np.inf, 0.0]
    assert solution.optimal[[0, 2]].tolist() == [[False, True], [False, False]]


def test_ties_are_all_kept() -> None:
    solution = solve(
        mdp([[[0, 1], [0, 1]]] * 3, [-1.0, 0.0], terminal=np.array([False, True]))
    )
    assert solution.optimal[0].all()


@pytest.mark.parametrize(
    ("shortfall", "is_tie"),
    [(1e-4, False), (1e-6, False), (3e-9, False), (1.5e-9, True), (1e-10, True)],
)
@pytest.mark.parametrize("discount", [0.9, 1.0])
def test_only_what_rounding_tells_apart_is_a_tie(
    shortfall: float, is_tie: bool, discount: float
) -> None:
    ends = np.array([False, True])
    rewards = np.array([[1.0, 1.0 - shortfall], [0.0, 0.0]])
    solution = solve(
        mdp([[[0, 1], [0, 1]]] * 2, rewards, terminal=ends, discount=discount)
    )
    assert solution.optimal[0].tolist() == [True, is_tie]


def test_value_iteration_goes_on_until_the_value_is_exact() -> None:
    # Staying forever for 1 a step is worth 1 / (1 - discount).
    solution = solve(mdp([[[1.0]]], [1.0], discount=0.99))
    assert solution.value[0] == pytest.approx(100, rel=2e-9)


def test_without_discount_and_end_nothing_is_optimal() -> None:
    with pytest.raises(
        ValueError, match="needs a terminal state, got none: give a discount below 1"
    ):
        solve(mdp([[[1.0]]], [1.0]))


def test_rewards_for_ever_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gde.numerics.tabular.SWEEPS", 200)
    stay, leave = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(
        GdeError,
        match="still change by 1 after 200 sweeps; give the model a discount below 1",
    ):
        solve(mdp([stay, leave], [1.0, 0.0], terminal=np.array([False, True])))


def test_steps_follow_the_direction_of_edges() -> None:
    graph = csr_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    assert steps_to(graph, np.array([2])).tolist() == [2.0, 1.0, 0.0]
    assert steps_to(graph, np.array([0, 1])).tolist() == [0.0, 0.0, np.inf]
    # Every edge is one step, however likely it is.
    assert steps_to(0.25 * graph, np.array([2])).tolist() == [2.0, 1.0, 0.0]


@few
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_occupancy_sums_to_the_horizon_and_weighs_the_return(
    seed: int, horizon: int
) -> None:
    model = random_mdp(seed, n_states=4, n_actions=2, discount=1.0)
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet([1, 1], size=(horizon, 4))
    visits = occupancy(model, Policy(probabilities=probabilities), horizon)
    assert visits.sum() == pytest.approx(horizon)
    # The return by backward induction, which never looks at visits.
    value = np.zeros(4)
    for now in reversed(probabilities):
        ahead = np.stack([matrix @ value for matrix in model.transition], axis=1)
        value = (now * (model.reward + ahead)).sum(axis=1)
    assert (visits * model.reward).sum() == pytest.approx(model.start @ value)


def test_a_policy_without_time_is_the_same_one_at_all_times() -> None:
    model = random_mdp(5, n_states=4, n_actions=2, discount=0.9)
    always = np.random.default_rng(5).dirichlet([1, 1], size=4)
    expected = occupancy(model, Policy(probabilities=always), 3)
    # Steps of a policy beyond the horizon are not taken.
    later = np.full((2, 4, 2), 0.5)
    for more in (later[:0], later):
        timed = np.concatenate([np.stack([always] * 3), more])
        found = occupancy(model, Policy(probabilities=timed), 3)
        assert found == pytest.approx(expected)
    assert expected.sum() == pytest.approx(1 + 0.9 + 0.81)


def test_occupancy_stops_at_the_end_and_is_discounted() -> None:
    model = mdp(
        [[[0, 1, 0], [0, 0, 1], [0, 0, 1]]],
        [0, 0, 1],
        terminal=np.array([False, False, True]),
        discount=0.5,
    )
    always = Policy(probabilities=np.ones((3, 1)))
    assert occupancy(model, always, horizon=10)[:, 0].tolist() == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("shape", [(3, 2), (5, 4, 2), (4, 3)])
def test_occupancy_wants_a_policy_of_the_model(shape: tuple[int, ...]) -> None:
    model = random_mdp(0, n_states=4, n_actions=2, discount=0.9)
    policy = Policy(probabilities=np.full(shape, 1 / shape[-1]))
    with pytest.raises(
        ValueError,
        match=r"policy must have shape \(4, 2\) or \(at least 6, \*\(4, 2\)\), got",
    ):
        occupancy(model, policy, horizon=6)


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e9, 1e12])
@pytest.mark.parametrize("discount", [0.5, 0.95])
def test_the_unit_of_the_reward_does_not_matter(unit: float, discount: float) -> None:
    model = random_mdp(3, n_states=4, n_actions=3, discount=discount)
    solution, rescaled = solve(model), solve(replace(model, reward=unit * model.reward))
    np.testing.assert_allclose(rescaled.value / unit, solution.value, rtol=1e-7)
    assert (rescaled.optimal == solution.optimal).all()


@pytest.mark.parametrize("penalty", [1e3, 1e9, 1e12])
def test_a_large_penalty_elsewhere_makes_nothing_equal(penalty: float) -> None:
    # From 0 one may stay for nothing, go to 1 for a reward or fall into 2.
    ways = [np.eye(3)[way].tolist() for way in ([0, 1, 2], [1, 1, 2], [2, 1, 2])]
    solution = solve(mdp(ways, [0.0, 1.0, -penalty], discount=0.9))
    assert solution.optimal[0].tolist() == [False, True, False]
    assert solution.value[:2] == pytest.approx([9.0, 10.0])


def test_values_that_cancel_out_are_still_equal() -> None:
    # Ways of ten and of three steps cost the same, which their prizes make up for: only
    # rounding differs from 0.
    n, ends = 15, [13, 14]
    after = np.arange(1, n + 1)
    after[[10, 12]], after[ends] = 13, ends
    detour = after.copy()
    detour[0], after[12] = 11, 14
    reward = np.full(n, -0.1)
    reward[[11, 12]], reward[0], reward[ends] = -0.5, 0.0, 1.0
    terminal = np.isin(np.arange(n), ends)
    solution = solve(
        mdp(
            [np.eye(n)[after].tolist(), np.eye(n)[detour].tolist()],
            reward,
            terminal=terminal,
        )
    )
    assert solution.value[0] == pytest.approx(0, abs=1e-12)
    assert solution.optimal[0].all()
