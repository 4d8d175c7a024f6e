"""Decisions that do not recall what they knew and did (POMDPs without recall, MacDermott et al. 2024, Example 2).

The best policy of such a decision depends on the policies of earlier ones, and highest entropy for a given utility is
no concave problem. So policies are searched for locally, from several starts, among the maxima of beta * E[U] + entropy
alone. A policy of highest entropy where utility trades off against entropy at no single rate is passed over.

Two things are certain of the value found. It is at most the ceiling less the entropy of the measured policy, since no
policy predicts another better than that one itself. And it is a lower bound if agents with perfect recall could do no
better than the policies found. The optimal policies of both examples are of that kind.
"""

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.causal.diagram import Diagram, Node, decision
from gde_plugins.meg.causal.soft_optimal import EQUAL, equal_merits, merit, soft_optimal


def proven(problem: DecisionProblem, policies: Policies, utility: Floats, beta: float) -> bool:
    """Return whether the policies are as good as the best with perfect recall, hence the best without."""
    relaxed = DecisionProblem(with_recall(problem.diagram), problem.scopes)
    best = merit(relaxed, soft_optimal(relaxed, utility, beta), utility, beta)
    return equal_merits(best, merit(problem, policies, utility, beta), EQUAL)


def with_recall(diagram: Diagram) -> Diagram:
    """Return the diagram with decisions that see all that earlier decisions saw and chose, with the same policies."""
    nodes: list[Node] = []
    past: list[str] = []
    for node in diagram.nodes.values():
        if node.kind != "decision":
            nodes.append(node)
            continue
        more = [name for name in past if name not in node.parents]
        sizes = [diagram.cardinalities[name] for name in more]
        table = np.broadcast_to(node.table, (*sizes, *node.table.shape))
        nodes.append(decision(node.name, table, (*more, *node.parents)))
        past += [name for name in (*node.parents, node.name) if name not in past]
    return Diagram(*nodes)
