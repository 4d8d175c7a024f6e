"""Diagrams by functions, as pycid has them (Fox et al. 2021)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import signature
from itertools import product
from typing import Any

import numpy as np

from gde_plugins.meg.causal.diagram import Diagram, Node, chance, decision, utility
from gde_plugins.meg.causal.graph import ordered


def from_functions(
    relations: Mapping[str, Any],
    decisions: Collection[str] = (),
    utilities: Collection[str] = (),
) -> Diagram:
    """Make a diagram of what pycid's `add_cpds` takes; no pycid is needed.

    The values 0, 1, ... of a variable are its outcomes in sorted order.

    Args:
        relations: by variable a list of equally likely outcomes, {outcome: probability},
            or a function that returns an outcome or such probabilities. Its arguments
            are named as the parents. Probability that is left is spread evenly over the
            other outcomes.
        decisions: variables that decide, by their own relations.
        utilities: variables whose outcomes are utilities; a function must return
            numbers.

    Raises:
        ValueError: a name is no variable, there is a cycle, or probabilities do not sum
            to one.
    """
    functions = {name: _function(relation) for name, relation in relations.items()}
    parents = {
        name: tuple(signature(one).parameters) for name, one in functions.items()
    }
    unknown = {*decisions, *utilities}.union(*parents.values()) - {*relations}
    if unknown:
        known = ", ".join(relations)
        raise ValueError(
            f"wanted a variable ({known}), got {min(unknown)!r}: arguments of functions are parents"
        )

    outcomes: dict[str, Sequence[Any]] = {}
    nodes: list[Node] = []
    for name in ordered(parents):
        domains = [outcomes[parent] for parent in parents[name]]
        returned = [functions[name](*values) for values in product(*domains)]
        shape = [len(domain) for domain in domains]
        if name in utilities:
            # `Diagram` refuses its children.
            outcomes[name] = [0]
            worth = np.array(returned).reshape(shape)
            nodes.append(utility(name, worth, parents[name]))
            continue
        rows = [each if isinstance(each, Mapping) else {each: 1} for each in returned]
        outcomes[name] = sorted(set().union(*rows))
        table = np.array([_completed(row, outcomes[name]) for row in rows])
        made = decision if name in decisions else chance
        nodes.append(made(name, table.reshape(*shape, -1), parents[name]))
    return Diagram(*nodes)


def _function(relation: Any) -> Callable[..., Any]:
    if callable(relation):
        return relation  # type: ignore[no-any-return]
    if isinstance(relation, Mapping):
        return lambda: relation
    return lambda: dict.fromkeys(relation, 1 / len(relation))


def _completed(row: Mapping[Any, float | None], outcomes: Sequence[Any]) -> list[float]:
    """Spread the probability that is left over the outcomes without one."""
    given = {outcome: p for outcome, p in row.items() if p is not None}
    n_others = len(outcomes) - len(given)
    rest = (1 - sum(given.values())) / max(n_others, 1)
    return [given.get(outcome, rest) for outcome in outcomes]
