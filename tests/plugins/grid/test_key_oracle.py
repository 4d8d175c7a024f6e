"""The model of key worlds against rules written down a second time and searched by
brute force.
"""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from gde.numerics.tabular import solve
from gde.seeding import generator
from gde_plugins.grid.keyed.dynamics import KeyStates, tabulate
from gde_plugins.grid.keyed.scene import Scene, draw_rooms, draw_two_paths
from gde_plugins.grid.solver.dynamics import ACTIONS

STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
Cell = tuple[int, int]
State = tuple[Cell, bool, bool]
"""Position, whether the object is taken, whether the door is open."""


def after(scene: Scene, state: State, action: str) -> State:
    """The published rules, one by one."""
    (row, column), taken, opened = state
    ahead = (row + STEPS[action][0], column + STEPS[action][1])
    shut = ahead == scene.door and not opened
    here = (row, column) if scene.rows[ahead[0]][ahead[1]] == "#" or shut else ahead
    taken = taken or (scene.artefact != "none" and here == scene.place)
    if (
        scene.door is not None
        and taken
        and abs(here[0] - scene.door[0]) + abs(here[1] - scene.door[1]) == 1
    ):
        opened = True
    return here, taken, opened


def searched(scene: Scene) -> dict[State, tuple[int, set[str]]]:
    """Fewest steps to the goal and the optimal actions, of every state that can be
    reached.
    """
    start = (scene.agent, False, False)
    links: dict[State, dict[str, State]] = {}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        if state in links:
            continue
        links[state] = {action: after(scene, state, action) for action in STEPS}
        if state[0] != scene.goal:
            waiting.extend(links[state].values())
    steps = {state: 0 for state in links if state[0] == scene.goal}
    for _ in range(len(links)):
        nearer = {
            state: min(steps[each] for each in ways.values() if each in steps) + 1
            for state, ways in links.items()
            if state not in steps and any(each in steps for each in ways.values())
        }
        if not nearer:
            break
        # All found in one round are equally far: the search goes back from the goal
        # layer by layer.
        steps.update(nearer)
    best = {
        state: {
            action
            for action, each in ways.items()
            if steps.get(each) == steps[state] - 1
        }
        for state, ways in links.items()
        if state[0] != scene.goal
    }
    return {state: (steps[state], best.get(state, set())) for state in links}


def certified(scene: Scene) -> dict[State, tuple[int, set[str]]]:
    """The same for every state of the model, reachable or not."""
    states = KeyStates.of(scene)
    solution = solve(tabulate(scene, states))
    rows = zip(
        states.positions.tolist(),
        states.stages,
        solution.value,
        solution.optimal,
        strict=True,
    )
    return {
        (tuple(cell), bool(stage >= 1), bool(stage >= 2)): (
            -int(value),
            {action for action, good in zip(ACTIONS, optimal, strict=True) if good},
        )
        for cell, stage, value, optimal in rows
    }


SCENES = [
    *(draw_rooms(2, generator(seed, "oracle")) for seed in range(25)),
    *(draw_rooms(3, generator(seed, "oracle")) for seed in range(8)),
    *(
        replace(draw_rooms(2, generator(seed, "oracle")), door=None, artefact="coin")
        for seed in range(6)
    ),
    *(
        replace(draw_rooms(2, generator(seed, "oracle")), door=None, artefact="none")
        for seed in range(3)
    ),
    *(draw_two_paths(11, generator(seed, "oracle")) for seed in range(9)),
]


@pytest.mark.parametrize("scene", SCENES, ids=range(len(SCENES)))
def test_the_model_agrees_with_brute_force_in_every_state_that_can_be_reached(
    scene: Scene,
) -> None:
    model, truth = certified(scene), searched(scene)
    assert {state: model[state] for state in truth} == truth


@pytest.mark.parametrize("scene", SCENES[:25], ids=range(25))
def test_the_published_rule_by_stages_agrees_with_the_exact_model(scene: Scene) -> None:
    """Towards the key as if it were the goal; with it, towards the goal as if there
    were no door.
    """
    to_key = searched(
        replace(
            scene, rows=scene.closed_rows, goal=scene.place, door=None, artefact="none"
        )
    )
    to_goal = searched(replace(scene, door=None, artefact="none"))
    for (cell, taken, _), (steps, best) in searched(scene).items():
        if steps:
            assert best == (to_goal if taken else to_key)[cell, False, False][1]


@pytest.mark.parametrize("scene", SCENES, ids=range(len(SCENES)))
def test_states_that_cannot_be_reached_break_nothing(scene: Scene) -> None:
    states = KeyStates.of(scene)
    model = tabulate(scene, states)
    solution = solve(model)
    assert scene.door is None or model.n_states > len(searched(scene))
    assert np.isfinite(
        solution.value
    ).all()  # in connected rooms something can be done everywhere
    assert (solution.optimal.any(axis=1) == ~states.goals).all()
    assert (states.successors >= 0).all()


def test_labels() -> None:
    scene = draw_rooms(2, generator(0, "labels"))
    states = KeyStates.of(scene)
    labels = tabulate(scene, states).labels
    assert set(labels) == {"row", "column", "goal", "wall", "key", "carrying", "door"}
    for index, (cell, stage) in enumerate(
        zip(map(tuple, states.positions.tolist()), states.stages, strict=True)
    ):
        rows = scene.rows if stage == 2 else scene.closed_rows
        walls = sum(
            rows[cell[0] + down][cell[1] + right] == "#"
            for down, right in STEPS.values()
        )
        seen = {name: values[index] for name, values in labels.items()}
        assert seen == {
            "row": cell[0],
            "column": cell[1],
            "goal": cell == scene.goal,
            "wall": walls,
            "key": cell == scene.place,
            "carrying": stage >= 1,
            "door": cell == scene.door,
        }
    bare = replace(scene, door=None, artefact="none")
    assert "key" not in tabulate(bare, KeyStates.of(bare)).labels
