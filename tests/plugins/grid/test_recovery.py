"""Numbers of an episode with a perturbation, counted by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gde.data.evidence import Evidence
from gde.data.observation import State, World
from gde.data.result import Measurement
from gde.data.trajectory import Ending, Trajectory
from gde.testing import check_metric
from gde.testing.episodes import Move, episode_of
from gde_plugins.grid.metrics.recovery import recovery


def episode(
    actions: str,
    after: int,
    *,
    needed: int = 2,
    world: int = 0,
    ending: Ending = "terminated",
    **facts: Any,
) -> Trajectory:
    """R is optimal, any other action is not; from turn `after` on the world is
    perturbed and needs `needed` steps.
    """
    moves = [
        Move(
            action=action,
            state=State(
                facts={"perturbed": index >= after, **(facts if index >= after else {})}
            ),
            optimal=("R",),
            value=-float(needed),
        )
        for index, action in enumerate(actions)
    ]
    place = World(id=f"world{world}", facts={"perturbation": "put_back"})
    return episode_of(moves, world=place, index=world, ending=ending, horizon=9)


def numbers(*trajectories: Trajectory) -> dict[str, Measurement]:
    return {
        each.name.removeprefix("recovery."): each
        for each in recovery(Evidence(trajectories=trajectories, seed=1))
    }


def values(*trajectories: Trajectory) -> dict[str, float | None]:
    return {name: each.value for name, each in numbers(*trajectories).items()}


PROMPT = episode("RLRR", 2)
SLOW = episode("RRLLRLRR", 2, needed=3, world=1)
LOST = episode("RLL", 1, world=2, ending="horizon")
EARLY = episode("RR", 9, world=3)


def test_an_episode_by_hand() -> None:
    assert values(PROMPT) == {
        "happened": 1.0,
        "success": 1.0,
        "accuracy_before": 0.5,
        "accuracy_after": 1.0,
        "never": 0.0,
        "delay": 0.0,
        "excess": 0.0,
    }
    slow = values(SLOW)
    assert (slow["delay"], slow["excess"], slow["accuracy_after"]) == (2.0, 3.0, 0.5)


def test_the_numbers_are_about_the_episodes_that_were_perturbed() -> None:
    found = values(PROMPT, SLOW, LOST, EARLY)
    assert found["happened"] == 3 / 4
    assert found["success"] == pytest.approx(2 / 3)
    assert found["never"] == pytest.approx(1 / 3)
    assert found["accuracy_before"] == pytest.approx((1 + 2 + 1) / (2 + 2 + 1))
    assert found["accuracy_after"] == pytest.approx((2 + 3 + 0) / (2 + 6 + 2))
    assert found["delay"] == pytest.approx((0 + 2) / 2)
    assert found["excess"] == pytest.approx((0 + 3) / 2)
    assert {
        name: each.n for name, each in numbers(PROMPT, SLOW, LOST, EARLY).items()
    } == {
        "happened": 4,
        "success": 3,
        "accuracy_before": 5,
        "accuracy_after": 10,
        "never": 3,
        "delay": 2,
        "excess": 2,
    }


def test_the_excess_is_beyond_what_the_first_turn_after_it_needed() -> None:
    first = episode("RRR", 1, needed=2)
    turns = (first.turns[0], first.turns[1], replace(first.turns[2], value=-9.0))
    assert values(replace(first, turns=turns))["excess"] == 0.0
    blind = tuple(replace(turn, value=None) for turn in first.turns)
    assert values(replace(first, turns=blind))["excess"] == 2.0


def test_an_uncertified_turn_refuses_every_number() -> None:
    first = episode("RR", 1)
    unsure = replace(
        first, turns=(first.turns[0], replace(first.turns[1], optimal=None))
    )
    found = numbers(unsure, SLOW)
    assert {one.value for one in found.values()} == {None}
    reasons = {one.reason for one in found.values()}
    assert reasons == {"1 of 10 turns have no certified optimal actions"}


def test_non_optimal_actions_towards_a_distractor() -> None:
    drawn = episode("RLULR", 1, toward_distractor=["L", "R"])
    assert values(drawn)["toward_distractor"] == pytest.approx(2 / 3)
    assert numbers(drawn)["toward_distractor"].n == 3
    steady = numbers(episode("RRR", 1, toward_distractor=["L"]))["toward_distractor"]
    assert (
        steady.reason == "no action after a distractor appeared was other than optimal"
    )


def test_reasons_instead_of_numbers() -> None:
    never = numbers(EARLY)
    assert never["happened"].value == 0.0
    for name in ("success", "accuracy_after", "never"):
        assert never[name].reason == "the perturbation happened in no finished episode"
    lost = numbers(episode("LL", 0, ending="horizon"))
    assert lost["accuracy_before"].reason == "no decision came before a perturbation"
    assert lost["delay"].reason == "no optimal action followed a perturbation"
    assert lost["excess"].reason == "no episode reached the goal after a perturbation"
    failed = replace(PROMPT, ending="failed", turns=())
    assert {each.reason for each in numbers(failed).values()} == {
        "no episode was finished"
    }
    assert values(failed, SLOW) == values(SLOW)


def test_runs_without_perturbations_have_no_such_numbers() -> None:
    calm = replace(PROMPT, world=World(id="calm"))
    assert not recovery(Evidence(trajectories=(calm,)))
    assert values(calm, SLOW) == values(SLOW)


def test_intervals_are_over_clusters_of_worlds() -> None:
    def spread(bases: Sequence[str]) -> tuple[float, float] | None:
        worlds = [
            replace(one, world=replace(one.world, base=base))
            for one, base in zip(cases, bases, strict=True)
        ]
        return numbers(*worlds)["success"].interval

    cases = [PROMPT, SLOW, LOST] * 2
    cases = [replace(one, key=replace(one.key, world=i)) for i, one in enumerate(cases)]
    assert spread(["a", "a", "a", "b", "b", "b"]) is None
    assert spread(["a", "b", "c", "d", "e", "f"]) is not None


def test_the_contract() -> None:
    check_metric(lambda: recovery)
