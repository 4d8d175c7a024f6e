"""Numbers of an episode in fog, counted by hand."""

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
from gde_plugins.grid.metrics.exploration import exploration

Step = tuple[int, str | None]
"""The cell of a corridor, and the action taken there."""


def state(cell: int, **facts: Any) -> State:
    """Everywhere RIGHT is believed best, UP leads into a known wall and DOWN into a
    known dead end.
    """
    known = {
        "belief_optimal": ["RIGHT"],
        "known_walls": ["UP"],
        "known_dead_ends": ["DOWN"],
    }
    return State(facts={"agent": [1, cell], **known, **facts})


def episode(
    world: int,
    moves: Sequence[Step],
    final: int,
    *,
    ending: Ending = "horizon",
    steps: Sequence[int] = (2, 4),
) -> Trajectory:
    """RIGHT and DOWN are truly optimal."""
    written = [
        Move(action=action, state=state(cell), optimal=("RIGHT", "DOWN"), value=-3.0)
        for cell, action in moves
    ]
    place = World(id=f"world{world}", facts={"explorer_steps": [*steps]})
    return episode_of(
        written,
        world=place,
        index=world,
        ending=ending,
        horizon=9,
        final_state=state(final),
    )


STRAIGHT = episode(
    0, [(1, "RIGHT"), (2, "RIGHT"), (3, "RIGHT")], 4, ending="terminated"
)
WAVERING = episode(
    1,
    [
        (1, "RIGHT"),
        (2, "LEFT"),
        (1, "UP"),
        (1, None),
        (1, "RIGHT"),
        (2, "RIGHT"),
        (3, "LEFT"),
        (2, "DOWN"),
    ],
    9,
)


def numbers(*trajectories: Trajectory) -> dict[str, Measurement]:
    return {
        each.name: each
        for each in exploration(Evidence(trajectories=trajectories, seed=1))
    }


def values(*trajectories: Trajectory) -> dict[str, float | None]:
    return {
        name.removeprefix("exploration."): each.value
        for name, each in numbers(*trajectories).items()
    }


def test_a_straight_way_has_no_fault() -> None:
    assert values(STRAIGHT) == {
        "accuracy": 1.0,
        "informed_accuracy": 1.0,
        "backtracking": 0.0,
        "walls": 0.0,
        "dead_ends": 0.0,
        "ratio": 1.0,
    }


def test_every_fault_is_counted_as_a_share_of_turns() -> None:
    # Of the eight turns two go back without reason; RIGHT onto old ground is what the
    # belief oracle would do.
    assert values(WAVERING) == {
        "accuracy": 3 / 8,
        "informed_accuracy": 4 / 8,
        "backtracking": 2 / 8,
        "walls": 1 / 8,
        "dead_ends": 1 / 8,
        "ratio": None,
    }
    assert (
        numbers(WAVERING)["exploration.ratio"].reason
        == "no episode in fog reached the goal"
    )


def test_worlds_weigh_alike_in_accuracy_and_turns_in_faults() -> None:
    both = numbers(STRAIGHT, WAVERING)
    assert both["exploration.accuracy"].value == pytest.approx((1 + 3 / 8) / 2)
    assert both["exploration.backtracking"].value == pytest.approx(2 / 11)
    assert (
        both["exploration.accuracy"].n,
        both["exploration.walls"].n,
        both["exploration.ratio"].n,
    ) == (2, 11, 1)


def test_the_ratio_is_to_the_mean_of_the_oracles_steps_and_can_fall_below_one() -> None:
    lucky = episode(
        2,
        [(1, "RIGHT"), (2, "RIGHT"), (3, "RIGHT")],
        4,
        ending="terminated",
        steps=(6, 6, 3),
    )
    assert values(lucky)["ratio"] == pytest.approx(3 / 5)


def test_what_a_perturbation_does_to_the_agent_is_no_backtracking() -> None:
    pushed = episode(0, [(1, "RIGHT"), (2, "DOWN"), (1, "LEFT"), (0, "RIGHT")], 1)
    turns = [
        replace(turn, state=state(cell, perturbed=index > 1))
        for index, (turn, cell) in enumerate(
            zip(pushed.turns, (1, 2, 1, 0), strict=True)
        )
    ]
    moved = replace(pushed, turns=tuple(turns), final_state=state(1, perturbed=True))
    assert values(pushed)["backtracking"] == 1 / 4
    assert values(moved)["backtracking"] == 0.0


def test_runs_without_fog_have_no_such_numbers() -> None:
    clear = replace(STRAIGHT, world=World(id="clear"))
    assert exploration(Evidence(trajectories=(clear,))) == []
    assert exploration(Evidence(trajectories=())) == []
    assert values(STRAIGHT, replace(clear, turns=WAVERING.turns)) == values(STRAIGHT)


def test_reasons_instead_of_numbers() -> None:
    failed = replace(STRAIGHT, ending="failed", turns=())
    assert {each.reason for each in numbers(failed).values()} == {
        "no episode was finished"
    }
    blind = replace(
        STRAIGHT, turns=tuple(replace(turn, optimal=None) for turn in STRAIGHT.turns)
    )
    assert {each.reason for each in numbers(blind).values()} == {
        "3 of 3 turns have no certified optimal actions"
    }
    assert len(numbers(failed)) == len(numbers(STRAIGHT)) == 6


def test_a_world_that_names_no_steps_is_named() -> None:
    odd = replace(STRAIGHT, world=World(id="odd", facts={"explorer_steps": 3}))
    with pytest.raises(
        ValueError, match="world odd: wanted explorer_steps as a list of steps, got 3"
    ):
        exploration(Evidence(trajectories=(odd,)))


def test_the_contract() -> None:
    check_metric(lambda: exploration)
