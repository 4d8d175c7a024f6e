"""Many grids solved at once, against the oracle that solves one after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gde.numerics.tabular import solve
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.keyed import dynamics
from gde_plugins.grid.keyed.dynamics import KeyStates
from gde_plugins.grid.keyed.rooms import draw_rooms
from gde_plugins.grid.keyed.scene import Scene, cell, rows_of
from gde_plugins.grid.solver.batch import key_door_actions, optimal_actions
from gde_plugins.grid.solver.dynamics import ACTIONS, tabulate


@pytest.mark.parametrize("size", [5, 7, 9, 15, 17, 25])
def test_batch_of_plain_grids(size: int) -> None:
    rng = np.random.default_rng(size)
    grids = [
        generate(size, density, rng)
        for density in (0.0, 0.3, 0.6, 1.0)
        for _ in range(5)
    ]
    walls = np.array([grid.walls for grid in grids])
    found = optimal_actions(walls, np.array([grid.goal for grid in grids]))
    assert found.shape == (len(grids), size, size, 4)
    for grid, of_grid in zip(grids, found, strict=True):
        assert (of_grid[~grid.walls] == solve(tabulate(grid)).optimal).all()
        assert not of_grid[grid.walls].any()


@settings(max_examples=40)
@given(st.integers(3, 30), st.integers(3, 64), st.floats(0, 0.6), st.integers(0, 2**32))
def test_batch_of_any_walls(height: int, width: int, share: float, seed: int) -> None:
    """Rectangular, in several parts, as wide as the widest integer."""
    rng = np.random.default_rng(seed)
    walls = np.pad(
        rng.random((2, height - 2, width - 2)) < share,
        ((0, 0), (1, 1), (1, 1)),
        constant_values=True,
    )
    walls[:, 1, 1] = False
    goals = np.array([rng.choice(np.argwhere(~each)) for each in walls])
    for grid_walls, goal, found in zip(
        walls, goals, optimal_actions(walls, goals), strict=True
    ):
        grid = Grid(rows=rows_of(grid_walls), agent=(1, 1), goal=cell(goal))
        assert (found[~grid_walls] == solve(tabulate(grid)).optimal).all()
        assert not found[grid_walls].any()


def test_batch_where_the_goal_is_out_of_reach() -> None:
    walls = Grid(
        rows=("#####", "#_#_#", "#_#_#", "#####"), agent=(1, 1), goal=(2, 3)
    ).walls
    found = optimal_actions(walls[None], np.array([[2, 3]]))[0]
    assert {(int(r), int(c), ACTIONS[a]) for r, c, a in np.argwhere(found)} == {
        (1, 3, "DOWN")
    }


def test_batch_of_more_grids_than_are_searched_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grids = [generate(7, 0.5, np.random.default_rng(seed)) for seed in range(10)]
    walls, goals = (
        np.array([grid.walls for grid in grids]),
        np.array([grid.goal for grid in grids]),
    )
    together = optimal_actions(walls, goals)
    monkeypatch.setattr("gde_plugins.grid.solver.batch.CHUNK", 3)
    assert (optimal_actions(walls, goals) == together).all()


def test_batch_of_no_grids() -> None:
    walls, places = np.zeros((0, 7, 9), dtype=bool), np.zeros((0, 2), dtype=np.intp)
    plain, doors = (
        optimal_actions(walls, places),
        key_door_actions(walls, places, places, places),
    )
    assert (plain.shape, doors.shape) == ((0, 7, 9, 4), (0, 3, 7, 9, 4))
    assert plain.dtype == doors.dtype == np.bool_


def doored(grid: Grid, rng: np.random.Generator) -> Scene:
    """Key and door on any two free cells, wherever that leads to."""
    key, door, agent, goal = map(cell, rng.permutation(np.argwhere(~grid.walls))[:4])
    return Scene(
        layout="any", rows=grid.rows, agent=agent, goal=goal, place=key, door=door
    )


@pytest.mark.parametrize("size", [5, 9, 15])
def test_batch_with_key_and_door(size: int) -> None:
    rng = np.random.default_rng(size)
    scenes = [doored(generate(size, rng.uniform(), rng), rng) for _ in range(20)]
    scenes += [draw_rooms(2, rng) for _ in range(10)] if size == 9 else []
    walls: NDArray[np.bool_] = np.array([scene.walls for scene in scenes])
    places = [
        np.array([getattr(scene, name) for scene in scenes])
        for name in ("goal", "place", "door")
    ]
    found = key_door_actions(walls, *places)
    assert found.shape == (len(scenes), 3, size, size, 4)
    for scene, of_scene in zip(scenes, found, strict=True):
        states = KeyStates.of(scene)
        rows, columns = states.positions.T
        optimal = solve(dynamics.tabulate(scene, states)).optimal
        assert (of_scene[states.stages, rows, columns] == optimal).all()
        assert of_scene.sum() == optimal.sum()


BOX = np.pad(
    np.zeros((1, 3, 3), dtype=bool), ((0, 0), (1, 1), (1, 1)), constant_values=True
)
ONE, TWO, WALL, OUTSIDE = (
    np.array([cell]) for cell in ((1, 1), (2, 2), (0, 0), (-1, 9))
)


@pytest.mark.parametrize(
    ("walls", "places", "message"),
    [
        (BOX[0], (ONE,), r"walls must have shape \(B, H, W\)"),
        (~BOX, (ONE,), "the border of every grid must be closed"),
        (BOX, (WALL,), "every goal must be on a free cell"),
        (BOX, (OUTSIDE,), "every goal must be on a free cell"),
        (
            BOX,
            (ONE[0],),
            r"one goal a grid must be given, in shape \(1, 2\), got \(2,\)",
        ),
        (BOX, (ONE, TWO, TWO), "goal, key and door must be on three cells"),
        (BOX, (ONE, TWO, WALL), "every door must be on a free cell"),
    ],
)
def test_batches_that_are_refused(
    walls: NDArray[np.bool_], places: tuple[NDArray[np.intp], ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        optimal_actions(walls, *places) if len(places) == 1 else key_door_actions(
            walls, *places
        )
