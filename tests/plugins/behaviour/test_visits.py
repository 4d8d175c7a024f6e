"""The empirical policy of a state: its entropy, and its divergences from optimal
policies.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import isclose, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import entropy

from gde.data.json import Json
from gde.data.observation import State
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import Place, lacking
from gde_plugins.behaviour.visits import IDENTIFIED, VisitedState, visited

ACTIONS = ("UP", "DOWN", "LEFT", "RIGHT")


@st.composite
def states(draw: st.DrawFn) -> VisitedState:
    counts = draw(st.lists(st.integers(0, 12), min_size=4, max_size=4).filter(any))
    taken = {
        action: count for action, count in zip(ACTIONS, counts, strict=True) if count
    }
    best = draw(st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=4, unique=True))
    return VisitedState(optimal=tuple(best), value=-1.0, actions=Counter(taken))


def empirical(state: VisitedState) -> np.ndarray:
    return np.array(
        [state.actions[action] / state.actions.total() for action in ACTIONS]
    )


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    return float(
        entropy((p + q) / 2, base=2) - (entropy(p, base=2) + entropy(q, base=2)) / 2
    )


@given(states())
def test_entropy_and_divergence_are_those_of_scipy(state: VisitedState) -> None:
    uniform = np.array([action in state.optimal for action in ACTIONS]) / len(
        state.optimal
    )
    assert isclose(state.entropy, entropy(empirical(state), base=2), abs_tol=1e-12)
    assert isclose(state.optimal_entropy, entropy(uniform, base=2), abs_tol=1e-12)
    assert isclose(
        state.divergence, divergence(empirical(state), uniform), abs_tol=1e-12
    )
    assert 0 <= state.least_divergence <= state.divergence + 1e-12 <= 1 + 1e-12


@settings(max_examples=40)
@given(states())
def test_no_optimal_policy_is_nearer_than_the_least_divergence(
    state: VisitedState,
) -> None:
    p, best = empirical(state), [ACTIONS.index(action) for action in state.optimal]
    k = len(best)

    def away(masses: np.ndarray) -> float:
        q = np.zeros(len(ACTIONS))
        q[best] = np.clip(masses, 0, 1)
        return divergence(p, q / q.sum())

    whole = {"type": "eq", "fun": lambda masses: masses.sum() - 1}
    # The divergence is convex in the policy.
    options = {"maxiter": 500, "ftol": 1e-12}
    start = np.full(k, 1 / k)
    found = minimize(
        away,
        start,
        method="SLSQP",
        bounds=[(1e-9, 1)] * k,
        constraints=whole,
        options=options,
    )
    assert found.fun >= state.least_divergence - 1e-9
    assert found.fun == pytest.approx(state.least_divergence, abs=1e-4)


@given(states())
def test_the_nearest_optimal_policy_is_proportional_to_the_agents_own(
    state: VisitedState,
) -> None:
    mass = {action: state.actions[action] for action in state.optimal}
    total = sum(mass.values()) or 1
    nearest = np.array([mass.get(action, 0) / total for action in ACTIONS])
    if nearest.any():
        assert isclose(
            state.least_divergence, divergence(empirical(state), nearest), abs_tol=1e-12
        )
    else:
        assert state.least_divergence == 1


@given(st.lists(st.sampled_from(["UP", "LEFT"]), min_size=1))
def test_only_optimal_actions_in_any_mixture_are_no_divergence_from_the_nearest(
    taken: list[str],
) -> None:
    state = VisitedState(optimal=("UP", "LEFT"), value=-1.0, actions=Counter(taken))
    assert state.least_divergence == 0
    assert (state.divergence == 0) == (taken.count("UP") == taken.count("LEFT"))


@pytest.mark.parametrize("optima", [1, 2, 3])
@pytest.mark.parametrize("times", [1, 3, 7, 10])
def test_the_uniform_optimal_policy_does_not_diverge_from_itself_even_by_rounding(
    optima: int, times: int
) -> None:
    best = ACTIONS[:optima]
    assert (
        VisitedState(optimal=best, value=-1.0, actions=Counter(best * times)).divergence
        == 0
    )


def test_values_that_can_be_worked_out_by_hand() -> None:
    chance = VisitedState(optimal=("UP",), value=-1.0, actions=Counter(ACTIONS))
    assert chance.entropy == 2
    # Against the sure choice of one of four: (1/8) log2(2/5) + (3/8) log2(2) + (1/2)
    # log2(8/5).
    assert chance.divergence == pytest.approx(log2(2 / 5) / 8 + 3 / 8 + log2(8 / 5) / 2)
    wrong = VisitedState(optimal=("UP",), value=-1.0, actions=Counter(["DOWN"]))
    assert (wrong.entropy, wrong.divergence, wrong.least_divergence) == (0, 1, 1)


def test_a_state_collects_the_usable_answers_of_all_episodes_of_its_world(
    episode: Callable[..., Trajectory],
) -> None:
    walks = [
        episode(0, [(1, "UP"), (0, "DOWN"), (1, None)]),
        episode(0, [(1, "LEFT"), (2, None)], repeat=1),
        episode(5, [(1, "RIGHT")], base="family"),
    ]
    found = visited(walks)
    assert list(found) == [Place("world0", "world0"), Place("world5", "family")]
    assert [state.actions for state in found[Place("world0", "world0")]] == [
        {"UP": 1, "LEFT": 1},
        {"DOWN": 1},
        {},
    ]
    assert [state.actions for state in found[Place("world5", "family")]] == [
        {"RIGHT": 1}
    ]


def test_in_a_world_that_changes_the_same_index_is_another_state(
    episode: Callable[..., Trajectory],
) -> None:
    walk = episode(0, [(0, "UP"), (0, "UP"), (0, "UP")])
    moved = replace(walk.turns[1], optimal=("LEFT",))
    farther = replace(walk.turns[2], value=-4.0)
    (states,) = visited([replace(walk, turns=(walk.turns[0], moved, farther))]).values()
    assert [(state.optimal, state.value) for state in states] == [
        (("UP",), -1),
        (("LEFT",), -1),
        (("UP",), -4),
    ]


def test_cells_with_equal_index_and_ways_are_told_apart_by_the_walls_around_them(
    episode: Callable[..., Trajectory],
) -> None:
    walk = episode(0, [(0, "UP"), (0, "DOWN"), (0, "LEFT"), (0, "RIGHT")])
    before: dict[str, Json] = {"rows": ["#__G#"], "agent": [0, 1]}
    facts: list[dict[str, Json]] = [
        {"agent": [0, 1]},
        {"agent": [0, 1], "rows": ["#__G#"], "distractor": [0, 2]},
        {"agent": [0, 2], "rows": ["##_G#"]},
        {"agent": [0, 2], "rows": ["##_G#"], "perturbed": True},
    ]
    turns = tuple(
        replace(turn, state=State(facts=of, index=0))
        for turn, of in zip(walk.turns, facts, strict=True)
    )
    (states,) = visited(
        [replace(walk, world=replace(walk.world, facts=before), turns=turns)]
    ).values()
    assert [state.actions for state in states] == [
        {"UP": 1, "DOWN": 1},
        {"LEFT": 1, "RIGHT": 1},
    ]


def test_turns_without_a_state_are_named(episode: Callable[..., Trajectory]) -> None:
    walk = episode(0, [(0, "UP"), (0, "UP")])
    assert lacking([walk], IDENTIFIED) == ""
    blind = replace(walk, turns=(walk.turns[0], replace(walk.turns[1], state=None)))
    assert lacking([blind], IDENTIFIED) == "1 of 2 turns have no state of a model"
