"""MEG in a diagram towards a known utility, by a search over the rationality."""

from dataclasses import replace
from math import inf

import numpy as np
from scipy.optimize import minimize_scalar

from gde.data.mdp import Floats
from gde_plugins.meg.causal.branch_and_bound import CLOSE, search
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.diagram import Diagram
from gde_plugins.meg.causal.measurement import GAP, DiagramMeg, accuracy, measured
from gde_plugins.meg.causal.recall import proven
from gde_plugins.meg.causal.soft_optimal import FINAL, QUALIFYING, soft_optimal
from gde_plugins.meg.solvers.limits import Limit
from gde_plugins.meg.solvers.line_search import Point, climb

TOLERANCE = 1e-13
"""Nats between the bounds at which a concave search ends."""
ITERATIONS = 200
"""Evaluations before a concave search is given up."""
FINEST = 1e-6
"""Step of the rationality, in units of 1 / the utility's range, below which a search
that is not concave stops.
"""
DIGITS = 12
"""Decimals of an accuracy that are no rounding."""
RATIONALITIES = np.concatenate(
    [
        -np.geomspace(100, 0.1, 16),
        [0.0],
        np.geomspace(0.1, 100, 16),
    ]
)
"""Rationalities that a search that is not concave tries first, in units of 1 / the
utility's range.
"""


def known_utility(diagram: Diagram) -> DiagramMeg:
    """Measure MEG of the diagram's policies towards the sum of its utilities
    (MacDermott et al. 2024, Definition 3.2).

    Where every decision recalls what it needs, the accuracy is concave in the
    rationality and the bounds are certified. Elsewhere see
    `gde_plugins.meg.causal.recall`.

    Raises:
        ValueError: the diagram has no decision or no utility, or exact inference is too
        large.
    """
    problem, utility = _posed(diagram)
    return best_rationality(problem, utility)


def solving_order(diagram: Diagram) -> tuple[str, ...] | None:
    """Return the decisions in an order in which each is solved given those before it;
    None where there is none, see `DecisionProblem.order`.

    Raises:
        ValueError: as `known_utility`.
    """
    problem, _ = _posed(diagram)
    return problem.order


def _posed(diagram: Diagram) -> tuple[DecisionProblem, Floats]:
    """Return the decisions of a diagram, and the sum of its utilities (n_outcomes,)."""
    nodes = [diagram.nodes[name] for name in diagram.names("utility")]
    if not nodes:
        raise ValueError(
            "wanted a diagram with utilities: posit them, e.g. diagram.posit(utilities=[utility(...)])"
        )

    problem = DecisionProblem(diagram, [node.parents for node in nodes])
    utility = np.zeros(problem.n_outcomes)
    for node in nodes:
        utility = utility + problem.of_targets(node.table, node.parents)
    return problem, utility


def best_rationality(problem: DecisionProblem, utility: Floats) -> DiagramMeg:
    """Measure MEG at the best rationality for one utility (n_outcomes,) of the
    targets.
    """
    # Origin and scale mean nothing (Proposition 3.1), but these keep rounding small,
    # whatever a few outcomes cost.
    scale = float(np.ptp(utility)) or 1.0
    origin = np.quantile(utility, 0.5, method="higher")
    normal = (utility - origin) / scale

    if problem.order is not None:
        found = _concave(problem, normal)
    else:
        found = _scan(problem, normal)
    return replace(found, beta=found.beta / scale, utility=problem.shaped(utility))


def _concave(problem: DecisionProblem, utility: Floats) -> DiagramMeg:
    """Search the rationalities of one sign; decisions recall what they need."""
    earned = float(problem.outcomes(problem.policy) @ utility)
    chance = float(problem.outcomes(problem.uniform) @ utility)

    # The slope at beta = 0 is the utility earned above chance, so its sign is that of
    # the best rationality.
    sign = 1.0 if earned >= chance else -1.0
    towards = sign * utility
    gained = sign * earned

    # An optimal policy is predicted best at infinite rationality, which a search would
    # only approach.
    best_policies = soft_optimal(problem, towards, inf)
    divergence = problem.ceiling - problem.entropy(best_policies)
    loss_at_infinity = divergence - accuracy(problem, best_policies)
    if divergence > TOLERANCE and loss_at_infinity <= TOLERANCE:
        return measured(
            problem,
            utility,
            sign * inf,
            best_policies,
            divergence,
            (divergence, divergence),
        )

    def point(beta: float) -> Point:
        policies = soft_optimal(problem, towards, beta)
        mean = float(problem.outcomes(policies) @ towards)
        slope = gained - mean
        value = problem.ceiling + beta * slope - problem.entropy(policies)
        return Point(beta, value, slope, 0.0)

    limit = Limit(
        utility=float(problem.outcomes(best_policies) @ towards),
        divergence=divergence,
        gap=inf,
        tolerance=0.0,
    )
    start = Point(0.0, 0.0, gained - sign * chance, 0.0)
    best = climb(
        point,
        start,
        gained,
        lambda: limit,
        unit=1.0,
        tolerance=TOLERANCE,
        iterations=ITERATIONS,
    )

    beta = sign * best.beta
    policies = soft_optimal(problem, utility, beta)
    return measured(
        problem, utility, beta, policies, best.value, (best.lower, best.upper)
    )


def _scan(problem: DecisionProblem, utility: Floats) -> DiagramMeg:
    """Search all rationalities coarsely, then closely around the best."""

    def accuracy_at(beta: float, rounds: int = FINAL) -> float:
        policies = soft_optimal(problem, utility, beta, rounds)
        return accuracy(problem, policies)

    coarse = [accuracy_at(beta, QUALIFYING) for beta in RATIONALITIES]
    best = int(np.argmax(coarse))
    below = RATIONALITIES[max(best - 1, 0)]
    above = RATIONALITIES[min(best + 1, len(RATIONALITIES) - 1)]
    near = minimize_scalar(
        lambda beta: -accuracy_at(beta),
        bounds=(below, above),
        method="bounded",
        options={"xatol": FINEST},
    )

    # The first of equals: an optimal policy is one at infinity, though a large number
    # would do as well.
    rivals = [0.0, inf, -inf, float(near.x)]
    beta = max(rivals, key=lambda beta: round(accuracy_at(beta), DIGITS))
    policies = soft_optimal(problem, utility, beta)

    # A lower bound holds only if perfect recall would be no better; else branch and
    # bound may close the gap.
    upper = problem.most
    value = min(max(accuracy(problem, policies), 0.0), upper)
    lower = value if proven(problem, policies, utility, beta) else 0.0
    found = None
    if upper - lower > GAP:
        found = search(problem, utility, policies)
    if found is None:
        return measured(problem, utility, beta, policies, value, (lower, upper))

    if found.rate is not None:
        beta = found.rate
    bounds = (found.value, max(min(found.upper, upper), found.value))
    return measured(
        problem, utility, beta, found.policies, found.value, bounds, gap=2 * CLOSE
    )
