"""Agents that follow habits are not called goal-directed, and those that are after the
goal are.
"""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from sampled import recorded
from scipy.sparse import csr_array
from walking import episodes, mazes

from gde.data.mdp import TabularMDP
from gde_plugins.meg.metrics.goals import posterior, towards
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.estimation import from_trajectories
from gde_plugins.meg.trajectories.habits import (
    MOMENTUM,
    NON_REVERSING,
    NOVELTY,
    WALLS,
    habits,
)
from gde_plugins.meg.worlds import cliff_world

MAZES = mazes(30)
FOLLOWING = (NON_REVERSING, NOVELTY, MOMENTUM, WALLS)


def after_what(agent: str) -> dict[str, float]:
    walked = episodes(agent, MAZES)
    found = from_trajectories(walked, "goal", rng=np.random.default_rng(0))
    return posterior({"goal": found.evidence or 0.0}, walked)


@pytest.mark.parametrize("agent", FOLLOWING)
def test_a_habit_is_recognised_and_called_no_goal(agent: str) -> None:
    probabilities = after_what(agent)
    assert probabilities["goal"] < 0.05
    assert max(probabilities, key=lambda name: probabilities[name]) == agent


@pytest.mark.parametrize("agent", ["soft, beta 1", "noisy, 30 % random", "optimal"])
def test_an_agent_that_is_after_the_goal_is_not_said_to_follow_habits(
    agent: str,
) -> None:
    assert after_what(agent)["goal"] > 0.99


def test_random_choice_follows_nothing() -> None:
    assert after_what("random")["none"] > 0.9
    assert max(habits(episodes("random", MAZES)).values()) < 0


def test_a_run_names_habits_beside_features() -> None:
    measured = towards(recorded(episodes(WALLS, MAZES[:10])))
    found = {
        each.where["utility"]: each.value or 0.0
        for each in measured
        if each.name == "meg.to.posterior"
    }
    assert {"row", "column", "goal", "wall", "none", *FOLLOWING} == found.keys()
    assert found[WALLS] == pytest.approx(1, abs=0.05)
    assert sum(found.values()) == pytest.approx(1)


def test_the_evidence_averages_the_likelihood_over_both_weights() -> None:
    """One decision between two ways and two walls, against numerical integration over
    the prior.
    """
    (world, *_) = MAZES
    state = int(
        np.flatnonzero((world.labels["wall"] == 2) & (world.labels["goal"] == 0))[0]
    )
    after = np.array([matrix.indices[state] for matrix in world.transition])
    taken = int(np.flatnonzero(after != state)[0])
    one = [Episode(mdp=world, states=np.array([state]), actions=np.array([taken]))] * 40
    weights = np.linspace(-15, 15, 1501)
    density = np.exp(-(weights**2) / 18) / np.sqrt(18 * np.pi)
    open_ways = np.exp(weights) / (2 * np.exp(weights) + 2)
    wanted = np.log(np.trapezoid(density * (4 * open_ways) ** 40, weights))
    assert habits(one)[MOMENTUM] == pytest.approx(wanted, abs=0.7)


def test_where_right_and_left_mean_nothing_no_walls_are_followed() -> None:
    bare = [
        replace(one, mdp=replace(one.mdp, labels={}))
        for one in episodes("random", MAZES[:3])
    ]
    assert set(habits(bare)) == {NON_REVERSING, NOVELTY, MOMENTUM}


def test_worlds_with_chance_and_agents_without_actions_have_no_habits() -> None:
    windy = Episode(mdp=cliff_world(), states=np.array([0]), actions=np.array([1]))
    assert habits([windy]) == {}
    mute = replace(windy, mdp=corridor(), actions=np.array([UNUSABLE]))
    assert habits([mute]) == {}


def corridor() -> TabularMDP:
    here = np.arange(3)
    moves = (np.maximum(here - 1, 0), np.minimum(here + 1, 2))
    return TabularMDP(
        transition=tuple(
            csr_array((np.ones(3), (here, to)), shape=(3, 3)) for to in moves
        ),
        start=(here == 0).astype(float),
        reward=np.zeros(3),
    )


def test_two_ways_only_are_enough_for_momentum() -> None:
    there = Episode(mdp=corridor(), states=np.array([0, 1]), actions=np.array([1, 1]))
    found = habits([there])
    assert set(found) == {NON_REVERSING, NOVELTY, MOMENTUM}
    assert all(-inf < value < inf for value in found.values())
