"""Networks of the library pgmpy, and influence diagrams of pycid, which builds on it."""

from collections.abc import Callable
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
    """Read an influence diagram of pycid (`CID`), with the policies imputed to its
    decisions.

    A decision without a policy is uniform, as pycid gives it. A utility is the
    expectation of its values, which must be numbers.

    Raises:
        ValueError: it is no influence diagram of a single agent, the value of a utility
        is no number, or as `from_pgmpy`.
    """
    if not hasattr(diagram, "decisions") or not hasattr(diagram, "utilities"):
        kind = type(diagram).__name__
        raise ValueError(
            f"wanted an influence diagram of pycid, got {kind}: see from_pgmpy"
        )
    agents = [str(agent) for agent in getattr(diagram, "agents", ())]
    if len(agents) > 1:
        raise ValueError(
            f"wanted the diagram of a single agent, got {', '.join(agents)}"
        )

    nodes = []
    for variable in diagram.nodes():
        table, parents = _table(diagram, variable)
        name = str(variable)
        if variable in diagram.utilities:
            nodes.append(utility(name, table @ _values(diagram, variable), parents))
        elif variable in diagram.decisions:
            nodes.append(decision(name, table, parents))
        else:
            nodes.append(chance(name, table, parents))
    return Diagram(*nodes)


def to_pycid(diagram: Diagram) -> Any:
    """Make an influence diagram of pycid (`CID`); its decisions have the diagram's
    policies.

    Raises:
        ImportError: pycid is not installed.
    """
    from pycid import CID  # type: ignore[import-not-found]  # never beside our pgmpy

    edges = []
    relationships = {}
    for name, node in diagram.nodes.items():
        edges += [(parent, name) for parent in node.parents]
        relationships[name] = _outcome(node)
    made = CID(
        edges,
        decisions=list(diagram.decisions),
        utilities=list(diagram.names("utility")),
    )
    made.add_nodes_from(diagram.nodes)
    made.add_cpds(**relationships)
    return made


def _outcome(node: Node) -> Callable[..., float | dict[int, float]]:
    """Return a node as pycid's functions of the parents: the number of a utility, else
    the probability of each value.
    """

    def outcome(**values: int) -> float | dict[int, float]:
        row = node.table[tuple(values[parent] for parent in node.parents)]
        if node.kind == "utility":
            return float(row)
        return dict(enumerate(row.tolist()))

    return outcome


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
