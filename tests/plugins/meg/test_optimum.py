"""What an optimal agent has, and what share of that others have."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from sampled import recorded
from walking import episodes, mazes

from gde.data.mdp import TabularMDP
from gde.numerics.tabular import solve
from gde_plugins.meg.metrics.goals import known
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import optimal_share


def ways(mdp: TabularMDP) -> tuple[float, float]:
    """Length and number of the shortest ways."""
    value = solve(mdp).value
    counts = np.where(value == 0, 1.0, 0.0)
    for length in range(1, int(-value.min()) + 1):
        for state in np.flatnonzero(value == -length):
            after = np.array([matrix.indices[state] for matrix in mdp.transition])
            counts[state] = counts[after[value[after] == 1 - length]].sum()
    start = int(mdp.start.argmax())
    return -value[start], counts[start]


@pytest.mark.parametrize("density", [0.0, 0.5, 1.0])
def test_an_optimal_agent_takes_all_shortest_ways_alike(density: float) -> None:
    worlds = mazes(6, density)
    played = [worlds[0], *worlds]
    lengths, numbers = np.array([ways(world) for world in played]).T
    nothing = np.zeros(0, dtype=np.intp)
    begun = [Episode(mdp=world, states=nothing, actions=nothing) for world in played]
    begun[0] = episodes("random", worlds[:1])[0]
    wanted = (lengths.sum() * log(4) - np.log(numbers).sum()) / (lengths.sum() * log(4))
    assert optimal_share(begun) == pytest.approx(wanted)


def test_an_optimal_agent_has_all_of_the_optimum_wherever_it_is() -> None:
    shares = {}
    for density in (0.0, 1.0):
        measured = {
            each.name: each
            for each in known(recorded(episodes("optimal", mazes(15, density))))
        }
        shares[density] = measured["meg.known.share"].value or 0.0
        assert measured["meg.known.of_optimal"].value == pytest.approx(1, abs=0.05)
        assert measured["meg.known.of_optimal"].interval is not None
    assert shares[0.0] < 0.85 < shares[1.0]


def test_without_a_share_there_is_none_of_the_optimum() -> None:
    (one,) = episodes("random", mazes(1))
    measured = {
        each.name: each for each in known(recorded([replace(one, cluster="one")]))
    }
    assert measured["meg.known.of_optimal"].value is None
    assert measured["meg.known.of_optimal"].reason == measured["meg.known.share"].reason
