"""A counterfactual differs in one thing, is drawn as its environment would draw it, and
calls for other actions.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gde import Choice, Evidence, Plan, evaluate, load_evidence
from gde.data.cell_map import CellMap, Position
from gde.data.observation import State, World
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.testing.episodes import Move, episode_of
from gde_plugins.grid.rendering.layout import render_text
from gde_plugins.probes.causes.counterfactuals import (
    Different,
    counterfactual_of,
    drawn_cells,
)


@pytest.fixture(scope="module", params=["7", "13"])
def walked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Evidence:
    plan = Plan(
        environment=Choice(
            name="grid", config={"size": int(request.param), "density": 0.5}
        ),
        agent=Choice(name="optimal"),
        metrics=(Choice(name="success"),),
        episodes=4,
    )
    folder = tmp_path_factory.mktemp("walked") / "run"
    evaluate(plan, folder)
    return load_evidence(Path(folder))


def turns(evidence: Evidence) -> list[tuple[Trajectory, Turn]]:
    return [(one, turn) for one in evidence.trajectories for turn in one.turns[:2]]


@pytest.mark.parametrize("different", ["goal", "agent", "wall"])
def test_a_counterfactual_is_what_the_environment_would_have_shown(
    walked: Evidence, different: Different
) -> None:
    found = 0
    for one, turn in turns(walked):
        assert turn.state is not None and turn.optimal is not None
        counterfactual = counterfactual_of(
            one, turn, different, np.random.default_rng(0)
        )
        if counterfactual is None:
            continue
        found += 1
        shown = CellMap.from_record(one.world, turn.state)
        rows = [[*str(row)] for row in one.world.facts["rows"]]  # type: ignore[union-attr]
        ends = {"agent": shown.place_of("agent"), "goal": shown.place_of("goal")}
        if different == "wall":
            row, column = counterfactual.there
            rows[row][column] = "_" if rows[row][column] == "#" else "#"
        else:
            assert counterfactual.here == ends[different] != counterfactual.there
            ends[different] = counterfactual.there
        assert counterfactual.text == render_text(
            ["".join(row) for row in rows], ends["agent"], ends["goal"]
        )
        assert counterfactual.best and not counterfactual.best & {*turn.optimal}
    assert found


def test_the_goal_is_moved_no_farther_than_it_must_be(walked: Evidence) -> None:
    moved = [
        counterfactual_of(one, turn, "goal", np.random.default_rng(0))
        for one, turn in turns(walked)
    ]
    far = [
        np.abs(np.subtract(counterfactual.here, counterfactual.there)).sum()
        for counterfactual in moved
        if counterfactual
    ]
    assert min(far) <= 2


@pytest.mark.parametrize("gap", ["", " ", "  "])
def test_cells_are_found_however_far_apart_they_are_drawn(gap: str) -> None:
    symbols = np.array([[*"#A#"], [*"_G_"]])
    text = "Look:\n0 " + gap.join("#A#") + "\n1 " + gap.join("_G_") + " \nEnd."
    places = drawn_cells(text, symbols)
    assert places is not None
    assert all(
        text[places[row, column]] == symbols[row, column]
        for row, column in np.ndindex(2, 3)
    )
    assert drawn_cells(text.replace("G", "*"), symbols) is None


def test_an_observation_without_the_map_is_named(walked: Evidence) -> None:
    one, turn = turns(walked)[0]
    hidden = replace(turn, observation=replace(turn.observation, text="fog"))
    with pytest.raises(
        GdeError,
        match=r"turn 0 of episode 0/0/0: the observation does not show the whole map",
    ):
        counterfactual_of(one, hidden, "goal", np.random.default_rng(0))


RING = (
    "#########",
    "#####_###",
    "#########",
    "#_______#",
    "#_#####_#",
    "#_______#",
    "#########",
)
"""A way round a wall, and a cell to which there is no way."""


def around(agent: Position, goal: Position) -> tuple[Trajectory, Turn]:
    """A turn on the ring."""
    places = {"agent": [*agent], "goal": [*goal]}
    moves = {"UP": [-1, 0], "DOWN": [1, 0], "LEFT": [0, -1], "RIGHT": [0, 1]}
    world = World(id="ring", facts={"rows": [*RING], "moves": moves})
    lines = [[*row] for row in RING]
    lines[agent[0]][agent[1]] = "A"
    lines[goal[0]][goal[1]] = "G"
    text = "\n".join(map("".join, lines))
    move = Move(action="RIGHT", text=text, state=State(facts=places))
    one = episode_of([move], world=world)
    return one, one.turns[0]


def chosen_around(different: Different) -> set[Position]:
    """All counterfactual places that chance may choose on the ring."""
    one, turn = around((5, 4), (3, 5))
    found = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        counterfactual = counterfactual_of(one, turn, different, rng)
        assert counterfactual is not None
        assert counterfactual.best
        found.add(counterfactual.there)
    return found


def test_the_nearest_goal_that_can_be_reached_another_way_is_chosen() -> None:
    """The way to the right is the shortest to the goal; to the cell two to the left of
    it, it is the way to the left. Cells beside the agent are further off, and one cell
    as near cannot be reached.
    """
    assert chosen_around("goal") == {(3, 3)}


def test_walls_are_added_and_removed_at_random_where_they_are_equally_near() -> None:
    # Above the agent the wall is opened, or the way to the right is closed.
    assert chosen_around("wall") == {(4, 4), (5, 5)}
