"""What is written down is what a reader finds."""

import pytest

from gde.data.evidence import Evidence
from gde.data.observation import World
from gde.data.trajectory import Decision
from gde.testing.episodes import Move, episode_of


def test_a_mute_move_has_no_action_and_says_why() -> None:
    first, second = episode_of(
        [Move(action=None), Move(action="UP", optimal=("UP",))]
    ).turns
    assert (first.decision.status, first.decision.action) == ("unparsable", None)
    assert (second.index, second.decision, second.optimal) == (
        1,
        Decision.act("UP"),
        ("UP",),
    )


@pytest.mark.parametrize(("reward", "success"), [(1.0, 1.0), (-1.0, 0.0)])
def test_only_the_last_turn_of_a_finished_episode_is_paid(
    reward: float, success: float
) -> None:
    turns = episode_of(
        [Move(action="UP")] * 3, ending="terminated", reward=reward
    ).turns
    assert [turn.reward for turn in turns] == [0, 0, reward]
    assert [turn.success for turn in turns] == [0, 0, success]
    assert [turn.terminated for turn in turns] == [False, False, True]
    assert not any(
        turn.terminated for turn in episode_of([Move(action="UP")] * 3).turns
    )


def test_worlds_are_told_apart_by_number_or_given_whole() -> None:
    numbered, given = (
        episode_of([], world=3),
        episode_of([], world=World(id="room"), index=4, labels={"size": 7}),
    )
    assert (numbered.key.world, numbered.world.id, given.key.world, given.world.id) == (
        3,
        "world3",
        4,
        "room",
    )
    assert Evidence(trajectories=(numbered, given)).trajectories[1].labels == {
        "size": 7
    }
