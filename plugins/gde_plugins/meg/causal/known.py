"""MEG in a diagram towards a known utility, by a search over the rationality."""

from dataclasses import replace
from math import inf

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.diagram import Diagram
from gde_plugins.meg.causal.measurement import DiagramMeg, accuracy, measured
from gde_plugins.meg.causal.soft_optimal import soft_optimal
from gde_plugins.meg.solvers.limits import Limit
from gde_plugins.meg.solvers.line_search import Point, climb

TOLERANCE = 1e-13
"""Nats between the bounds at which a concave search ends."""
ITERATIONS = 200
"""Evaluations before a concave search is given up."""


def towards_utilities(diagram: Diagram) -> DiagramMeg:
    """Measure MEG of the diagram's policies towards the sum of its utilities
    (MacDermott et al. 2024, Definition 3.2).

    The accuracy is concave in the rationality and the bounds are certified.

    Raises:
        ValueError: the diagram has no decision or no utility, a decision does not
        recall what it needs, or exact inference is too large.
    """
    problem, utility = _posed(diagram)
    return best_rationality(problem, utility)


def optimal(diagram: Diagram) -> DiagramMeg:
    """Measure an agent that is optimal for the diagram's utilities in its place.

    Raises:
        ValueError: as `towards_utilities`.
    """
    problem, utility = _posed(diagram)
    policies = soft_optimal(problem, utility, inf)
    return towards_utilities(diagram.follow(policies))


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

    found = _concave(problem, normal)
    return replace(found, beta=found.beta / scale, utility=problem.shaped(utility))


def _concave(problem: DecisionProblem, utility: Floats) -> DiagramMeg:
    """Search the rationalities of one sign."""
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
