"""Networks of the library pgmpy, and influence diagrams of pycid, which is built on
it.
"""

from typing import Any

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.diagram import Diagram, Node, chance, decision, utility


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


def from_pycid(diagram: Any) -> Diagram:
    """Read an influence diagram of pycid (`CID`) by its structure.

    Decisions have the policies imputed to them, or uniform ones where pycid has none. A
    utility is the expectation of its values, which must be numbers.

    Raises:
        ValueError: it is no influence diagram of a single agent, a utility's value is
        no number, or as `from_pgmpy`.
    """
    if not hasattr(diagram, "decisions") or not hasattr(diagram, "utilities"):
        raise ValueError(
            f"wanted an influence diagram of pycid, got {type(diagram).__name__}: see from_pgmpy"
        )
    agents = [str(agent) for agent in getattr(diagram, "agents", ())]
    if len(agents) > 1:
        raise ValueError(
            f"wanted the diagram of a single agent, got {', '.join(agents)}"
        )

    nodes: list[Node] = []
    for variable in diagram.nodes():
        name = str(variable)
        table, parents = _table(diagram, variable)
        if variable in diagram.utilities:
            expected = table @ _values(diagram, variable)
            nodes.append(utility(name, expected, parents))
        elif variable in diagram.decisions:
            nodes.append(decision(name, table, parents))
        else:
            nodes.append(chance(name, table, parents))
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


def _values(diagram: Any, variable: Any) -> Floats:
    """Return the numbers that a utility can be."""
    names = diagram.get_cpds(variable).state_names[variable]
    try:
        return np.array([float(each) for each in names])
    except (TypeError, ValueError):
        raise ValueError(
            f"utility {variable!r}: wanted numbers as its values, got {names}"
        ) from None
