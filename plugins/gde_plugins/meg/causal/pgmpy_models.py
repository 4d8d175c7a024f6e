"""Networks of the library pgmpy."""

from typing import Any

import numpy as np

from gde_plugins.meg.causal.diagram import Diagram, chance


def from_pgmpy(network: Any) -> Diagram:
    """A network of pgmpy (`DiscreteBayesianNetwork`) with tabular CPDs; names become strings, states are counted.

    Raises:
        ValueError: a variable has no table, its parents disagree with the edges, or a table does not fit.
    """
    nodes = []
    for variable in network.nodes():
        table = network.get_cpds(variable)
        if table is None:
            raise ValueError(f"{variable!r} has no table: add a TabularCPD for it")
        parents = tuple(table.variables[1:])
        if {*parents} != {*network.predecessors(variable)}:
            edges = ", ".join(map(str, network.predecessors(variable)))
            raise ValueError(
                f"table of {variable!r}: wanted the parents ({edges}), got ({', '.join(map(str, parents))})"
            )
        # pgmpy has the variable's own axis first.
        nodes.append(chance(str(variable), np.moveaxis(table.values, 0, -1), [str(parent) for parent in parents]))
    return Diagram(*nodes)
