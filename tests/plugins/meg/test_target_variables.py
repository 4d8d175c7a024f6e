"""Causal models of MacDermott et al. (2024), held against closed forms and an
independent solver.
"""

from math import inf, log

import numpy as np
import pytest
from causal_parts import forgetful_mouse, joint, mdp_diagram, random_network, some
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from random_models import random_mdp, random_policy
from scipy.special import entr

import gde_plugins.meg.solvers.known as mdp_known
from gde_plugins.meg.causal import (
    Diagram,
    chance,
    mouse,
    target_variables,
    towards_utilities,
    utility,
    with_recall,
)
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.graph import d_separated, descendants
from gde_plugins.meg.causal.measurement import accuracy as accuracy_of
from gde_plugins.meg.causal.soft_optimal import soft_optimal

SEEDS = st.integers(0, 10**6)
CHEESE = utility("U", [-1.0, 1.0], ["T"])


def evidence(accuracy: float) -> float:
    """Nats by which a choice between two, right with this probability, is told from
    chance.
    """
    return log(2) - float(entr(accuracy) + entr(1 - accuracy))


@settings(max_examples=15)
@given(st.floats(0.001, 0.999))
def test_the_mouse_of_example_1(accuracy: float) -> None:
    known = towards_utilities(mouse(accuracy).posit(utilities=[CHEESE]))
    unknown = target_variables(mouse(accuracy), ["T"])
    assert known.value == pytest.approx(evidence(accuracy), abs=1e-9)
    assert known.beta == pytest.approx(log(accuracy / (1 - accuracy)) / 2, abs=1e-4)
    assert unknown.value == pytest.approx(evidence(accuracy), abs=1e-9)
    assert known.converged
    assert unknown.converged


def test_the_numbers_printed_for_example_1() -> None:
    assert towards_utilities(
        mouse(0.8).posit(utilities=[CHEESE])
    ).value == pytest.approx(0.19, abs=0.005)
    best = towards_utilities(mouse(1.0).posit(utilities=[CHEESE]))
    assert (best.value, best.beta, best.share) == (log(2), inf, 1.0)
    assert towards_utilities(mouse(0.0).posit(utilities=[CHEESE])).beta == -inf


def plugged_in(scale: float) -> float:
    """Log-probability of a perfect mouse where MCE takes the utility as it is (eq. 2)."""
    problem = DecisionProblem(mouse(1.0), [["T"]])
    cheese = problem.of_targets(np.array([-scale, scale]), ["T"])
    return accuracy_of(problem, soft_optimal(problem, cheese)) - problem.ceiling


def test_plugged_into_mce_twice_the_utility_is_another_goal() -> None:
    """Section 3 prints -.13 and -.018; MEG is the same (Proposition 3.1)."""
    assert plugged_in(1) == pytest.approx(-log(1 + np.exp(-2)))
    assert (plugged_in(1), plugged_in(2)) == pytest.approx((-0.13, -0.018), abs=4e-3)
    assert [
        towards_utilities(
            mouse(1.0).posit(utilities=[utility("U", [-scale, scale], ["T"])])
        ).value
        for scale in (1, 2)
    ] == [log(2), log(2)]


def mechanised_mouse(reversal: float, adapts: bool) -> Diagram:
    """Figure 4: Example 1 with a mechanism of each variable, and one of the decision that
    answers to the others.

    Args:
        reversal: probability that the cheese is where it does not smell.
        adapts: whether the mouse then goes away from the smell.
    """
    same = np.eye(2)
    gets = np.stack([1 - same, same], axis=-1)
    towards = np.array([[0.8, 0.2], [0.2, 0.8]])
    answer = same if adapts else np.array([[1.0, 0.0], [1.0, 0.0]])
    return Diagram(
        chance("S~", [0.5, 0.5]),
        chance("T~", [1 - reversal, reversal]),
        chance("D~", [answer, answer], ["S~", "T~"]),
        chance("S", [[0.9, 0.1], [0.1, 0.9]], ["S~"]),
        chance("D", [towards, 1 - towards], ["D~", "S"]),
        chance("T", [gets, gets[::-1]], ["T~", "S", "D"]),
    )


@pytest.mark.parametrize("reversal", [0.0, 0.5])
def test_mechanisms_are_variables_like_others(reversal: float) -> None:
    """Figure 4: Example 1 has the same MEG whether or not they are in the model."""
    adapts = mechanised_mouse(reversal, adapts=True)
    found = target_variables(adapts, ["T"], ["D"])
    assert found.value == pytest.approx(evidence(0.8), abs=1e-9)
    assert found.bounds[1] == pytest.approx(evidence(0.8), abs=1e-6)
    rigid = target_variables(mechanised_mouse(reversal, adapts=False), ["T"], ["D"])
    blind = 0 if reversal else evidence(0.8)
    assert rigid.value == pytest.approx(blind, abs=1e-9)


