"""Inference and separation against pgmpy, on random networks."""

import warnings

import numpy as np
import pytest
from causal_parts import joint, random_network, some
from hypothesis import given, settings
from hypothesis import strategies as st

from gde_plugins.meg.causal import (
    Diagram,
    chance,
    from_pgmpy,
    mouse,
    target_variables,
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
    with pytest.raises(ValueError, match="No CPD associated with B"):
        from_pgmpy(network)


def test_something_else_than_a_network_is_named() -> None:
    with pytest.raises(ValueError, match="wanted a network of pgmpy, got 42"):
        from_pgmpy(42)


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


def noticing(states: list[str]) -> "DiscreteBayesianNetwork":
    """A mouse whose table names the sides of the cheese in this order."""
    network = DiscreteBayesianNetwork([("S", "D"), ("S", "T"), ("D", "T")])
    sides = ["left", "right"]
    goes = np.array([[0.9, 0.3], [0.1, 0.7]])
    order = [sides.index(state) for state in states]
    network.add_cpds(
        TabularCPD("S", 2, [[0.5], [0.5]], state_names={"S": sides}),
        TabularCPD(
            "D", 2, goes[:, order], ["S"], [2], state_names={"D": sides, "S": states}
        ),
        TabularCPD(
            "T",
            2,
            [[0, 1, 1, 0], [1, 0, 0, 1]],
            ["S", "D"],
            [2, 2],
            state_names={"T": ["no", "yes"], "S": sides, "D": sides},
        ),
    )
    return network


def test_states_of_parents_are_read_by_their_names() -> None:
    wanted, found = (
        target_variables(from_pgmpy(noticing(states)), ["T"], ["D"]).value
        for states in (["left", "right"], ["right", "left"])
    )
    assert found == pytest.approx(wanted) and found > 0.1

    unlike = noticing(["left", "right"])
    unlike.get_cpds("D").state_names["S"] = ["left", "up"]
    with pytest.raises(ValueError, match="state names of S doesn't match"):
        from_pgmpy(unlike)
