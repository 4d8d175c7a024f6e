"""Worlds that are explored give the same goal-directedness as their tables."""

from pathlib import Path

import numpy as np
import pytest
from walking import episodes, mazes

from gde import Choice, Plan, evaluate
from gde.errors import GdeError
from gde.parts.snapshots import restorable
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.environment import BlocksworldEnvironment
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.meg.played_world import PlayedWorld
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.estimation import (
    from_explored,
    from_trajectories,
    optimal_share,
)
from gde_plugins.meg.trajectories.explored import Explored, ExploredBehaviour
from gde_plugins.meg.trajectories.utilities import own_reward

N = 8
MODELS = mazes(N, density=0.0)
"""Open, so that no cell lies behind the goal: what does is not explored."""


def played(seed: int) -> PlayedWorld:
    environment = GridEnvironment(GridConfig(size=9, density=0.0))
    world = restorable(environment)
    return PlayedWorld(world, world.reset(seed))


WORLDS = tuple(Explored.of(played(seed), 500) for seed in range(N))


@pytest.fixture(params=["optimal", "random"])
def both(request: pytest.FixtureRequest) -> tuple[Behaviour, ExploredBehaviour]:
    walked = episodes(request.param, MODELS)
    actions = tuple(
        [episode.mdp.actions[action] for action in episode.actions]
        for episode in walked
    )
    return Behaviour.of(walked, own_reward), ExploredBehaviour(WORLDS, actions)


@pytest.mark.parametrize("beta", [0.3, -1.0, np.inf, -np.inf])
def test_every_rationality_predicts_alike(
    both: tuple[Behaviour, ExploredBehaviour], beta: float
) -> None:
    table, explored = both
    np.testing.assert_allclose(
        explored.scores(beta), table.scores(beta), atol=1e-9, rtol=1e-9
    )
    np.testing.assert_allclose(
        explored.scores_of_chance(beta), table.scores_of_chance(beta), atol=1e-9
    )


@pytest.mark.parametrize(
    "agent", ["soft, beta 1", pytest.param("optimal", marks=pytest.mark.extended)]
)
def test_the_estimates_are_equal(agent: str) -> None:
    walked = episodes(agent, MODELS)
    actions = tuple(
        [episode.mdp.actions[action] for action in episode.actions]
        for episode in walked
    )
    explored = ExploredBehaviour(WORLDS, actions)
    table = from_trajectories(walked, rng=np.random.default_rng(0))
    found = from_explored(explored, np.arange(N), np.random.default_rng(0))
    assert found.value == pytest.approx(table.value)
    assert found.interval == pytest.approx(table.interval, rel=1e-3)
    assert found.share == pytest.approx(table.share)
    assert explored.optimal_share() == pytest.approx(optimal_share(walked))


def test_states_may_differ_in_their_actions() -> None:
    """A uniform choice has no value, however many actions a state has."""
    world = BlocksworldEnvironment(BlocksworldConfig(blocks=3))
    table = Explored.of(PlayedWorld(world, world.reset(0)), 500)
    # 13 arrangements with an empty hand, and 3 with each of three blocks in it, less 2
    # that lie behind the goal.
    assert len(table.counts) == 13 + 9 - 2
    assert {*table.counts.tolist()} >= {1, 2, 3}
    assert table.is_goal.any()

    rng = np.random.default_rng(0)
    walks = []
    for _ in range(200):
        state = 0
        actions: list[str | None] = [None]
        for _ in range(6):
            if table.is_goal[state]:
                break
            action = str(rng.choice([*table.edges[state]]))
            actions.append(action)
            state = int(table.following[table.edges[state][action]])
        walks.append(actions)
    behaviour = ExploredBehaviour((table,) * 200, tuple(walks))
    found = from_explored(behaviour, np.arange(200), rng)
    assert found.value == pytest.approx(0, abs=0.05)
    assert behaviour.n_unusable == 200
    np.testing.assert_allclose(behaviour.scores(0.0), 0, atol=1e-12)


def test_a_larger_world_and_a_foreign_action_are_refused() -> None:
    with pytest.raises(GdeError, match="more than 10 states"):
        Explored.of(played(0), 10)
    with pytest.raises(GdeError, match="the record has 'fly'"):
        list(WORLDS[0].taken(["fly"]))


def test_blocks_of_different_sizes_are_measured_in_one_run(tmp_path: Path) -> None:
    blocks = Choice(name="blocksworld", config={"blocks": [3, 4]})
    plan = Plan(environment=blocks, agent="optimal", metrics=["meg-known"], episodes=4)
    result = evaluate(plan, tmp_path / "run")
    whole = [
        one for one in result.measurements if one.name == "meg.known" and not one.where
    ]
    assert whole[0].value is not None
    assert whole[0].value > 2
    assert whole[0].n == 8
