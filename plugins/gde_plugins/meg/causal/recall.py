"""Decisions that do not recall what they knew and did (POMDPs without recall,
MacDermott et al. 2024, Example 2).

The best policy of such a decision depends on the policies of earlier ones, and highest
entropy for a given utility is no concave problem. So the search for policies is local
and has several starts. It finds only maxima of beta * E[U] + entropy. A policy of
highest entropy where utility trades off against entropy at no single rate is missed.

Two things are certain of the value found. It is at most the ceiling less the entropy of
the measured policy, since no policy predicts another better than that one itself. And
it is a lower bound if agents with perfect recall could do no better than the policies
found. The optimal policies of both examples are of that kind.
"""

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.causal.diagram import Diagram, Node, decision
from gde_plugins.meg.causal.soft_optimal import EQUAL, equal_merits, merit, soft_optimal


def proven(
    problem: DecisionProblem,
    policies: Policies,
    utility: Floats,
    beta: float,
) -> bool:
    """Return whether the policies are as good as the best with perfect recall, hence
    the best without.
    """
    # With recall the problem is concave, so its one maximum bounds every policy
    # without.
    relaxed = DecisionProblem(with_recall(problem.diagram), problem.scopes)
    best_policies = soft_optimal(relaxed, utility, beta)
    best = merit(relaxed, best_policies, utility, beta)
    found = merit(problem, policies, utility, beta)
    return equal_merits(best, found, EQUAL)


def with_recall(diagram: Diagram) -> Diagram:
    """Return the diagram with decisions that see all that earlier decisions saw and
    chose, with the same policies.
    """
    nodes: list[Node] = []
    past: list[str] = []
    for node in diagram.nodes.values():
        if node.kind != "decision":
            nodes.append(node)
            continue

        # The policy ignores the additional parents, so it is constant along their axes.
        recalled = [name for name in past if name not in node.parents]
        sizes = [diagram.cardinalities[name] for name in recalled]
        table = np.broadcast_to(node.table, (*sizes, *node.table.shape))
        nodes.append(decision(node.name, table, (*recalled, *node.parents)))

        for name in (*node.parents, node.name):
            if name not in past:
                past.append(name)
    return Diagram(*nodes)
