"""MEG in a diagram towards its utilities (MacDermott et al. 2024, Definitions 3.2 and 4.1
to 4.3).
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
from scipy.optimize import brentq

from gde.data.arrays import Doubles
from gde_plugins.meg.causal.certificate import upper_bound
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.causal.diagram import Diagram
from gde_plugins.meg.causal.fitting import fitted
from gde_plugins.meg.causal.measurement import DiagramMeg, accuracy, measured
from gde_plugins.meg.causal.soft_optimal import soft_optimal

TOLERANCE = 1e-13
"""Nats by which optimal behaviour may fall short of the best prediction of it."""
STEEP = 1e18
"""Largest rationality that is tried, in units of 1 / range of the utility."""
ROUNDING = 1e-14
"""Relative error of the best rationality, and of expected utilities."""


def towards_utilities(diagram: Diagram) -> DiagramMeg:
    """Measure MEG of the diagram's policies towards the sum of its utilities: the weight
    of that sum is the rationality.

    Raises:
        ValueError: the diagram has no decision or no utility, a decision does not
            recall what it needs, or exact inference is too large.
    """
    problem, columns = _posed(diagram, apart=True)
    utility = columns.sum(axis=1)
    basis, scale = _normal(utility[:, None])
    observed = float((problem.outcomes(problem.policy) @ basis)[0])

    def policies_at(beta: float) -> Policies:
        return soft_optimal(problem, basis[:, 0], beta)

    def missing(beta: float) -> float:
        return observed - float((problem.outcomes(policies_at(beta)) @ basis)[0])

    # The accuracy is concave in the rationality, with slope `missing`. Where decisions
    # do not matter, it is rounding, which a large rationality would make a value.
    at_chance = missing(0.0)
    outcomes = problem.outcomes(problem.policy) + problem.outcomes(problem.uniform)
    if abs(at_chance) <= ROUNDING * float(outcomes @ np.abs(basis[:, 0])):
        at_chance = 0.0
    sign = 1.0 if at_chance >= 0 else -1.0

    # An optimal policy is predicted best at infinite rationality, which a search would
    # only approach.
    beta = sign * inf
    policies = policies_at(beta)
    value = problem.ceiling - problem.entropy(policies)
    upper = value
    if value - accuracy(problem, policies) > TOLERANCE or value <= TOLERANCE:
        beta = _root(missing, sign) if at_chance else 0.0
        policies = policies_at(beta)
        value = max(accuracy(problem, policies), 0.0)
        upper = max(upper_bound(problem, policies, basis), value)
    bounds = value, upper
    return measured(problem, utility, beta / scale[0], policies, value, bounds)


def _root(missing: Callable[[float], float], sign: float) -> float:
    """Return where a falling function of one sign from zero on is zero."""
    end = sign
    while sign * missing(end) > 0:
        # What floating point hardly tells from an optimal policy has no root.
        if abs(end) > STEEP:
            return end
        end *= 2
    return float(brentq(missing, 0.0, end, xtol=1e-300, rtol=ROUNDING))


def towards_weighted_utilities(diagram: Diagram) -> DiagramMeg:
    """Measure MEG towards any weighted sum of the diagram's utilities, a linear
    parametric-utility diagram; `weights` are in the order of `diagram.names("utility")`.

    Raises:
        ValueError: as `towards_utilities`.
    """
    # A sum with unknown weights is one utility of all targets, so they are one scope.
    problem, columns = _posed(diagram, apart=False)
    basis, scale = _normal(columns)
    found = fitted(problem, basis)
    assert found.weights is not None
    return replace(found, weights=found.weights / scale)


def optimal(diagram: Diagram) -> DiagramMeg:
    """Measure an agent that is optimal for the diagram's utilities in its place.

    Raises:
        ValueError: as `towards_utilities`.
    """
    problem, columns = _posed(diagram, apart=True)
    policies = soft_optimal(problem, columns.sum(axis=1), inf)
    return towards_utilities(diagram.follow(policies))


def _posed(diagram: Diagram, apart: bool) -> tuple[DecisionProblem, Doubles]:
    """Return the decisions of a diagram, and its utilities (n_outcomes, K)."""
    nodes = [diagram.nodes[name] for name in diagram.names("utility")]
    if not nodes:
        raise ValueError(
            "wanted a diagram with utilities: posit them, e.g. diagram.posit(utilities=[utility(...)])"
        )
    scopes = [node.parents for node in nodes]
    problem = DecisionProblem(diagram, scopes if apart else [sum(scopes, ())])
    columns = [problem.of_targets(node.table, node.parents) for node in nodes]
    return problem, np.stack(columns, axis=-1)


def _normal(columns: Doubles) -> tuple[Doubles, Doubles]:
    """Return (n_outcomes, K) utilities with range one, and their (K,) ranges.

    Origin and scale mean nothing (Proposition 3.1), but these keep rounding small,
    whatever a few outcomes cost. A constant utility has no range.
    """
    smallest = np.finfo(np.float64).tiny
    scale = np.maximum(np.ptp(columns, axis=0), smallest)
    origin = np.quantile(columns, 0.5, axis=0, method="higher")
    return (columns - origin) / scale, scale
