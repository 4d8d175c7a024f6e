"""Networks of the library pgmpy."""

from typing import Any

import numpy as np

from gde_plugins.meg.causal.diagram import Diagram, Node, chance


def from_pgmpy(network: Any) -> Diagram:
    """Read a network of pgmpy (`DiscreteBayesianNetwork`) with tabular CPDs.

    Names become strings. States become the numbers 0, 1, ... in the order of the
    variable's own table; the tables of its children are read by the states' names,
    which pgmpy's own inference takes for places.

    Raises:
        ValueError: it is something else, a variable has no table, its parents disagree
            with the edges or have other states there, or a table does not fit.
    """
    if not hasattr(network, "get_cpds"):
        raise ValueError(f"wanted a network of pgmpy, got {network!r}")
    tables = {variable: network.get_cpds(variable) for variable in network.nodes()}
    for variable, table in tables.items():
        if table is None or not hasattr(table, "values"):
            raise ValueError(f"{variable!r} has no table: add a TabularCPD for it")
        edges = [*network.predecessors(variable)]
        if {*table.variables[1:]} != {*edges}:
            raise ValueError(
                f"table of {variable!r}: wanted the parents {edges}, got {table.variables[1:]}"
            )
    return Diagram(*(_node(table, tables) for table in tables.values()))


def _node(table: Any, tables: dict[Any, Any]) -> Node:
    values = table.values
    for axis, name in enumerate(table.variables):
        own = tables[name].state_names[name]
        given = table.state_names[name]
        if {*own} != {*given}:
            raise ValueError(
                f"table of {table.variable!r}: wanted the states {own} of {name!r}, got {given}"
            )
        values = values.take([given.index(state) for state in own], axis=axis)

    # pgmpy has the variable's own axis first.
    own_axis_last = np.moveaxis(values, 0, -1)
    return chance(str(table.variable), own_axis_last, [*map(str, table.variables[1:])])
