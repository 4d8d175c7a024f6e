"""Hard pairs: each kind of failure is what its name says, and its truth is measured."""

from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from worlds import Line

from gde.executors.serial import Serial
from gde.seeding import generator
from gde_plugins.reward_prediction.building import Order, build_domain
from gde_plugins.reward_prediction.config import Recipe, RewardBenchConfig
from gde_plugins.reward_prediction.domains import HARD, Failure, find_domain
from gde_plugins.reward_prediction.environment import RewardBench
from gde_plugins.reward_prediction.failures import make_failure
from gde_plugins.reward_prediction.files import Record
from gde_plugins.reward_prediction.maker import Maker
from gde_plugins.reward_prediction.play import Play, Unsuitable


def failed(kind: Failure, seed: int = 0, play_on: bool = True, n: int = 8) -> Record:
    line = Line(play_on=play_on)
    begin = partial(Play, line, seed, True, play_on)
    return make_failure(kind, begin, n, generator(seed, "test"))  # type: ignore[arg-type]


def cells(record: Record) -> list[int]:
    path = [record.start, *(step.observation for step in record.steps)]
    return [int(text.removeprefix("cell ")) for text in path]


@pytest.mark.parametrize("kind", ["near-miss", "undone", "noisy"])
def test_the_truth_is_the_share_of_the_way_and_no_failure_ends_at_the_goal(
    kind: Failure,
) -> None:
    for seed in range(10):
        record = failed(kind, seed)
        there = cells(record)
        # Four cells lie between the start and the goal.
        assert [step.shaped for step in record.steps] == [
            (cell - 4) / 4 for cell in there[1:]
        ]
        assert there[-1] < 8
        assert record.world["failure"] == kind


def test_a_near_miss_comes_within_one_step_and_no_nearer() -> None:
    for seed in range(10):
        there = cells(failed("near-miss", seed))
        assert there[:4] == [4, 5, 6, 7] and max(there) == 7


@pytest.mark.parametrize(("play_on", "best"), [(True, 8), (False, 7)])
def test_what_is_undone_was_reached(play_on: bool, best: int) -> None:
    for seed in range(10):
        there = cells(failed("undone", seed, play_on, n=12))
        assert max(there) == best and there[-1] < best


def test_the_noisy_agent_follows_about_every_other_step() -> None:
    n_followed = Counter(
        step.is_expert for seed in range(40) for step in failed("noisy", seed).steps
    )
    assert 0.3 < n_followed[True] / n_followed.total() < 0.6


def test_a_world_without_such_a_failure_says_so() -> None:
    # In one step nothing comes near and strays.
    with pytest.raises(Unsuitable, match="no failure of the kind near-miss in 50"):
        failed("near-miss", n=1)


def test_hard_pairs_of_the_blocks_world() -> None:
    domain = find_domain("blocksworld")
    maker = Maker(domain, Recipe(pairs="hard"))
    for index in range(3):
        pair = maker.pair(index)
        assert [one.world["failure"] for one in pair.negatives] == [*HARD]
        assert pair.positive.success == 1
        for record in pair.records:
            truth = [0.0, *(step.shaped for step in record.steps)]
            # Every step leads one action nearer or farther, or the goal still holds.
            n_at_first = int(str(record.world["distance"]))
            changes = [(b - a) * n_at_first for a, b in pairwise(truth)]
            assert all(
                abs(each) == pytest.approx(1) or abs(each) < 1e-9 for each in changes
            )
        for record in pair.negatives:
            assert record.steps[-1].raw == 0
            assert record.steps[-1].shaped < 1
    maker.close()


def test_a_build_of_one_kind_is_played_and_is_not_mixed(tmp_path: Path) -> None:
    order = Order(
        domain=find_domain("blocksworld"),
        recipe=Recipe(pairs="undone"),
        n_tasks=2,
        settings={},
        folder=tmp_path / "blocksworld",
    )
    assert build_domain(order, Serial(), lambda *_: None).pairs == 2
    made = RewardBench(RewardBenchConfig(pairs="hard", share=0.008))
    assert len(made.worlds()) == 2 * 4
    read = RewardBench(RewardBenchConfig(data=tmp_path))
    sides = []
    for seed in range(4):
        read.reset(seed)
        sides.append((read.world().labels["side"], read.world().labels.get("failure")))
    assert Counter(sides) == {("positive", None): 2, ("negative", "undone"): 2}
