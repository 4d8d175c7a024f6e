"""What an optimal agent has, and what share of that others have."""

from dataclasses import replace
from math import inf, log

import numpy as np
import pytest
from sampled import recorded, sample, untold
from walking import episodes, mazes

from gde.data.mdp import TabularMDP
from gde.numerics.tabular import solve
from gde_plugins.meg.metrics.goals import known
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import from_trajectories, optimal_share


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
    begun_in = [worlds[0], *worlds]
    lengths, numbers = np.array([ways(world) for world in begun_in]).T
    nothing = np.zeros(0, dtype=np.intp)
    begun = [Episode(mdp=world, states=nothing, actions=nothing) for world in begun_in]
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


def ring(n: int, slip: float = 0.0) -> TabularMDP:
    """Back, wait and on in a ring without an end, of which one state pays."""
    states = np.arange(n)
    identity = np.eye(n)
    moves = [identity[(states + step) % n] for step in (-1, 0, 1)]
    blurred = [(1 - slip) * move + slip / n for move in moves]
    return TabularMDP.of(blurred, 1.0 * (states == 0), start=n // 2)


def played(world: TabularMDP, n: int, steps: int) -> list[Episode]:
    """Episodes of an optimal agent that knows no deadline."""
    rng = np.random.default_rng(0)
    policy = untold(world, inf, steps)
    return [replace(one, horizon=None) for one in sample(world, policy, n, rng, steps)]


@pytest.mark.parametrize("n", [2, 3, 4, 6, 9])
@pytest.mark.parametrize(
    ("slip", "n_episodes", "off"), [(0, 8, 1e-3), (0.2, 300, 0.03)]
)
def test_an_optimal_agent_has_all_of_the_optimum_where_nothing_ends(
    n: int, slip: float, n_episodes: int, off: float
) -> None:
    """Both plan equally far ahead in every decision, and take as many."""
    drawn = played(ring(n, slip), n_episodes, 12)
    found = from_trajectories(drawn, rng=np.random.default_rng(0))
    assert found.share is not None
    assert found.share / optimal_share(drawn) == pytest.approx(1, abs=off)


@pytest.mark.parametrize("shift", [-3.0, 5.0])
def test_a_reward_of_every_turn_means_nothing_where_nothing_ends(shift: float) -> None:
    world = ring(6, 0.2)
    other = replace(world, reward=world.reward + shift)
    drawn = played(world, 8, 12)
    shifted = [replace(one, mdp=other) for one in drawn]
    found, same = (
        from_trajectories(each, rng=np.random.default_rng(0))
        for each in (drawn, shifted)
    )
    assert found.share and same.share == pytest.approx(found.share, rel=1e-6)
    assert optimal_share(shifted) == pytest.approx(optimal_share(drawn), rel=1e-6)


def test_without_a_share_there_is_none_of_the_optimum() -> None:
    (one,) = episodes("random", mazes(1))
    measured = {
        each.name: each for each in known(recorded([replace(one, cluster="one")]))
    }
    assert measured["meg.known.of_optimal"].value is None
    assert measured["meg.known.of_optimal"].reason == measured["meg.known.share"].reason
