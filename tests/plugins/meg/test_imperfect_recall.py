"""Decisions that do not recall what others did: no concave problem, held against brute
force.
"""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr

from gde_plugins.meg.causal import (
    Diagram,
    decision,
    forgetful_mouse,
    known_utility,
    target_variables,
    utility,
)
from gde_plugins.meg.causal.branch_and_bound import (
    Cells,
    Space,
    _most_random_beside,
    at,
    most_random,
    point_of,
    policies_at,
)
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.diagram import chance

XOR = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])


def two_hands(first: float, second: float, outcome: np.ndarray = XOR) -> Diagram:
    """Two decisions that know nothing, least of all of each other, and what comes of
    both.
    """
    return Diagram(
        decision("D1", [1 - first, first]),
        decision("D2", [1 - second, second]),
        chance("T", outcome, ["D1", "D2"]),
    )


def brute_force(first: float, second: float, pays: np.ndarray, n: int = 400) -> float:
    """MEG towards pays[d1, d2] by Definition 3.2: of policies on a grid, the most
    random ones for what they earn.
    """
    grid = np.linspace(0, 1, n + 1)
    p, q = np.meshgrid(grid, grid, indexing="ij")
    earned = (1 - p) * ((1 - q) * pays[0, 0] + q * pays[0, 1]) + p * (
        (1 - q) * pays[1, 0] + q * pays[1, 1]
    )
    entropy = sum(entr(each) + entr(1 - each) for each in (p, q))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = [
            np.where(x > 0, x * np.log(y), 0.0)
            for x, y in ((first, p), (1 - first, 1 - p))
        ]
        logs += [
            np.where(x > 0, x * np.log(y), 0.0)
            for x, y in ((second, q), (1 - second, 1 - q))
        ]
    predicted = 2 * log(2) + sum(logs)
    level = np.round((earned - earned.min()) / np.ptp(earned) * n / 4).astype(int)
    best = np.full(level.max() + 1, -np.inf)
    np.maximum.at(best, level.ravel(), entropy.ravel())
    return float(predicted[entropy >= best[level] - 1e-9].max())


@pytest.mark.parametrize("pays", [[1.0, 0.0], [0.0, 1.0]])
def test_of_equally_good_solutions_it_is_the_one_that_predicts_best(
    pays: list[float],
) -> None:
    """Agreeing on 1 and agreeing on 0 are as good; the utility that pays for agreement
    was said to predict nothing.
    """
    found = known_utility(
        two_hands(0.8, 0.8).posit(utilities=[utility("U", pays, ["T"])])
    )
    itself = 2 * (log(2) - float(entr(0.8) + entr(0.2)))
    assert found.value == pytest.approx(itself, abs=1e-6)
    assert found.bounds[1] == pytest.approx(itself)
    assert brute_force(0.8, 0.8, XOR @ np.array(pays)) == pytest.approx(
        itself, abs=0.01
    )


def test_policies_that_trade_utility_at_no_single_rate_are_found() -> None:
    """Agreeing a little pays less than entropy costs at any rate: maximising beta *
    E[U] + entropy never finds it.
    """
    found = known_utility(
        two_hands(0.6, 0.7).posit(utilities=[utility("U", [1.0, 0.0], ["T"])])
    )
    same = 0.65  # both hands alike are most random for how often they agree
    wanted = 2 * (log(2) - float(entr(same) + entr(1 - same)))
    assert found.converged
    assert found.value == pytest.approx(wanted, abs=1e-3)
    assert found.bounds[1] >= wanted - 1e-9
    assert found.bounds[1] - found.bounds[0] <= 2e-3
    assert brute_force(0.6, 0.7, XOR @ np.array([1.0, 0.0])) == pytest.approx(
        wanted, abs=0.01
    )


@pytest.mark.parametrize("accuracy", [0.8, 0.95])
def test_bounds_of_a_forgetful_mouse_close(accuracy: float) -> None:
    hypothesis = forgetful_mouse(accuracy).posit(
        utilities=[utility("U", [0.0, 1.0], ["C3"])]
    )
    found = known_utility(hypothesis)
    assert found.converged
    assert found.bounds[1] - found.bounds[0] <= 2e-3


