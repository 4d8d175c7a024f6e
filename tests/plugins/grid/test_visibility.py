"""What is seen from a cell, against a ray caster of another make, and the published
example.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde_plugins.grid.conditions.fog import ray, visible
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.generation.transforms import REARRANGE, SWAP, Transform
from gde_plugins.grid.grid import Grid

Mask = NDArray[np.bool_]
few = settings(max_examples=40)
sizes = st.sampled_from([5, 7, 9, 11])
offsets = st.integers(-9, 9)

PICTURE = ("**#####", "**__#_#", "**#_#_#", "**#__A#", "**#####", "*******", "*******")
"""Arghal et al. (2026), fig. 10."""


def grid_of(size: int, density: float, seed: int) -> Grid:
    return generate(size, density, np.random.default_rng(seed))


def free_cells(walls: Mask) -> list[Position]:
    return [(row, column) for row, column in np.argwhere(~walls).tolist()]


def bresenham(start: Position, end: Position) -> Iterator[Position]:
    """The textbook form with an error term (Bresenham 1965), both ends included."""
    (row, column), (down, right) = (
        start,
        (abs(end[0] - start[0]), abs(end[1] - start[1])),
    )
    error = right - down
    while True:
        yield row, column
        if (row, column) == end:
            return
        twice = 2 * error
        if twice >= -down:
            error -= down
            column += 1 if end[1] > start[1] else -1
        if twice <= right:
            error += right
            row += 1 if end[0] > start[0] else -1


def cast(walls: Mask, agent: Position, radius: int) -> Mask:
    """What the textbook's rays show that end on the rim of the square, as far as it is
    in the grid.
    """
    height, width = walls.shape
    near = [
        (row, column)
        for row in range(max(0, agent[0] - radius), min(height, agent[0] + radius + 1))
        for column in range(
            max(0, agent[1] - radius), min(width, agent[1] + radius + 1)
        )
    ]
    rows, columns = [row for row, _ in near], [column for _, column in near]
    rim = [
        cell
        for cell in near
        if cell[0] in {min(rows), max(rows)} or cell[1] in {min(columns), max(columns)}
    ]
    seen = np.zeros(walls.shape, dtype=bool)
    for end in rim:
        for cell in bresenham(agent, end):
            seen[cell] = True
            if walls[cell]:
                break
    return seen


@given(offsets, offsets, offsets, offsets)
def test_a_ray_is_the_line_of_the_textbook(
    row: int, column: int, down: int, right: int
) -> None:
    start, end = (row, column), (row + down, column + right)
    assert [start, *ray(start, end)] == [*bresenham(start, end)]


@given(offsets, offsets)
def test_a_ray_takes_one_cell_a_step_and_stays_beside_the_true_line(
    down: int, right: int
) -> None:
    cells, length = [(0, 0), *ray((0, 0), (down, right))], max(abs(down), abs(right))
    assert len(cells) == length + 1
    for step, (row, column) in enumerate(cells):
        assert abs(row * length - down * step) <= length / 2
        assert abs(column * length - right * step) <= length / 2


@given(offsets, offsets)
def test_rays_turn_and_mirror_with_their_ends(down: int, right: int) -> None:
    cells = [*ray((0, 0), (down, right))]
    assert [*ray((0, 0), (-down, right))] == [(-row, column) for row, column in cells]
    assert [*ray((0, 0), (down, -right))] == [(row, -column) for row, column in cells]
    assert [*ray((0, 0), (right, down))] == [(column, row) for row, column in cells]


def test_a_ray_backwards_may_pass_through_other_cells() -> None:
    assert [*ray((0, 0), (1, 2))] == [(1, 1), (1, 2)]
    assert [*ray((1, 2), (0, 0))] == [(0, 1), (0, 0)]


@few
@given(sizes, st.floats(0, 1), st.integers(0, 2**32), st.integers(1, 6))
def test_what_is_seen_is_what_the_textbooks_rays_show(
    size: int, density: float, seed: int, radius: int
) -> None:
    grid = grid_of(size, density, seed)
    for agent in free_cells(grid.walls):
        assert (
            visible(grid.walls, agent, radius) == cast(grid.walls, agent, radius)
        ).all()


@few
@given(sizes, st.integers(0, 2**32), st.integers(1, 4))
def test_the_square_is_seen_and_nothing_beyond(
    size: int, seed: int, radius: int
) -> None:
    grid = grid_of(size, 0.5, seed)
    row, column = grid.agent
    seen = visible(grid.walls, grid.agent, radius)
    rows, columns = np.nonzero(seen)
    assert (abs(rows - row) <= radius).all()
    assert (abs(columns - column) <= radius).all()
    assert seen[row - 1 : row + 2, column - 1 : column + 2].all()
    empty = np.zeros_like(grid.walls)
    square = (
        slice(max(0, row - radius), row + radius + 1),
        slice(max(0, column - radius), column + radius + 1),
    )
    assert visible(empty, grid.agent, radius)[square].all()


@pytest.mark.parametrize("name", [name for name in REARRANGE if name != SWAP])
@few
@given(sizes, st.integers(0, 2**32), st.integers(1, 4))
def test_what_is_seen_goes_with_the_transforms_of_the_grid(
    name: str, size: int, seed: int, radius: int
) -> None:
    transform, grid = Transform.named(name), grid_of(size, 0.5, seed)
    image = transform.apply(grid)
    seen, of_image = (visible(each.walls, each.agent, radius) for each in (grid, image))
    assert (transform.rearrange(seen) == of_image).all()


def walls_of_the_picture() -> Mask:
    """Hidden cells as walls; rays stop at the walls before them."""
    return np.array([[symbol in "#*" for symbol in row] for row in PICTURE])


def shown() -> Mask:
    return np.array([[symbol != "*" for symbol in row] for row in PICTURE])


def test_the_published_example_shows_what_is_seen_from_three_cells_of_its_corridor() -> (
    None
):
    union = np.zeros((7, 7), dtype=bool)
    for cell in [(3, 3), (1, 5), (3, 5)]:
        union |= visible(walls_of_the_picture(), cell, 3)
    assert (union == shown()).all()


def test_the_published_example_cannot_be_the_sight_from_one_cell_nor_of_one_walk() -> (
    None
):
    walls = walls_of_the_picture()
    sights = {cell: visible(walls, cell, 3) for cell in free_cells(walls)}
    assert not any((seen == shown()).all() for seen in sights.values())
    # Only from (3, 3) is (1, 2) seen and nothing that the picture hides; from there to
    # the agent the way leads over (3, 4), from where (0, 1) comes in sight along a
    # diagonal, on which no form of the algorithm has a choice.
    honest = [
        cell
        for cell, seen in sights.items()
        if seen[1, 2] and not (seen & ~shown()).any()
    ]
    assert honest == [(3, 3)]
    assert sights[3, 4][0, 1]
    assert not shown()[0, 1]
