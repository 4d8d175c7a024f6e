"""Gymnasium's toy-text tables as decision processes."""

import gymnasium
import numpy as np
import pytest

from gde import GdeError
from gde.numerics.tabular import solve
from gde_plugins.gymnasium import mdp_of


def test_a_lake_begins_where_it_does_and_pays_at_the_goal() -> None:
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    mdp = mdp_of(lake, ("LEFT", "DOWN", "RIGHT", "UP"), discount=0.9)
    assert mdp.start.tolist() == [1.0] + [0.0] * 15
    assert mdp.actions == ("LEFT", "DOWN", "RIGHT", "UP")
    assert solve(mdp).value[0] == pytest.approx(
        0.9**5
    )  # six steps to the goal, the last of which pays


def test_a_taxi_may_begin_in_many_places() -> None:
    mdp = mdp_of(gymnasium.make("Taxi-v4"))
    assert mdp.actions == ("0", "1", "2", "3", "4", "5")
    assert mdp.start.sum() == pytest.approx(1)
    assert np.count_nonzero(mdp.start) == 300


def test_what_has_no_table_is_refused() -> None:
    with pytest.raises(
        GdeError, match="wanted an environment with a table of transitions `P`"
    ):
        mdp_of(gymnasium.make("Blackjack-v1"))
    with pytest.raises(GdeError, match="wanted 4 names of actions, got 1"):
        mdp_of(gymnasium.make("FrozenLake-v1"), ("LEFT",))
