"""MEG in a diagram with respect to a class of utilities (MacDermott et al. 2024,
Definitions 4.1 to 4.3).
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from gde.data.mdp import Floats
from gde_plugins.meg.causal.certificate import upper_bound
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.diagram import Diagram
from gde_plugins.meg.causal.measurement import DiagramMeg, accuracy, measured
from gde_plugins.meg.causal.soft_optimal import soft_optimal

ITERATIONS = 2000
STEEPEST = 1e-10
"""Largest difference between observed and predicted expectations at which the ascent
ends.
"""


def towards_weighted_utilities(diagram: Diagram) -> DiagramMeg:
    """Measure MEG towards any weighted sum of the diagram's utilities, a linear
    parametric-utility diagram.

    `weights` are in the order of `diagram.names("utility")`. The accuracy is concave in
    the weights and both bounds are certified.

    Raises:
        ValueError: as `towards_utilities`.
    """
    nodes = [diagram.nodes[name] for name in diagram.names("utility")]
    if not nodes:
        raise ValueError(
            "wanted a diagram with utilities: posit them, e.g. diagram.posit(utilities=[utility(...)])"
        )
    # A sum with unknown weights is one utility of all targets, so they are one scope.
    scope: list[str] = []
    for node in nodes:
        scope += node.parents
    problem = DecisionProblem(diagram, [scope])

    # (n_outcomes, K). With mean zero and range one the ascent needs fewer steps. A
    # constant utility has no range.
    columns = [problem.of_targets(node.table, node.parents) for node in nodes]
    basis = np.stack(columns, axis=-1)
    smallest = np.finfo(np.float64).tiny
    scale = np.maximum(np.ptp(basis, axis=0), smallest)
    basis = (basis - basis.mean(axis=0)) / scale

    weights = ascended(problem, basis)
    utility = basis @ weights
    policies = soft_optimal(problem, utility)
    value = max(accuracy(problem, policies), 0.0)
    upper = max(upper_bound(problem, policies, basis), value)
    found = measured(problem, utility, 1.0, policies, value, (value, upper))
    return replace(found, weights=weights / scale)


def ascended(problem: DecisionProblem, basis: Floats) -> Floats:
    """Return the (K,) weights of the columns of `basis` (n_outcomes, K) that predict
    the policies best.

    At the maximum the observed expectations of the columns equal the predicted ones;
    their difference is the gradient.
    """
    observed = problem.outcomes(problem.policy) @ basis

    def loss(weights: Floats) -> tuple[float, Floats]:
        policies = soft_optimal(problem, basis @ weights)
        excess = problem.outcomes(policies) @ basis - observed
        value = float(weights @ excess) + problem.entropy(policies)
        return value, excess

    start = np.zeros(basis.shape[1])
    options = {"maxiter": ITERATIONS, "gtol": STEEPEST, "ftol": 0.0}
    found: Floats = minimize(
        loss, start, jac=True, method="L-BFGS-B", options=options
    ).x
    return found
