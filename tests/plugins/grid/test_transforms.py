"""Transforms keep a task as hard as it is: same values, same optimal moves up to their
new names, on every grid.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde.numerics.tabular import solve
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.generation.transforms import REARRANGE, SWAP, Transform
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.dynamics import MOVES, FreeCells, tabulate

PUBLISHED = Path(__file__).parents[3].parent / "shared" / "data" / "telos-grids.jsonl"
OURS = {
    "ReflectEnv": "reflect",
    "RotateEnv": "rotate90",
    "TransposeEnv": "transpose",
    "StartGoalSwap": "swap",
}
ROWS = ("#####", "#__##", "##_##", "#####")
L_SHAPE = Grid(rows=ROWS, agent=(1, 1), goal=(2, 2))
few = settings(max_examples=60)
names = st.lists(st.sampled_from(sorted(REARRANGE)), min_size=1, max_size=3).map(
    "+".join
)
squares = st.builds(
    lambda size, density, seed: generate(size, density, np.random.default_rng(seed)),
    st.sampled_from(range(5, 26, 2)),
    st.floats(0, 1),
    st.integers(0, 2**32),
)


def rectangle(height: int, width: int, seed: int) -> Grid:
    """Random walls; agent and goal anywhere else, connected or not."""
    rng = np.random.default_rng(seed)
    walls = rng.random((height, width)) < 0.3
    walls[[0, -1]] = walls[:, [0, -1]] = True
    walls[1, 1:3] = False
    free = [(int(row), int(column)) for row, column in np.argwhere(~walls)]
    agent, goal = (free[index] for index in rng.choice(len(free), 2, replace=False))
    return Grid(
        rows=tuple("".join("_#"[wall] for wall in row) for row in walls.astype(int)),
        agent=agent,
        goal=goal,
    )


rectangles = st.builds(
    rectangle, st.integers(3, 9), st.integers(4, 12), st.integers(0, 2**32)
)
grids = st.one_of(squares, rectangles)


def shape(grid: Grid) -> tuple[int, int]:
    return len(grid.rows), len(grid.rows[0])


def states(grid: Grid, cells: list[Position]) -> NDArray[np.intp]:
    """State of each of these free cells."""
    place = {
        tuple(position): index
        for index, position in enumerate(FreeCells.of(grid.walls).positions.tolist())
    }
    return np.array([place[cell] for cell in cells])


def actions_of(transform: Transform) -> list[int]:
    """The index of the move that each move becomes."""
    around, moves = transform.places((3, 3)), list(MOVES.values())
    ahead = [around[1 + down, 1 + right] for down, right in moves]
    return [moves.index((row - 1, column - 1)) for row, column in ahead]


@few
@given(grids, names)
def test_optimal_values_and_optimal_actions_map_onto_each_other(
    grid: Grid, name: str
) -> None:
    transform = Transform.named(name)
    counterfactual = transform.apply(grid)
    # The goal that the counterfactual's policy leads to is where the original's start
    # went, if both were exchanged.
    original = (
        Grid(rows=grid.rows, agent=grid.goal, goal=grid.agent)
        if name.count(SWAP) % 2
        else grid
    )
    before, after = solve(tabulate(original)), solve(tabulate(counterfactual))
    places = transform.places(shape(grid))
    cells = [
        (row, column) for row, column in FreeCells.of(grid.walls).positions.tolist()
    ]
    moved = states(counterfactual, [places[cell] for cell in cells])
    assert (after.value[moved] == before.value).all()
    assert (after.optimal[moved][:, actions_of(transform)] == before.optimal).all()


@few
@given(grids, names)
def test_the_shortest_way_is_as_long_as_before(grid: Grid, name: str) -> None:
    counterfactual = Transform.named(name).apply(grid)
    lengths = [
        solve(model).value[model.start.argmax()]
        for model in (tabulate(grid), tabulate(counterfactual))
    ]
    assert lengths[0] == lengths[1]
    assert sorted("".join(counterfactual.rows)) == sorted("".join(grid.rows))


@few
@given(grids, names)
def test_every_move_becomes_the_move_that_its_action_becomes(
    grid: Grid, name: str
) -> None:
    transform = Transform.named(name)
    places, moves = transform.places(shape(grid)), list(MOVES.values())
    assert sorted(actions_of(transform)) == [0, 1, 2, 3]
    for (row, column), (there_row, there_column) in places.items():
        for (down, right), action in zip(moves, actions_of(transform), strict=True):
            ahead = places.get((row + down, column + right))
            assert ahead in {
                None,
                (there_row + moves[action][0], there_column + moves[action][1]),
            }


@few
@given(grids, names)
def test_the_way_back_is_an_affine_map(grid: Grid, name: str) -> None:
    transform = Transform.named(name)
    matrix = np.array(transform.to_base(grid))
    for cell, place in transform.places(shape(grid)).items():
        assert tuple(matrix @ (*place, 1)) == cell


SAME = [
    ("reflect+reflect", "none"),
    ("transpose+transpose", "none"),
    ("swap+swap", "none"),
    ("rotate90+rotate90", "rotate180"),
    ("rotate180+rotate90", "rotate270"),
    ("rotate270+rotate90", "none"),
    ("rotate90+rotate90+rotate90+rotate90", "none"),
    ("rotate90+reflect", "transpose+rotate180"),
    ("reflect+rotate90", "transpose"),
    ("reflect+rotate180", "rotate180+reflect"),
    ("swap+rotate90", "rotate90+swap"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
@settings(max_examples=10)
@given(grid=grids)
def test_laws_of_the_group(grid: Grid, one: str, other: str) -> None:
    assert Transform.named(one).apply(grid) == Transform.named(other).apply(grid)
    assert actions_of(Transform.named(one)) == actions_of(Transform.named(other))


def test_the_eight_symmetries_are_all_different() -> None:
    eight = [
        "none",
        "rotate90",
        "rotate180",
        "rotate270",
        "reflect",
        "transpose",
        "transpose+rotate180",
        "reflect+rotate180",
    ]
    assert len({Transform.named(name).apply(L_SHAPE) for name in eight}) == 8


def test_what_each_transform_is_called() -> None:
    """The lower right cell of an L of three, seen from the corner where its fits
    meet.
    """
    assert L_SHAPE.rows == ("#####", "#__##", "##_##", "#####")
    reflected = Transform.named("reflect").apply(L_SHAPE)
    assert reflected == Grid(
        rows=("#####", "##__#", "##_##", "#####"), agent=(1, 3), goal=(2, 2)
    )
    turned = Transform.named("rotate90").apply(L_SHAPE)
    assert turned == Grid(
        rows=("####", "####", "#__#", "#_##", "####"), agent=(3, 1), goal=(2, 2)
    )
    transposed = Transform.named("transpose").apply(L_SHAPE)
    assert transposed == Grid(
        rows=("####", "#_##", "#__#", "####", "####"), agent=(1, 1), goal=(2, 2)
    )
    assert Transform.named("swap").apply(L_SHAPE) == Grid(
        rows=ROWS, agent=(2, 2), goal=(1, 1)
    )
    assert Transform.named("none").apply(L_SHAPE) == L_SHAPE


def test_what_moves_become() -> None:
    becomes = {
        name: "".join(
            list(MOVES)[action][0] for action in actions_of(Transform.named(name))
        )
        for name in ("none", "reflect", "rotate90", "rotate180", "transpose", "swap")
    }
    assert becomes == {
        "none": "UDLR",
        "reflect": "UDRL",
        "rotate90": "LRDU",
        "rotate180": "DURL",
        "transpose": "LRUD",
        "swap": "UDLR",
    }


@pytest.mark.parametrize(
    "name", ["mirror", "", "reflect+none", "reflect,swap", "none+none", "Reflect"]
)
def test_unknown_names(name: str) -> None:
    wanted = "none, or one or several of reflect, rotate90, rotate180, rotate270, transpose, swap joined by \\+"
    with pytest.raises(ValueError, match=wanted):
        Transform.named(name)


@pytest.mark.skipif(
    not PUBLISHED.is_file(),
    reason="needs the published grids in ../shared/data/telos-grids.jsonl",
)
@pytest.mark.parametrize("theirs", sorted(OURS))
def test_published_grids_go_over_into_their_published_counterfactuals(
    theirs: str,
) -> None:
    records = [
        json.loads(line) for line in PUBLISHED.read_text(encoding="utf-8").splitlines()
    ]
    published = {
        (record["base"], record["transform"]): Grid(
            rows=tuple(record["rows"]),
            agent=tuple(record["agent"]),
            goal=tuple(record["goal"]),
        )
        for record in records
    }
    bases = [base for base, transform in published if transform is None]
    transform = Transform.named(OURS[theirs])
    assert len(bases) == 150
    assert [
        base
        for base in bases
        if transform.apply(published[base, None]) != published[base, theirs]
    ] == []
