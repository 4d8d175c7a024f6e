"""What `gde.data.mdp` refuses."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gde.data.mdp import Policy, TabularMDP

STAY = csr_array(np.eye(2))


def model(**changed: Any) -> TabularMDP:
    return TabularMDP(**{"transition": (STAY,), "start": np.array([1.0, 0.0]), "reward": np.zeros(2), **changed})


@pytest.mark.parametrize(
    "terminal",
    [np.array([True]), np.array([0, 1]), np.array([0.0, 1.0]), np.array([[True, False]]), np.array([True] * 3)],
)
def test_terminal_says_so_of_every_state(terminal: Any) -> None:
    with pytest.raises(ValueError, match=r"terminal must be bool of shape \(2,\), got .* of shape"):
        model(terminal=terminal)


@pytest.mark.parametrize("start", [[np.nan, 1.0], [np.nan, np.nan], [0.5, 0.4], [1.5, -0.5], [1.0]])
def test_start_is_a_distribution(start: list[float]) -> None:
    with pytest.raises(ValueError, match=r"start must be \(2,\) probabilities that sum to one, got shape"):
        model(start=np.array(start))


@pytest.mark.parametrize("row", [[np.nan, 1.0], [0.5, np.nan], [0.5, 0.4], [1.5, -0.5], [np.inf, 0.0]])
def test_rows_of_a_transition_are_distributions(row: list[float]) -> None:
    with pytest.raises(ValueError, match=r"transition\[1\] row 1 must be probabilities that sum to one"):
        model(transition=(STAY, csr_array(np.array([[1.0, 0.0], row]))))


@pytest.mark.parametrize("row", [[np.nan, 0.5], [0.5, 0.4], [1.5, -0.5], [np.inf, 0.0]])
def test_rows_of_a_policy_are_distributions(row: list[float]) -> None:
    with pytest.raises(ValueError, match="every row of a policy must be probabilities that sum to one"):
        Policy(probabilities=np.array([[0.5, 0.5], row]))


@pytest.mark.parametrize("reward", [[0.0, np.nan], [np.inf, 0.0]])
def test_rewards_are_finite(reward: list[float]) -> None:
    with pytest.raises(ValueError, match="reward must be finite in every state"):
        model(reward=np.array(reward))