@pytest.mark.parametrize("targets", [["C3"], ["S3"]])
def test_the_forgetful_mouse_of_example_2_is_refused_and_one_with_recall_measured(
    targets: list[str],
) -> None:
    with pytest.raises(
        ValueError, match=r"decisions D1, D2: one does not recall .* with_recall"
    ):
        target_variables(forgetful_mouse(1.0), targets)
    measured = target_variables(with_recall(forgetful_mouse(1.0)), targets)
    assert measured.value == pytest.approx(2 * log(2))
    assert measured.converged


def test_a_towards_utilities_of_decisions_without_recall_is_refused() -> None:
    cheese = [utility("U3", [0.0, 1.0], ["C3"])]
    with pytest.raises(ValueError, match="one does not recall what it needs"):
        towards_utilities(forgetful_mouse(0.8).posit(utilities=cheese))
    measured = towards_utilities(
        with_recall(forgetful_mouse(0.8)).posit(utilities=cheese)
    )
    assert measured.converged
    assert measured.value > 0


def test_decisions_that_a_target_does_not_depend_on_raise_no_bound() -> None:
    """S2 is settled before the second decision: half of the mouse's choices are about
    something else.
    """
    found = target_variables(with_recall(forgetful_mouse(1.0)), ["S2"])
    assert found.bounds[1] <= found.ceiling + 1e-12
    assert found.ceiling == pytest.approx(log(2))


def test_decisions_may_differ_in_their_options() -> None:
    """A lock with a wheel of three and a switch of two: the one right setting is worth
    both choices.
    """
    opens = np.zeros((3, 2, 2))
    opens[..., 0] = 1
    opens[2, 1] = [0, 1]
    wheel, switch = (
        chance("wheel", [0, 0, 1]),
        chance("switch", [[0, 1]] * 3, ["wheel"]),
    )
    lock = Diagram(wheel, switch, chance("open", opens, ["wheel", "switch"]))
    measured = target_variables(lock, ["open"], ["wheel", "switch"])
    assert measured.ceiling == pytest.approx(log(6))
    assert measured.value == pytest.approx(log(6))


@settings(max_examples=15)
@given(SEEDS, st.booleans())
def test_mediators_that_separate_are_at_least_as_much_a_goal(
    seed: int, deterministic: bool
) -> None:
    """Theorem 4.1: MEG towards T is at most that towards S if S separates T from the
    decision.
    """
    rng = np.random.default_rng(seed)
    network = random_network(rng, 5, deterministic)
    others = [name for name in network.nodes if name != "V1"]
    targets, mediators = some(rng, others), some(rng, others)
    assume(d_separated(network.parents, ["V1"], targets, mediators))
    distal, proximal = (
        target_variables(network, names, ["V1"]) for names in (targets, mediators)
    )
    assert distal.bounds[0] <= proximal.bounds[1] + 1e-9
    assert distal.value <= proximal.value + 1e-6


