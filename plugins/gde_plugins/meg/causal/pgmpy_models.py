"""Networks of the library pgmpy."""

from typing import Any

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.diagram import Diagram, chance


def from_pgmpy(network: Any) -> Diagram:
    """Read a network of pgmpy (`DiscreteBayesianNetwork`) with tabular CPDs.

    Names become strings, and states become the numbers 0, 1, ...

    Raises:
        ValueError: a variable has no table, its parents disagree with the edges, or a
        table does not fit.
    """
    nodes = []
    for variable in network.nodes():
        table, parents = _table(network, variable)
        nodes.append(chance(str(variable), table, parents))
    return Diagram(*nodes)


def _table(network: Any, variable: Any) -> tuple[Floats, list[str]]:
    """Return the conditional probabilities, with the variable's own axis last, and its
    parents.
    """
    table = network.get_cpds(variable)
    if table is None or not hasattr(table, "values"):
        raise ValueError(f"{variable!r} has no table: add a TabularCPD for it")

    # The order of the axes is that of the table; the edges have none.
    parents = table.variables[1:]
    edges = list(network.predecessors(variable))
    if set(parents) != set(edges):
        wanted = ", ".join(map(str, edges))
        got = ", ".join(map(str, parents))
        raise ValueError(
            f"table of {variable!r}: wanted the parents ({wanted}), got ({got})"
        )

    # pgmpy has the variable's own axis first.
    own_axis_last = np.moveaxis(table.values, 0, -1)
    return own_axis_last, [str(parent) for parent in parents]
