"""Padding, true rewards and the strict filter."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from worlds import Line

from gde.seeding import generator
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.files import Record
from gde_plugins.reward_prediction.maker import (
    Unsuitable,
    make_negative,
    make_positive,
    sequences,
)


def positive(world: Line, seed: int = 0, **recipe: int) -> Record:
    return make_positive(world, seed, Recipe(**recipe), generator(seed, "test"))  # type: ignore[arg-type]


def negative(world: Line, of: Record, seed: int = 0, **recipe: int) -> Record:
    return make_negative(world, seed, of, Recipe(**recipe), generator(seed, "negative"))  # type: ignore[arg-type]


def test_the_expert_earns_what_its_share_of_the_way_is() -> None:
    record = positive(Line(), padding=0)
    assert record.actions == ("right",) * 4
    assert [step.shaped for step in record.steps] == [0.25, 0.5, 0.75, 1.0]
    assert [step.shaped for step in positive(Line(), padding=0, offset=0).steps] == [
        0.0,
        0.25,
        0.5,
        0.75,
    ]
    assert (
        record.start,
        record.steps[0].observation,
        record.steps[-1].observation,
    ) == ("cell 4", "cell 5", "cell 8")


@pytest.mark.parametrize("play_on", [False, True])
def test_random_steps_keep_what_the_environment_says(play_on: bool) -> None:
    before, after = Counter[int](), Counter[int]()
    for seed in range(60):
        record = positive(Line(play_on=play_on), seed)
        expert = [i for i, step in enumerate(record.steps) if step.is_expert]
        assert expert == list(range(expert[0], expert[-1] + 1))
        assert record.steps[expert[-1]].raw == record.steps[expert[-1]].shaped == 1
        others = [step for step in record.steps if not step.is_expert]
        assert all(step.shaped == step.raw for step in others)
        assert all(step.raw == 0 for step in record.steps[: expert[0]])
        before[expert[0]] += 1
        after[len(record.steps) - 1 - expert[-1]] += 1
    assert set(before) == {0, 1, 2, 3}
    assert set(after) == ({0, 1, 2, 3} if play_on else {0})


def test_an_end_that_earns_a_part_of_the_goal_is_progress() -> None:
    ended = dict.fromkeys((0.0, 0.5), 0)
    for pays in ended:
        for seed in range(20):
            world = Line(ends_on="jump", pays=pays)
            failure = negative(world, positive(Line(), seed), seed)
            ended[pays] += "jump" in failure.actions
            assert not any(step.raw for step in failure.steps)
    assert ended[0.0] > ended[0.5] == 0


def test_the_expert_goes_on_from_where_random_steps_have_led() -> None:
    for seed in range(20):
        record = positive(Line(), seed)
        path = [record.start, *(step.observation for step in record.steps)]
        cells = [int(text.removeprefix("cell ")) for text in path]
        assert cells[-1] == 8
        assert all(abs(a - b) <= 1 for a, b in pairwise(cells))


def test_a_failure_shares_no_sequence_makes_no_progress_and_is_as_long() -> None:
    for seed in range(20):
        expert = positive(Line(play_on=True), seed)
        record = negative(Line(play_on=True), expert, seed)
        assert len(record.steps) == len(expert.steps)
        assert all(
            step.raw == step.shaped == 0 and not step.is_expert for step in record.steps
        )
        assert not sequences(record.actions, 2) & sequences(expert.expert_actions, 2)


def test_not_even_one_action_is_shared_where_that_is_asked_for() -> None:
    expert = positive(Line())
    assert "right" not in negative(Line(), expert, overlap=1).actions
    # Without the filter the random policy does go right.
    assert any("right" in negative(Line(), expert, seed).actions for seed in range(5))


def test_a_random_policy_is_uniform_over_what_is_left() -> None:
    expert, taken = positive(Line(length=40), padding=0), Counter[str]()
    for seed in range(60):
        taken.update(negative(Line(length=40), expert, seed, overlap=1).actions)
    counts = np.array([taken[action] for action in ("left", "look", "wait", "jump")])
    expected = counts.sum() / 4
    # Chi-squared with 3 degrees of freedom: 16.3 is exceeded once in a thousand.
    assert ((counts - expected) ** 2 / expected).sum() < 16.3


def test_worlds_that_no_pair_can_be_made_of_say_why() -> None:
    with pytest.raises(Unsuitable, match="the demonstration does not reach the goal"):
        positive(Line(hopeless=True))
    short = positive(Line(length=2), padding=0)
    with pytest.raises(
        Unsuitable,
        match="no random trajectory of 1 steps without progress in 50 trials",
    ):
        make_negative(_OnlyRight(length=2), 0, short, Recipe(), generator(0, "x"))


def test_a_failure_may_end_before_its_time() -> None:
    expert, lengths = positive(Line(), padding=0), set[int]()
    for seed in range(20):
        record = negative(Line(ends_on="jump"), expert, seed)
        lengths.add(len(record.steps))
        assert record.success == 0
        assert "jump" not in record.actions[:-1]
        assert len(record.steps) == len(expert.steps) or record.actions[-1] == "jump"
    assert lengths == {1, 2, 3, 4}


class _OnlyRight(Line):
    def step(self, action: str) -> object:  # type: ignore[override]
        return super().step("right")
