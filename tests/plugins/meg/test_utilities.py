"""What an agent may be after."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from gde.data.mdp import TabularMDP
from gde_plugins.meg import soft_policy
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.utilities import (
    Feature,
    menu,
    own_reward,
    standing_still,
)


def corridor(n: int = 4) -> TabularMDP:
    """Left and right; the last cell ends the episode, and its row of the transitions
    leads elsewhere.
    """
    cells = np.arange(n)
    left, right = np.maximum(cells - 1, 0), np.minimum(cells + 1, n - 1)
    left[-1] = right[-1] = 0
    return TabularMDP(
        transition=tuple(
            csr_array((np.ones(n), (cells, to)), shape=(n, n)) for to in (left, right)
        ),
        start=(cells == 0).astype(float),
        reward=np.full(n, -1.0),
        terminal=cells == n - 1,
        labels={
            "cell": cells.astype(float),
            "goal": (cells == n - 1).astype(float),
            "one": np.ones(n),
        },
    )


def test_a_world_that_has_ended_stands_still_and_earns() -> None:
    still = standing_still(corridor(), np.arange(4.0))
    assert still.terminal is None
    for matrix, before in zip(still.transition, corridor().transition, strict=True):
        np.testing.assert_array_equal(matrix.toarray()[-1], [0, 0, 0, 1])
        np.testing.assert_array_equal(matrix.toarray()[:-1], before.toarray()[:-1])
    endless = replace(corridor(), terminal=None)
    assert standing_still(endless, endless.reward).transition == endless.transition


def test_a_goal_that_ends_the_episode_is_gone_for_at_once() -> None:
    policy = soft_policy(Feature("goal")(corridor()), 5.0, horizon=6).probabilities
    # One spare step can be wasted in six states, but every step at the goal counts.
    assert policy[0, 0, 1] > 0.95
    np.testing.assert_allclose(policy[:, -1], 0.5)


def test_the_menu_holds_what_all_worlds_have_and_what_varies() -> None:
    other = replace(
        corridor(), labels={name: corridor().labels[name] for name in ("goal", "one")}
    )
    assert menu([corridor()]) == ["cell", "goal"]
    assert menu([corridor(), other]) == ["goal"]
    assert own_reward(other) is other


def test_a_feature_that_the_world_lacks_is_refused() -> None:
    with pytest.raises(
        ValueError, match="wanted a label of the model, cell, goal, one, got 'key'"
    ):
        Feature("key")(corridor())
    with pytest.raises(ValueError, match="of which it has none, got 'key'"):
        Feature("key")(replace(corridor(), labels={}))


def test_a_deadline_that_nobody_told_of_excuses_no_walking_away() -> None:
    """Out of the goal's reach within the time left, every action is as good as another;
    without deadline none is.
    """
    mdp = corridor(8)
    away = Episode(
        mdp=mdp,
        states=np.array([4, 3, 2, 1]),
        actions=np.array([0, 0, 0, 0]),
        horizon=5,
    )
    told, untold = (
        Behaviour.of([each], own_reward).scores(2.0)[0]
        for each in (away, replace(away, horizon=None))
    )
    assert untold < told - 1
    ratio = np.exp(2) - np.sqrt(
        np.exp(4) - 1
    )  # of desirabilities a step apart, in a corridor without other end
    assert untold == pytest.approx(4 * np.log(2 / (1 + ratio**-2)), rel=1e-2)
