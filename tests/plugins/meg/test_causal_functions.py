"""What pycid's `add_cpds` takes, without pycid."""

from typing import Any

import numpy as np
import pytest

from gde_plugins.meg import measure
from gde_plugins.meg.causal import Diagram, chance, decision, from_functions, utility

RELATIONS: dict[str, Any] = {
    "U": lambda S, D: S * D,
    "D": lambda S: {S: 0.8, -S: 0.2},
    "S": {-1: 0.3, 1: 0.7},
}


def test_functions_become_tables() -> None:
    """The minimal influence diagram of pycid's tutorial, with a policy."""
    found = from_functions(RELATIONS, ["D"], ["U"])
    by_hand = Diagram(
        chance("S", [0.3, 0.7]),
        decision("D", [[0.8, 0.2], [0.2, 0.8]], ["S"]),
        utility("U", [[1, -1], [-1, 1]], ["S", "D"]),
    )
    assert found.parents == by_hand.parents
    for name, node in by_hand.nodes.items():
        assert found.nodes[name].kind == node.kind
        assert found.nodes[name].table == pytest.approx(node.table)
    measured = measure(found)
    assert measured.value == pytest.approx(0.192745, abs=1e-6)
    assert measured.share_of_optimal == pytest.approx(measured.value / 0.693147)


def test_probability_that_is_left_is_spread_over_the_other_outcomes() -> None:
    """As `pycid.noisy_copy` has it."""
    found = from_functions({"A": [0, 1, 2], "B": lambda A: {0: None, A: 0.8}})
    expected = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    np.testing.assert_allclose(found.nodes["B"].table, expected)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"D": lambda X: X}, r"wanted a variable \(U, D, S\), got 'X': arguments"),
        ({"S": lambda D: D}, "without cycles, got "),
        ({"S": {0: 0.5, 1: 0.4}}, "table of 'S'.*wanted probabilities that sum to one"),
        ({"U": lambda S: {S: 1.0}}, "utility 'U': wanted an array of numbers"),
    ],
)
def test_what_is_no_diagram(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_functions(RELATIONS | changed, ["D"], ["U"])
    with pytest.raises(ValueError, match=r"wanted a variable \(U, D, S\), got 'E'"):
        from_functions(RELATIONS, ["E"])


def test_a_utility_has_no_children() -> None:
    after = {"A": lambda U: int(U > 0)}
    with pytest.raises(ValueError, match="'A': the parent 'U' is a utility"):
        from_functions(RELATIONS | after, ["D"], ["U"])