@pytest.mark.parametrize("seed", range(2))
def test_no_policy_of_highest_entropy_exceeds_the_bounds(seed: int) -> None:
    """Drawn at random and made most random for their utility by another search; none
    predicts better.
    """
    rng = np.random.default_rng(seed)
    outcome, pays = rng.dirichlet(np.ones(2), size=(2, 2)), np.array([0.0, 1.0])
    problem = DecisionProblem(
        two_hands(*rng.uniform(0.05, 0.95, size=2), outcome), [("T",)]
    )
    space = Space.of(problem, pays)
    assert space is not None
    found = known_utility(problem.diagram.posit(utilities=[utility("U", pays, ["T"])]))
    assert found.converged
    points = [_most_random_beside(space, drawn(space, rng)) for _ in range(10)]
    best = [point for point in points if most_random(space, point, 1e-6)]
    assert len(best) >= 3
    for point in best:
        assert space.accuracy(point) <= found.bounds[1] + 1e-9
    assert most_random(space, point_of(found.policies))


@settings(max_examples=6)
@given(st.integers(0, 10**6), st.booleans())
def test_what_cells_promise_holds_within_them(seed: int, two: bool) -> None:
    rng = np.random.default_rng(seed)
    mouse = DecisionProblem(forgetful_mouse(rng.uniform()), [("C3",)])
    hands = DecisionProblem(hands_at_random(rng), [("T",)])
    problem = mouse if two else hands
    space = Space.of(problem, rng.normal(size=2))
    assert space is not None
    sides = np.sort(rng.uniform(size=(2, 1, len(space.taken))), axis=0)
    cell = (
        Cells(sides[0], sides[1])
        if rng.random() < 0.5
        else space.whole().halves().halves().where(np.arange(4) == 0)
    )
    for _ in range(8):
        inside = rng.uniform(cell.low[0], cell.high[0])
        here = at(inside)
        assert space.accuracy(inside) <= space.accuracies(cell)[0] + 1e-12
        assert space.accuracies(here)[0] == pytest.approx(space.accuracy(inside))
        for bounds, values in (
            (space.utilities(cell), space.utilities(here)),
            (space.entropies(cell), space.entropies(here)),
        ):
            assert bounds[0][0] <= values[0][0] + 1e-12
            assert values[1][0] <= bounds[1][0] + 1e-12
        for (low, high), (value, _) in zip(
            space.gradients(cell)[0], space.gradients(here)[0], strict=True
        ):
            assert low[0] - 1e-9 <= value[0] <= high[0] + 1e-9
        assert space.entropies(here)[0][0] == pytest.approx(
            problem.entropy(policies_at(problem, inside))
        )


def test_halves_of_a_cell_are_all_of_it() -> None:
    cells = Cells(np.zeros((1, 2)), np.ones((1, 2)))
    for _ in range(5):
        cells = cells.halves()
    assert (cells.high - cells.low).prod(axis=1).sum() == pytest.approx(1)


def hands_at_random(rng: np.random.Generator) -> Diagram:
    outcome = rng.dirichlet(np.ones(2), size=(2, 2))
    return two_hands(*rng.uniform(size=2), outcome)


def drawn(space: Space, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(size=len(space.taken))


def test_many_rows_or_options_are_left_to_the_local_search() -> None:
    many = Diagram(
        decision("D1", np.full(4, 0.25)),
        decision("D2", np.full(3, 1 / 3)),
        chance("T", np.full((4, 3, 2), 0.5), ["D1", "D2"]),
    )
    assert Space.of(DecisionProblem(many, [("T",)]), np.array([0.0, 1.0])) is None


@pytest.mark.extended
def test_target_variables_are_at_least_as_good_as_any_utility_of_theirs() -> None:
    decided = two_hands(0.9, 0.3)
    known = known_utility(decided.posit(utilities=[utility("U", [3.0, -2.0], ["T"])]))
    assert target_variables(decided, ["T"]).value >= known.value - 1e-6


def test_decisions_that_a_target_does_not_depend_on_raise_no_bound() -> None:
    """S2 is settled before the second decision: half of the mouse's choices are about
    something else.
    """
    found = target_variables(forgetful_mouse(1.0), ["S2"])
    assert found.bounds[1] <= found.ceiling + 1e-12
    assert found.ceiling == pytest.approx(log(2))


@pytest.mark.parametrize("seed", range(2))
def test_a_random_outcome_of_two_hands_is_no_worse_than_brute_force(seed: int) -> None:
    """Definition 3.2 on a grid of policies; the search may do better than the grid's
    steps, and no worse.
    """
    rng = np.random.default_rng(seed)
    outcome = rng.dirichlet(np.ones(2), size=(2, 2))
    first, second = rng.uniform(0.1, 0.9, size=2)
    found = known_utility(
        two_hands(first, second, outcome).posit(
            utilities=[utility("U", [0.0, 1.0], ["T"])]
        )
    )
    assert found.value == pytest.approx(
        brute_force(first, second, outcome @ np.array([0.0, 1.0])), abs=0.03
    )
