"""MEG with respect to utilities that a neural network computes: between zero and the
certified optimum.
"""

from dataclasses import replace

import numpy as np
import pytest
from random_worlds import random_mdp, random_policy

from gde_plugins.meg import unknown_utility
from gde_plugins.meg.solvers.neural import Training, perceptron

torch = pytest.importorskip("torch")
MDP = random_mdp(0, "endless")
POLICY = random_policy(0, MDP, concentration=1.0)
ONE_HOT = Training(inputs=np.eye(5), steps=200)


def test_a_network_that_can_be_any_table_comes_near_the_certified_optimum() -> None:
    linear = torch.nn.Linear(5, 1, bias=False)
    meg = unknown_utility(
        MDP, POLICY, linear, 4, training=replace(ONE_HOT, learning_rate=0.05)
    )
    optimum = unknown_utility(MDP, POLICY, "states", 4)
    assert optimum.value - 1e-3 < meg.value <= optimum.bounds[1]
    assert meg.bounds == (meg.value, optimum.bounds[1])
    assert not meg.converged
    assert meg.utility is not None
    assert meg.utility.shape == (5,)


def test_every_start_is_between_nothing_and_the_optimum() -> None:
    values = []
    for seed in (1, 2):
        network = perceptron(5, hidden=8, seed=seed)
        before = [parameter.detach().clone() for parameter in network.parameters()]
        meg = unknown_utility(MDP, POLICY, network, 4, training=ONE_HOT)
        assert 0 <= meg.value <= meg.bounds[1]
        values.append(meg.value)
    assert values[0] != values[1]
    assert all(
        torch.equal(*pair) for pair in zip(before, network.parameters(), strict=True)
    )


def test_the_same_seeds_give_the_same_value_and_leave_the_global_ones_alone() -> None:
    state = torch.random.get_rng_state()
    values = [
        unknown_utility(
            MDP,
            POLICY,
            perceptron(5, hidden=4, seed=2),
            4,
            training=replace(ONE_HOT, steps=20),
        ).value
        for _ in range(2)
    ]
    assert values[0] == values[1]
    assert torch.equal(state, torch.random.get_rng_state())


def test_inputs_are_places_where_the_model_has_them() -> None:
    places = {"row": np.array([0.0, 0, 1, 1, 2]), "column": np.array([0.0, 1, 0, 1, 0])}
    labelled = replace(MDP, labels=places)
    given = Training(
        inputs=np.stack([places["column"], places["row"] / 2], axis=1),
        steps=20,
    )
    implied = unknown_utility(
        labelled, POLICY, perceptron(2), 4, training=Training(steps=20)
    )
    assert (
        implied.value
        == unknown_utility(MDP, POLICY, perceptron(2), 4, training=given).value
    )


def test_a_model_without_places_needs_inputs() -> None:
    with pytest.raises(
        ValueError,
        match="no label column or row to make them from; give training=Training",
    ):
        unknown_utility(MDP, POLICY, perceptron(2), 4)


def test_inputs_are_for_every_state() -> None:
    with pytest.raises(
        ValueError, match=r"inputs must have shape \(5, F\), got \(4, 2\)"
    ):
        unknown_utility(
            MDP, POLICY, perceptron(2), 4, training=Training(inputs=np.zeros((4, 2)))
        )


def test_a_network_gives_one_utility_a_state() -> None:
    with pytest.raises(ValueError, match=r"must give 5 utilities, got \(5, 3\)"):
        unknown_utility(MDP, POLICY, torch.nn.Linear(5, 3), 4, training=ONE_HOT)