@settings(max_examples=15)
@given(SEEDS)
def test_the_same_for_two_decisions_with_recall(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = with_recall(random_network(rng, 4).posit(["V0", "V2"]))
    effect = chance(
        "E", rng.dirichlet(np.ones(3), size=network.cardinalities["V3"]), ["V3"]
    )
    network = Diagram(*network.nodes.values(), effect)
    assert (
        target_variables(network, ["E"]).value
        <= target_variables(network, ["V3"]).value + 1e-6
    )


@settings(max_examples=15)
@given(SEEDS)
def test_the_bounds_of_target_variables_close(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, 5)
    targets = some(rng, ["V0", "V2", "V3", "V4"])
    measured = target_variables(network, targets, ["V1"])
    assert measured.converged
    assert 0 <= measured.value <= measured.ceiling + 1e-12


@settings(max_examples=15)
@given(SEEDS)
def test_nothing_is_aimed_at_that_cannot_be_influenced(seed: int) -> None:
    """Proposition 3.3, and its generalisation to several targets."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, 6)
    beyond = [
        name for name in network.nodes if name not in descendants(network.parents, "V2")
    ]
    measured = target_variables(network, some(rng, beyond), ["V2"])
    assert measured.value == pytest.approx(0, abs=1e-12)
    assert measured.decisions == 0


@pytest.mark.parametrize("seed", [216501, *range(40)])
def test_a_decision_that_the_utility_does_not_hang_on_has_no_goal(seed: int) -> None:
    """What rounding leaves of its influence is none, also of a large rationality."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, 5).posit(["V1"])
    values = rng.normal(size=network.cardinalities["V4"])
    for sign in (1, -1):
        goal = utility("U", sign * values, ["V4"])
        found = towards_utilities(network.posit(utilities=[goal]))
        if found.decisions == 0:
            assert found.value == pytest.approx(0, abs=1e-12)
            assert found.beta == 0


@settings(max_examples=15)
@given(SEEDS, st.floats(1e-6, 1e6), st.booleans(), st.floats(-1e3, 1e3))
@example(216501, 1.0, True, 0.0).via("the utility does not hang on the decision")
def test_scale_and_origin_of_a_utility_mean_nothing(
    seed: int, scale: float, turned: bool, shift: float
) -> None:
    """Proposition 3.1: value and, but for its unit, rationality stay the same."""
    rng = np.random.default_rng(seed)
    network, values = random_network(rng, 5), rng.normal(size=2)
    network = network.posit(["V1"])
    values = rng.normal(size=network.cardinalities["V4"])
    factor = -scale if turned else scale
    one, other = (
        towards_utilities(network.posit(utilities=[utility("U", u, ["V4"])]))
        for u in (values, factor * (values + shift))
    )
    assert other.value == pytest.approx(one.value, abs=1e-7)


@settings(max_examples=20)
@given(SEEDS)
def test_a_diagram_of_an_mdp_agrees_with_the_solver_for_mdps(seed: int) -> None:
    """The decisions do not recall earlier states, and need not."""
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, 3, 2, successors=2)
    policy = random_policy(rng, mdp, 3)
    found = towards_utilities(mdp_diagram(mdp, policy, 3))
    expected = mdp_known.known_utility(mdp, policy, horizon=3)
    assert found.value == pytest.approx(expected.value, abs=1e-8)
    assert found.converged


@settings(max_examples=8)
@given(SEEDS)
def test_an_independent_convex_solver_agrees(seed: int) -> None:
    """One decision: the ceiling less the most entropy among policies with the observed
    outcomes, by cvxpy.
    """
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(seed)
    network = random_network(rng, 4)
    parents = network.parents["V2"]
    seen = [*parents, "V2"]
    n_options = network.cardinalities["V2"]
    uniform = np.full(network.nodes["V2"].table.shape, 1 / n_options)
    random_choice = network.posit(["V2"]).follow({"V2": uniform})
    outcomes = (
        joint(random_choice, [*seen, "V3"]).reshape(
            -1, n_options, network.cardinalities["V3"]
        )
        * n_options
    )
    reach = outcomes.sum(axis=2)[:, 0]
    policy = cvxpy.Variable((len(reach), n_options))
    predicted = sum(outcomes[:, a].T @ policy[:, a] for a in range(n_options))
    matched = [cvxpy.sum(policy, axis=1) == 1, predicted == joint(network, ["V3"])]
    entropy = cvxpy.sum(reach @ cvxpy.entr(policy))
    problem = cvxpy.Problem(cvxpy.Maximize(entropy), matched)
    problem.solve(solver=cvxpy.CLARABEL)
    assume(
        np.isfinite(problem.value)
    )  # by rounding the solver may find the constraints at odds
    assert target_variables(network, ["V3"], ["V2"]).value == pytest.approx(
        log(n_options) - problem.value, abs=1e-6
    )


def test_a_target_that_decides() -> None:
    with pytest.raises(ValueError, match="wanted targets that are no decisions, got D"):
        target_variables(mouse(), ["T", "D"])


def test_names_that_are_no_variables() -> None:
    with pytest.raises(
        ValueError, match=r"wanted a variable of the diagram \(S, D, T\), got 'X'"
    ):
        target_variables(mouse(), ["X"])
    with pytest.raises(ValueError, match="got 'E'"):
        target_variables(mouse(), ["T"], ["E"])
    with pytest.raises(ValueError, match="at least one target"):
        target_variables(mouse(), [])


def test_without_decision_or_utility() -> None:
    network = Diagram(chance("A", [0.5, 0.5]))
    with pytest.raises(ValueError, match="wanted a diagram with decisions"):
        target_variables(network, ["A"])
    with pytest.raises(ValueError, match="wanted a diagram with utilities"):
        towards_utilities(mouse())
