"""Decisions that do not recall what they knew and did (POMDPs without recall, MacDermott et al. 2024, Example 2).

What such a decision is best at depends on the policies of earlier ones, and highest entropy for a given utility is no
concave problem. Then policies are searched for locally, from several starts, and among the maxima of beta * E[U] +
entropy alone, so a policy of highest entropy where utility trades off against entropy at no single rate is passed
over. What is certain of the value found: it is at most the ceiling less the entropy of the measured policy, since no
policy predicts another better than that one itself, and it is a lower bound if agents with perfect recall could do no
better than the policies found. The optimal policies of both examples are of that kind.
"""

from math import isclose

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.causal.diagram import Diagram, Node, decision
from gde_plugins.meg.causal.soft_optimal import merit, soft_optimal

EQUAL = 1e-9
"""Difference of merit that counts as none."""


def proven(problem: DecisionProblem, policies: Policies, utility: Floats, beta: float) -> bool:
    """Whether the policies are as good as the best with perfect recall, hence the best without."""
    relaxed = DecisionProblem(with_recall(problem.diagram), problem.scopes)
    best = merit(relaxed, soft_optimal(relaxed, utility, beta), utility, beta)
    found = merit(problem, policies, utility, beta)
    return all(isclose(one, other, rel_tol=EQUAL, abs_tol=EQUAL) for one, other in zip(best, found, strict=True))


def with_recall(diagram: Diagram) -> Diagram:
    """The diagram with decisions that see all that earlier decisions saw and chose; their policies are as before."""
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
