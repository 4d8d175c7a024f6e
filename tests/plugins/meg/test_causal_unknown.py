"""Classes of utilities in diagrams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gde_plugins.meg.causal import (
    Diagram,
    chance,
    decision,
    mouse,
    target_variables,
    towards_utilities,
    towards_weighted_utilities,
    utility,
)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_one_utility_is_known_and_all_of_them_are_the_targets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    diagram = Diagram(
        chance("S", rng.dirichlet(np.ones(2))),
        decision("D", rng.dirichlet(np.ones(3), size=2), ["S"]),
        chance("T", rng.dirichlet(np.ones(3), size=(2, 3)), ["S", "D"]),
    )
    every = [utility(f"U{t}", np.eye(3)[t], ["T"]) for t in range(3)]
    one = towards_weighted_utilities(diagram.posit(utilities=every[:1]))
    known = towards_utilities(diagram.posit(utilities=every[:1]))
    assert one.value == pytest.approx(known.value, abs=1e-6)
    whole = towards_weighted_utilities(diagram.posit(utilities=every))
    assert whole.value == pytest.approx(
        target_variables(diagram, ["T"]).value, abs=1e-6
    )
    two = towards_weighted_utilities(diagram.posit(utilities=every[:2]))
    assert one.value - 1e-7 <= two.value <= whole.value + 1e-6
    for found in (one, two, whole):
        assert (
            found.bounds[0] <= found.value <= found.bounds[1] <= found.bounds[0] + 1e-4
        )


def test_weights_are_those_of_the_utilities() -> None:
    found = towards_weighted_utilities(
        mouse(0.8).posit(utilities=[utility("U", [0.0, 4.0], ["T"])])
    )
    assert found.weights is not None
    assert found.weights[0] * 4 == pytest.approx(np.log(4), abs=1e-5)


def test_a_class_needs_a_utility() -> None:
    with pytest.raises(ValueError, match="wanted a diagram with utilities"):
        towards_weighted_utilities(mouse())
