"""Diagrams refuse what is not one, in a line."""

import numpy as np
import pytest

from gde_plugins.meg.causal import Diagram, chance, decision, mouse, utility

COIN = chance("A", [0.5, 0.5])
COPY = np.eye(2)


def test_nodes_are_put_in_order() -> None:
    assert [*Diagram(chance("B", COPY, ["A"]), COIN).nodes] == ["A", "B"]


def test_positing_decisions_and_utilities() -> None:
    diagram = Diagram(COIN, chance("B", COPY, ["A"]))
    posited = diagram.posit(["B"], [utility("U", [0.0, 1.0], ["B"])])
    assert diagram.decisions == ()
    assert posited.decisions == ("B",)
    assert posited.names("utility") == ("U",)


def test_following_another_policy() -> None:
    followed = mouse(1.0).follow({"D": [[0.5, 0.5], [0.5, 0.5]]})
    np.testing.assert_allclose(followed.nodes["D"].table, 0.5)
    with pytest.raises(ValueError, match=r"wanted a decision \(D\), got 'S'"):
        mouse().follow({"S": [0.5, 0.5]})


def test_an_unknown_parent() -> None:
    with pytest.raises(
        ValueError, match="'B': the parent 'X' is no variable of the diagram: A, B"
    ):
        Diagram(COIN, chance("B", COPY, ["X"]))


def test_a_cycle() -> None:
    with pytest.raises(
        ValueError, match=r"without cycles, got (A -> B -> A|B -> A -> B)"
    ):
        Diagram(chance("A", COPY, ["B"]), chance("B", COPY, ["A"]))


def test_a_utility_with_children() -> None:
    with pytest.raises(
        ValueError, match="'B': the parent 'U' is a utility, which has no children"
    ):
        Diagram(COIN, utility("U", [0.0, 1.0], ["A"]), chance("B", COPY, ["U"]))


def test_a_name_given_twice() -> None:
    with pytest.raises(ValueError, match="wanted every variable once, got 'A' twice"):
        Diagram(COIN, COIN)
    with pytest.raises(ValueError, match="'B': wanted every parent once, got A, A"):
        Diagram(COIN, chance("B", [COPY, COPY], ["A", "A"]))


@pytest.mark.parametrize("row", [[0.5, 0.4], [1.5, -0.5], [float("nan"), 1.0]])
def test_tables_that_are_no_probabilities(row: list[float]) -> None:
    with pytest.raises(
        ValueError,
        match=r"table of 'B', row \(1,\): wanted probabilities that sum to one, got \[",
    ):
        chance("B", [[0.5, 0.5], row], ["A"])


def test_cardinalities_that_disagree() -> None:
    with pytest.raises(
        ValueError,
        match=r"table of 'B': wanted shape \(2, 2\) over \(A, B\), got \(3, 2\)",
    ):
        Diagram(COIN, decision("B", [[0.5, 0.5]] * 3, ["A"]))
    with pytest.raises(
        ValueError, match=r"table of 'U': wanted shape \(2,\) over \(A\), got \(3,\)"
    ):
        Diagram(COIN, utility("U", [0.0, 1.0, 2.0], ["A"]))


def test_a_table_with_an_axis_missing() -> None:
    with pytest.raises(
        ValueError, match=r"parents \(A\) and one for 'B' itself, got shape \(2,\)"
    ):
        chance("B", [0.5, 0.5], ["A"])


def test_a_utility_that_is_no_number() -> None:
    with pytest.raises(ValueError, match="utility 'U': wanted finite numbers, got NaN"):
        utility("U", [0.0, float("nan")], ["A"])
