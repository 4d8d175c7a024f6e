"""The goal against places that might have been the goal."""

from dataclasses import replace

import numpy as np
import pytest
from sampled import recorded
from walking import episodes, mazes

from gde.data.mdp import TabularMDP
from gde_plugins.meg.metrics.goals import known
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.placebo import against, beyond_placebo
from gde_plugins.meg.validity.walkers import BLIND
from gde_plugins.meg.worlds import cliff_world

LOOPS = mazes(30, 0.5)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("agent", ["soft, beta 0.3", "noisy, 30 % random", "optimal"])
def test_an_agent_that_knows_the_goal_is_told_from_one_that_does_not(
    agent: str,
) -> None:
    found = beyond_placebo(episodes(agent, LOOPS), rng())
    assert found.estimate.interval is not None
    assert found.estimate.interval[0] > 0
    assert (found.finding.p_value or 1) < 0.01


def moved(world: TabularMDP, place: np.ndarray) -> TabularMDP:
    """The world with its goal in another place."""
    return replace(
        world, terminal=place, labels={**world.labels, "goal": place.astype(float)}
    )


def test_goal_and_placebo_may_change_places() -> None:
    """What is measured then is the same with the other sign: the reason why habits
    cannot tell.
    """
    walked = episodes("non-reversing", LOOPS)
    others = [np.roll(one.mdp.start > 0, one.mdp.n_states // 2) for one in walked]
    pairs = [
        (one, other)
        for one, other in zip(walked, others, strict=True)
        if not other[one.mdp.terminal].any()
    ]
    kept, placebos = [one for one, _ in pairs], [other for _, other in pairs]
    exchanged, goals = [], []
    for one, placebo in pairs:
        there = placebo[one.states]
        end = int(there.argmax()) if there.any() else len(there)
        cut = {"states": one.states[:end], "actions": one.actions[:end]}
        exchanged.append(replace(one, mdp=moved(one.mdp, placebo), **cut))
        goals.append(np.asarray(one.mdp.terminal))
    found, turned = against(kept, placebos, rng()), against(exchanged, goals, rng())
    assert turned.estimate.value == pytest.approx(-found.estimate.value)
    assert turned.beta == found.beta
    assert turned.finding.p_value == found.finding.p_value


def test_goal_blind_agents_are_rarely_called_goal_directed() -> None:
    """At the 5 % level, in either direction, of all agents and worlds together; each by
    itself: `gde reproduce`.
    """
    p_values = [
        beyond_placebo(episodes(agent, LOOPS[:15]), rng()).finding.p_value or 0.0
        for agent in BLIND
    ]
    assert np.sum(np.array(p_values) <= 0.05) <= 2


def test_repeats_in_one_world_share_its_placebo() -> None:
    walked = episodes("optimal", LOOPS[:10])
    twice = beyond_placebo([*walked, *walked], rng())
    once = beyond_placebo(walked, rng())
    assert twice.estimate.value == pytest.approx(once.estimate.value)
    assert (twice.estimate.n, twice.estimate.n_clusters) == (20, 10)


def test_a_run_says_how_much_is_beyond_a_placebo() -> None:
    walked = episodes("optimal", LOOPS)
    measured = {each.name: each for each in known(recorded(walked))}
    assert (measured["meg.known.beyond"].value or 0) > 1
    assert (measured["meg.known.beyond.p"].value or 1) < 0.01
    assert measured["meg.known.beyond.p"].n == len(walked)
    alone = known(replace(recorded(walked), part={"world": "one"}))
    assert "meg.known.beyond" not in {each.name for each in alone}


def test_what_is_missing_is_said() -> None:
    windy = [
        Episode(
            mdp=cliff_world(),
            states=np.array([0]),
            actions=np.array([1]),
            cluster=str(i),
        )
        for i in range(2)
    ]
    with pytest.raises(
        ValueError, match="wanted models that tell what would follow at the goal"
    ):
        beyond_placebo([replace(one, mdp=absorbing(one.mdp)) for one in windy], rng())
    with pytest.raises(
        ValueError, match="labels row, column and goal, got none called column, row"
    ):
        beyond_placebo(
            [
                replace(one, mdp=replace(one.mdp, labels={"goal": np.ones(40)}))
                for one in windy
            ],
            rng(),
        )
    with pytest.raises(ValueError, match="at least two independent worlds"):
        beyond_placebo(episodes("optimal", LOOPS[:1]), rng())


def absorbing(mdp: TabularMDP) -> TabularMDP:
    """The same with a goal that nothing leads out of."""
    goal = mdp.labels["goal"] > 0
    transitions = []
    for matrix in mdp.transition:
        dense = matrix.toarray()
        dense[goal] = np.eye(mdp.n_states)[goal]
        transitions.append(type(matrix)(dense))
    return replace(mdp, transition=tuple(transitions))
