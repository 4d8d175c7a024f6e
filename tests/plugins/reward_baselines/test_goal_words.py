"""Rewards for naming what is wanted."""

import asyncio
from dataclasses import replace
from typing import Any

from gde.data.observation import OBJECTIVE, Observation
from gde.data.reward import Rewards
from gde.data.trajectory import FIRST_ACTION, Decision, Trajectory
from gde.data.transcript import Transcript
from gde.testing.samples import sample_evidence
from gde_plugins.reward_baselines.models import GoalWords

ONE = next(one for one in sample_evidence().trajectories if one.turns)


def episode(objective: str, *actions: str | None, first: str = "") -> Trajectory:
    """An episode with these decisions, None for one that cannot be used."""
    decided = [
        Decision.act(each) if each else Decision.unusable("empty", "nothing")
        for each in actions
    ]
    turns = [
        replace(ONE.turns[0], index=i, decision=each) for i, each in enumerate(decided)
    ]
    facts = {OBJECTIVE: objective, **({FIRST_ACTION: first} if first else {})}
    return replace(ONE, world=replace(ONE.world, facts=facts), turns=tuple(turns))


def judged(one: Trajectory, **settings: Any) -> Rewards:
    return asyncio.run(GoalWords(**settings).rewards(Transcript.of(one)))


def test_words_of_the_goal_count_once_they_are_named() -> None:
    done = episode(
        "Put the red_apple in the fridge.",
        "take Apple",
        "open FRIDGE",
        None,
        "put red apple",
        "wait",
    )
    assert judged(done).values.tolist() == [0, 0.25, 0.5, 0.5, 1]


def test_a_recorded_first_action_stands_before_the_first_turn() -> None:
    assert judged(
        episode("cook the egg", "cook egg", "wait", first="take egg")
    ).values.tolist() == [0.5, 1]


def test_no_observation_is_read() -> None:
    one = episode("cook the egg", "take egg", "wait")
    seen = [
        replace(turn, observation=Observation(text="cook the egg"))
        for turn in one.turns
    ]
    assert (
        judged(replace(one, turns=tuple(seen))).values.tolist()
        == judged(one).values.tolist()
        == [0, 0.5]
    )


def test_the_later_the_more_it_is_worth_to_have_named_the_goal() -> None:
    one = episode("cook the egg", "wait", "take egg", "cook egg", "wait")
    assert judged(one, times="clock").values.tolist() == [0, 0, 1.5, 4]
    # All observations are the same, so that turns since a repeated one are 1, 0, 0, 0.
    assert judged(one, times="unrepeated").values.tolist() == [0, 0, 0, 0]
    turns = [
        replace(turn, observation=Observation(text=f"{turn.index}"))
        for turn in one.turns
    ]
    new = replace(one, turns=tuple(turns))
    assert judged(new, times="unrepeated").values.tolist() == [0, 0, 1.5, 4]
    mentions = judged(new, times="unrepeated", cumulative=True)
    assert mentions.values.tolist() == [0, 0, 1.5, 6]


def test_an_objective_without_words_is_a_failure_with_its_reason() -> None:
    for objective in ("", "the goal is: ..."):
        found = judged(episode(objective, "wait"))
        assert repr(objective) in found.failure
        assert found.values.shape == (0,)


def test_an_episode_without_turns_has_no_rewards() -> None:
    assert judged(episode("cook the egg")).values.shape == (0,)
