"""Inference and separation against pgmpy, on random networks."""

import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from causal_parts import random_network, some
from hypothesis import given, settings
from hypothesis import strategies as st

from gde_plugins.meg.causal import (
    Diagram,
    chance,
    forgetful_mouse,
    from_pgmpy,
    from_pycid,
    joint,
    known_utility,
    mouse,
    solving_order,
    to_pycid,
    utility,
)
from gde_plugins.meg.causal.graph import d_separated, descendants

pgmpy = pytest.importorskip("pgmpy")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what pgmpy imports is not ours to mend
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

SEEDS = st.integers(0, 10**6)


def to_pgmpy(diagram: Diagram) -> "DiscreteBayesianNetwork":
    network = DiscreteBayesianNetwork()
    network.add_nodes_from(diagram.nodes)
    for name, node in diagram.nodes.items():
        network.add_edges_from((parent, name) for parent in node.parents)
    for name, node in diagram.nodes.items():
        columns = np.moveaxis(node.table, -1, 0).reshape(node.cardinality, -1)
        sizes = [diagram.cardinalities[parent] for parent in node.parents]
        network.add_cpds(
            TabularCPD(name, node.cardinality, columns, list(node.parents), sizes)
        )
    return network


@settings(max_examples=25)
@given(SEEDS)
def test_joint_probabilities_are_those_of_pgmpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    diagram = random_network(rng, 6)
    names = some(rng, [*diagram.nodes])
    rng.shuffle(names)
    found = VariableElimination(to_pgmpy(diagram)).query(names, show_progress=False)
    order = [found.variables.index(name) for name in names]
    np.testing.assert_allclose(
        joint(diagram, names), found.values.transpose(order), atol=1e-12
    )


@settings(max_examples=25)
@given(SEEDS)
def test_a_network_read_back_from_pgmpy_is_the_same(seed: int) -> None:
    diagram = random_network(np.random.default_rng(seed), 5)
    again = from_pgmpy(to_pgmpy(diagram))
    assert again.parents == diagram.parents
    for name, node in diagram.nodes.items():
        np.testing.assert_array_equal(again.nodes[name].table, node.table)


@settings(max_examples=50)
@given(SEEDS)
def test_separation_is_that_of_pgmpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    diagram = random_network(rng, 7)
    first, second, *others = map(str, rng.permutation([*diagram.nodes]))
    given = [name for name in others if rng.random() < 0.4]
    expected = not to_pgmpy(diagram).is_dconnected(first, second, given)
    assert d_separated(diagram.parents, [first], [second], given) == expected


def test_descendants_include_the_node() -> None:
    assert descendants(mouse().parents, "D") == {"D", "T"}


def test_a_variable_of_pgmpy_without_a_table() -> None:
    network = DiscreteBayesianNetwork([("A", "B")])
    network.add_cpds(TabularCPD("A", 2, [[0.5], [0.5]]))
    with pytest.raises(ValueError, match="'B' has no table: add a TabularCPD"):
        from_pgmpy(network)


def test_what_is_too_large_says_how_large() -> None:
    coins = [chance(f"C{i}", [0.5, 0.5]) for i in range(30)]
    with pytest.raises(
        ValueError,
        match=r"a table of 1,073,741,824 entries over C0, C1, .* wanted at most 16,777,216",
    ):
        joint(Diagram(*coins), [f"C{i}" for i in range(30)])


def test_elimination_keeps_a_long_chain_small() -> None:
    """A naive product would have 2^60 entries."""
    flip = [[0.9, 0.1], [0.1, 0.9]]
    chain = [
        chance("C0", [1.0, 0.0]),
        *(chance(f"C{i}", flip, [f"C{i - 1}"]) for i in range(1, 60)),
    ]
    np.testing.assert_allclose(
        joint(Diagram(*chain), ["C59"]), [0.5 + 0.5 * 0.8**59, 0.5 - 0.5 * 0.8**59]
    )


def test_a_name_given_twice() -> None:
    with pytest.raises(ValueError, match="wanted every variable once, got S, S"):
        joint(mouse(), ["S", "S"])


class StandIn(DiscreteBayesianNetwork):  # type: ignore[misc]
    """What is used of `pycid.CID` (0.8.2), which does not install beside newer pgmpys:
    variables are functions of their parents, made into tables.
    """

    def __init__(
        self,
        edges: Sequence[tuple[str, str]],
        decisions: Sequence[str] = (),
        utilities: Sequence[str] = (),
    ) -> None:
        super().__init__(edges)
        self.decisions, self.utilities, self.agents = decisions, utilities, [0]
        self.domain: dict[str, list[float]] = {}

    def add_cpds(self, *cpds: TabularCPD, **functions: Callable[..., Any]) -> None:
        super().add_cpds(*cpds)
        for name in nx.topological_sort(self):
            if name in functions:
                super().add_cpds(self._tabulated(name, functions[name]))

    def _tabulated(self, name: str, function: Callable[..., Any]) -> TabularCPD:
        parents = sorted(self.predecessors(name))
        columns = []
        for values in product(*(self.domain[parent] for parent in parents)):
            outcome = function(**dict(zip(parents, values, strict=True)))
            columns.append(outcome if isinstance(outcome, dict) else {outcome: 1})
        domain = self.domain[name] = sorted({key for each in columns for key in each})
        table = [[each.get(value, 0) for each in columns] for value in domain]
        sizes = [len(self.domain[parent]) for parent in parents]
        names = {each: self.domain[each] for each in (name, *parents)}
        return TabularCPD(name, len(domain), table, parents, sizes, state_names=names)


def posited() -> Diagram:
    return mouse(0.8).posit(["D"], [utility("U", [-1, 1], ["T"])])


def test_a_diagram_read_back_from_pycid_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pycid", SimpleNamespace(CID=StandIn))
    diagram = to_pycid(posited())
    again = from_pycid(diagram)
    for name, parents in posited().parents.items():
        assert set(again.parents[name]) == set(parents)
    assert again.decisions == ("D",)
    names = [*posited().parents]
    names.remove("U")
    np.testing.assert_allclose(joint(again, names), joint(posited(), names))
    value = known_utility(posited()).value
    assert known_utility(again).value == pytest.approx(value)

    diagram.agents = [0, 1]
    with pytest.raises(ValueError, match="the diagram of a single agent, got 0, 1"):
        from_pycid(diagram)
    with pytest.raises(ValueError, match="an influence diagram of pycid, got Discrete"):
        from_pycid(to_pgmpy(mouse()))


def test_values_of_a_utility_that_are_no_numbers_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pycid", SimpleNamespace(CID=StandIn))
    diagram = to_pycid(posited())
    diagram.get_cpds("U").state_names["U"] = ["bad", "good"]
    with pytest.raises(ValueError, match="utility 'U': wanted numbers as its values"):
        from_pycid(diagram)


def test_the_order_of_solving_is_told_where_there_is_one() -> None:
    assert solving_order(posited()) == ("D",)
    forgetful = forgetful_mouse()
    *_, last = forgetful.nodes
    with pytest.raises(ValueError, match="decisions D1, D2: one does not recall"):
        solving_order(forgetful.posit([], [utility("U", [-1, 1], [last])]))
