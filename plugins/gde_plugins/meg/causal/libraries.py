"""Networks of the library pgmpy."""

from typing import Any

import numpy as np

from gde_plugins.meg.causal.diagram import Diagram, Node, chance


def from_pgmpy(network: Any) -> Diagram:
    """Read a network of pgmpy (`DiscreteBayesianNetwork`) with tabular CPDs.

    Names become strings. States become the numbers 0, 1, ... in the order of the
    variable's own table; the tables of its children are read by the states' names,
    which pgmpy's own inference takes for places. Otherwise pgmpy's check decides.

    Raises:
        ValueError: it is something else, or pgmpy's `check_model` refuses it.
    """
    if not hasattr(network, "check_model"):
        raise ValueError(f"wanted a network of pgmpy, got {network!r}")
    ordered = network.copy()
    for table in ordered.get_cpds():
        _order_states(table, ordered)
    ordered.check_model()
    return Diagram(*(_node(ordered.get_cpds(name)) for name in ordered.nodes()))


def _order_states(table: Any, network: Any) -> None:
    """Give the states of parents the order of their own tables."""
    for axis, name in enumerate(table.variables):
        parent = network.get_cpds(name)
        given = table.state_names[name]
        own = given if parent is None else parent.state_names[name]
        if {*own} == {*given}:
            order = [given.index(state) for state in own]
            table.values = table.values.take(order, axis=axis)
            table.state_names[name] = own


def _node(table: Any) -> Node:
    # pgmpy has the variable's own axis first.
    own_axis_last = np.moveaxis(table.values, 0, -1)
    return chance(str(table.variable), own_axis_last, [*map(str, table.variables[1:])])
