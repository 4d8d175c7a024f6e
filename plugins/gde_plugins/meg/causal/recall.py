"""Decisions that recall what earlier ones knew and did.

Without recall (MacDermott et al. 2024, Example 2) the best policy of a decision depends
on the policies of earlier ones. Highest entropy for a given utility is then no concave
problem, so nothing certain could be said of a policy that is found.
"""

import numpy as np

from gde_plugins.meg.causal.diagram import Diagram, Node, decision


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
