"""Optimal actions of many grids at once: breadth-first search on bitboards.

A row of a grid is one unsigned integer with one bit per cell. One step of the search
then needs only a few shifts and masks for all cells of all grids. Results equal those
of `gde.numerics.tabular.solve` on each grid, without values.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gde_plugins.grid.solver.dynamics import ACTIONS

Bools = NDArray[np.bool_]
Cells = NDArray[np.intp]
Bits = NDArray[np.unsignedinteger]
CHUNK = 2048
"""Number of grids searched together, which fit in the cache of a core."""


def optimal_actions(walls: Bools, goals: Cells) -> Bools:
    """Return all actions that begin a shortest way to the goal, for every cell of every
    grid.

    Args:
        walls: (B, H, W) True in walls; the border is closed.
        goals: (B, 2) row and column of each goal, on a free cell.

    Returns:
        (B, H, W, A) True for optimal actions, in the order of `dynamics.ACTIONS`.
        Walls, the goal, and cells without a way to the goal have none.

    Raises:
        ValueError: other shapes, an open border, or a goal on a wall.
    """
    _check_walls(walls)
    _check_places("goal", goals, walls)
    stages = _in_chunks(_plain, walls, goals)
    return stages[:, 0]


def key_door_actions(walls: Bools, goals: Cells, keys: Cells, doors: Cells) -> Bools:
    """Return all optimal actions in grids with a key and a door, for each stage of
    `keyed.dynamics`.

    Args:
        walls: (B, H, W) True in walls; the border is closed, the doorways are free.
        goals: (B, 2) row and column of each goal, on a free cell.
        keys: (B, 2) row and column of each key, on another free cell.
        doors: (B, 2) row and column of each door, on a third free cell.

    Returns:
        (B, 3, H, W, A) True for optimal actions, for each stage. Cells in which an
        agent of that stage cannot be have none.

    Raises:
        ValueError: other shapes, an open border, or goal, key and door not on three
        free cells.
    """
    _check_walls(walls)
    _check_places("goal", goals, walls)
    _check_places("key", keys, walls)
    _check_places("door", doors, walls)
    for one, other in combinations([goals, keys, doors], 2):
        shares_cell = (one == other).all(axis=1)
        if shares_cell.any():
            raise ValueError("goal, key and door must be on three cells in every grid")
    return _in_chunks(_key_door, walls, goals, keys, doors)


def _check_walls(walls: Bools) -> None:
    if walls.ndim != 3 or min(walls.shape[1:]) < 3 or walls.shape[2] > 64:
        raise ValueError(
            f"walls must have shape (B, H, W) with H >= 3 and 3 <= W <= 64, got {walls.shape}"
        )

    # Shifts of whole rows would carry the search across an open border.
    top_and_bottom = walls[:, [0, -1]]
    left_and_right = walls[..., [0, -1]]
    if not top_and_bottom.all() or not left_and_right.all():
        raise ValueError("the border of every grid must be closed")


def _check_places(name: str, cells: Cells, walls: Bools) -> None:
    n_grids = len(walls)
    if cells.shape != (n_grids, 2):
        raise ValueError(
            f"one {name} a grid must be given, in shape ({n_grids}, 2), got {cells.shape}"
        )

    is_inside = (cells >= 0) & (cells < walls.shape[1:])
    rows, columns = cells.T
    if not is_inside.all() or walls[np.arange(n_grids), rows, columns].any():
        raise ValueError(f"every {name} must be on a free cell")


def _in_chunks(search: Callable[..., Bits], walls: Bools, *places: Cells) -> Bools:
    """Return the (B, stages, H, W, A) result of `search` on bitboards (H, B) of free
    cells and of each place.
    """
    n_grids, _, width = walls.shape
    results = []
    # max() keeps one empty chunk when there is no grid, so that the result has its
    # shape.
    for start in range(0, max(n_grids, 1), CHUNK):
        stop = start + CHUNK
        chunk = walls[start:stop]
        boards = [_packed(~chunk)]
        for cells in places:
            marked = _marked(cells[start:stop], chunk)
            boards.append(_packed(marked))
        rows = search(*boards)
        results.append(_unpacked(rows, width))
    return np.concatenate(results)


def _marked(cells: Cells, walls: Bools) -> Bools:
    """Return (B, H, W) True in one cell of each grid."""
    marked = np.zeros_like(walls)
    grids = np.arange(len(cells))
    rows, columns = cells.T
    marked[grids, rows, columns] = True
    return marked


def _packed(cells: Bools) -> Bits:
    """Return the rows of (B, H, W) cells as (H, B) integers; column c is bit c."""
    n_grids, height, width = cells.shape

    # The smallest integer type that holds a row makes the search fastest.
    n_bytes = 1
    while 8 * n_bytes < width:
        n_bytes *= 2
    padded = np.zeros((height, n_grids, 8 * n_bytes), dtype=bool)
    padded[..., :width] = cells.transpose(1, 0, 2)

    octets = np.packbits(padded, axis=-1, bitorder="little")
    integers = octets.view(f"<u{n_bytes}")
    return integers[..., 0]


def _unpacked(rows: Bits, width: int) -> Bools:
    """Return (A, stages, H, B) rows as (B, stages, H, W, A) cells."""
    by_grid = rows.transpose(3, 1, 2, 0)
    octets = np.ascontiguousarray(by_grid[..., None]).view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little", count=width)
    actions_last = bits.swapaxes(-1, -2)
    return np.ascontiguousarray(actions_last).view(np.bool_)


def _plain(free: Bits, goals: Bits) -> Bits:
    one_stage = free[None]
    return _search(one_stage, goals, lambda frontier: frontier)


def _key_door(free: Bits, goals: Bits, keys: Bits, doors: Bits) -> Bits:
    """Search as `KeyStates` moves: arriving beside the door with the key opens it,
    arriving at the key takes it.
    """
    beside = _beside(doors)
    without_key = free & ~keys & ~doors
    with_key = free & ~beside & ~doors
    states = np.stack([without_key, with_key, free])

    def arriving(frontier: Bits) -> Bits:
        # The stage changes on arrival: a step out of one stage may end in a state of
        # the next.
        before, taken, opened = frontier
        taken = taken | (opened & beside)
        before = before | (taken & keys)
        return np.stack([before, taken, opened])

    return _search(states, goals, arriving)


def _search(states: Bits, goals: Bits, arriving: Callable[[Bits], Bits]) -> Bits:
    """Return the (A, stages, H, B) cells from which each action leads one step nearer
    to the goal.

    Args:
        states: (stages, H, B) cells that are states. goals: (H, B) cells in which the
        backward search begins, in all stages. arriving: maps the cells that the search
        has just reached to the cells that an agent steps onto to get there.
    """
    optimal = np.zeros((len(ACTIONS), *states.shape), dtype=states.dtype)
    frontier = states & goals
    unseen = states & ~goals
    while frontier.any():
        sources_by_action = _sources(arriving(frontier))
        frontier = np.zeros_like(frontier)
        for action, sources in zip(optimal, sources_by_action, strict=True):
            found = sources & unseen[:, 1:-1]
            action[:, 1:-1] |= found
            frontier[:, 1:-1] |= found

        # Only after all actions: several actions of one cell may be optimal.
        unseen ^= frontier
    return optimal


def _sources(targets: Bits) -> tuple[Bits, Bits, Bits, Bits]:
    """Return (..., H - 2, B) inner cells from which UP, DOWN, LEFT and RIGHT lead to a
    target (..., H, B).
    """
    inner = targets[..., 1:-1, :]
    up = targets[..., :-2, :]
    down = targets[..., 2:, :]
    left = np.left_shift(inner, 1)
    right = np.right_shift(inner, 1)
    return up, down, left, right


def _beside(cells: Bits) -> Bits:
    """Return (H, B) the inner cells above, below, left and right of the given ones."""
    around = np.zeros_like(cells)
    for sources in _sources(cells):
        around[1:-1] |= sources
    return around
