"""Networks of the library pgmpy, and influence diagrams of pycid, which is built on it."""

from typing import Any

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.diagram import Diagram, chance, decision, utility


def from_pgmpy(network: Any) -> Diagram:
    """A network of pgmpy (`DiscreteBayesianNetwork`) with tabular CPDs; names become strings, states are counted.

    Raises:
        ValueError: a variable has no table, its parents disagree with the edges, or a table does not fit.
    """
    return Diagram(*(chance(str(variable), *_table(network, variable)) for variable in network.nodes()))


def from_pycid(diagram: Any) -> Diagram:
    """An influence diagram of pycid (`CID`), read by its structure: decisions with the policies imputed to them, or
    uniform ones where pycid has none; utilities as the expectation of their values, which must be numbers.

    Raises:
        ValueError: it is no influence diagram of a single agent, a utility's value is no number, or as `from_pgmpy`.
    """
    if not hasattr(diagram, "decisions") or not hasattr(diagram, "utilities"):
        raise ValueError(f"wanted an influence diagram of pycid, got {type(diagram).__name__}: see from_pgmpy")
    if len(agents := [*getattr(diagram, "agents", ())]) > 1:
        raise ValueError(f"wanted the diagram of a single agent, got {', '.join(map(str, agents))}")
    nodes = []
    for variable in diagram.nodes():
        name, (table, parents) = str(variable), _table(diagram, variable)
        if variable in diagram.utilities:
            nodes.append(utility(name, table @ _values(diagram, variable), parents))
        else:
            nodes.append((decision if variable in diagram.decisions else chance)(name, table, parents))
    return Diagram(*nodes)


def _table(network: Any, variable: Any) -> tuple[Floats, list[str]]:
    """Conditional probabilities, the variable's own axis last, and its parents."""
    table = network.get_cpds(variable)
    if table is None or not hasattr(table, "values"):
        raise ValueError(f"{variable!r} has no table: add a TabularCPD for it")
    parents = tuple(table.variables[1:])
    if {*parents} != {*network.predecessors(variable)}:
        edges = ", ".join(map(str, network.predecessors(variable)))
        raise ValueError(f"table of {variable!r}: wanted the parents ({edges}), got ({', '.join(map(str, parents))})")
    # pgmpy has the variable's own axis first.
    return np.moveaxis(table.values, 0, -1), [str(parent) for parent in parents]


def _values(diagram: Any, variable: Any) -> Floats:
    """What a utility can be."""
    names = diagram.get_cpds(variable).state_names[variable]
    try:
        return np.array([float(each) for each in names])
    except (TypeError, ValueError):
        raise ValueError(f"utility {variable!r}: wanted numbers as its values, got {names}") from None
