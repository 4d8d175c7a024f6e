"""MEG in a diagram with respect to a class of utilities (MacDermott et al. 2024, Definitions 4.1 to 4.3)."""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from gde.data.mdp import Floats
from gde_plugins.meg.causal.certificate import upper_bound
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.diagram import Diagram, checked
from gde_plugins.meg.causal.known import best_rationality
from gde_plugins.meg.causal.measurement import GAP, DiagramMeg, accuracy, measured
from gde_plugins.meg.causal.soft_optimal import soft_optimal

ITERATIONS = 2000
STEEPEST = 1e-10
"""Largest difference between observed and predicted expectations at which the ascent ends."""


def unknown_utility(diagram: Diagram) -> DiagramMeg:
    """Measure MEG towards any weighted sum of the diagram's utilities, a linear parametric-utility diagram.

    `weights` are in the order of `diagram.names("utility")`. Where every decision recalls what it needs, the accuracy
    is concave in the weights and both bounds are certified; elsewhere the best of each utility by itself and of the sum
    that ascent finds is a lower bound as far as `known_utility` proves it.

    Raises:
        ValueError: the diagram has no decision or no utility, or exact inference is too large.
    """
    nodes = [diagram.nodes[name] for name in checked(diagram).names("utility")]
    if not nodes:
        raise ValueError("wanted a diagram with utilities: posit them, e.g. diagram.posit(utilities=[utility(...)])")
    problem = DecisionProblem(diagram, [[name for node in nodes for name in node.parents]])
    sizes = [diagram.cardinalities[name] if name in problem.targets else 1 for name in problem.axes]
    tables = [np.broadcast_to(problem.spread(node.table, node.parents), sizes) for node in nodes]
    basis = np.stack([problem.marginal(table, problem.targets).ravel() for table in tables], axis=-1)
    scale = np.maximum(np.ptp(basis, axis=0), np.finfo(np.float64).tiny)
    basis = (basis - basis.mean(axis=0)) / scale
    weights = _ascended(problem, basis)
    if problem.order is None:
        return _without_recall(problem, basis, scale, weights)
    policies = soft_optimal(problem, basis @ weights)
    value = max(accuracy(problem, policies), 0.0)
    upper = max(upper_bound(problem, policies, basis), value)
    return replace(measured(problem, basis @ weights, 1.0, policies, value, (value, upper)), weights=weights / scale)


def _without_recall(problem: DecisionProblem, basis: Floats, scale: Floats, weights: Floats) -> DiagramMeg:
    tried = [weights, *np.eye(basis.shape[1])]
    found = [best_rationality(problem, basis @ each) for each in tried]
    best = max(range(len(tried)), key=lambda i: found[i].value)
    bounds = (found[best].bounds[0], problem.most)
    converged = bounds[1] - bounds[0] <= GAP
    return replace(found[best], weights=tried[best] / scale, bounds=bounds, converged=converged)


def _ascended(problem: DecisionProblem, basis: Floats) -> Floats:
    """Return (K,) weights for which observed and predicted expectations agree best."""
    observed = problem.outcomes(problem.policy) @ basis

    def loss(weights: Floats) -> tuple[float, Floats]:
        policies = soft_optimal(problem, basis @ weights)
        predicted = problem.outcomes(policies) @ basis
        return float(weights @ (predicted - observed)) + problem.entropy(policies), predicted - observed

    options = {"maxiter": ITERATIONS, "gtol": STEEPEST, "ftol": 0.0}
    found: Floats = minimize(loss, np.zeros(basis.shape[1]), jac=True, method="L-BFGS-B", options=options).x
    return found
