"""Optimal actions of many grids at once: breadth-first search on bitboards.

A row of a grid is one unsigned integer, a bit a cell. One step of the search, for all cells of all grids, is then a
handful of shifts and masks. Results are those of `gde.numerics.tabular.solve` on each grid, without values.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gde_plugins.grid.solver.dynamics import ACTIONS

Bools = NDArray[np.bool_]
Cells = NDArray[np.intp]
Bits = NDArray[np.unsignedinteger]
CHUNK = 2048
"""Grids searched together: as many as stay in a core's cache."""


def optimal_actions(walls: Bools, goals: Cells) -> Bools:
    """All actions that begin a shortest way to the goal, for every cell of every grid.

    Args:
        walls: (B, H, W) True where a wall is; the border is closed.
        goals: (B, 2) row and column of each goal, on a free cell.

    Returns:
        (B, H, W, A) True for optimal actions, in the order of `dynamics.ACTIONS`; none in walls, in the goal, and where
        there is no way to it.

    Raises:
        ValueError: other shapes, an open border, or a goal on a wall.
    """
    _check(walls, goal=goals)
    return _in_chunks(_plain, walls, goals)[:, 0]


def key_door_actions(walls: Bools, goals: Cells, keys: Cells, doors: Cells) -> Bools:
    """The same with a key and a door, in each stage of `gde_plugins.grid.keyed.dynamics`.

    Args:
        walls: (B, H, W) True where a wall is; the border is closed, the doorways are free.
        goals: (B, 2) row and column of each goal, on a free cell.
        keys: (B, 2) of each key, on another free cell.
        doors: (B, 2) of each door, on a third.

    Returns:
        (B, 3, H, W, A) True for optimal actions, for each stage; none where an agent cannot be in that stage.

    Raises:
        ValueError: other shapes, an open border, or goal, key and door not on three free cells.
    """
    _check(walls, goal=goals, key=keys, door=doors)
    if any((one == other).all(axis=1).any() for one, other in ((goals, keys), (goals, doors), (keys, doors))):
        raise ValueError("goal, key and door must be on three cells in every grid")
    return _in_chunks(_key_door, walls, goals, keys, doors)


def _plain(free: Bits, goals: Bits) -> Bits:
    return _search(free[None], goals, lambda frontier: frontier)


def _key_door(free: Bits, goals: Bits, keys: Bits, doors: Bits) -> Bits:
    """As `KeyStates`: an agent arriving beside the door with the key has it open, one arriving at the key has it."""
    beside = _beside(doors)
    states = np.stack([free & ~keys & ~doors, free & ~beside & ~doors, free])

    def arriving(frontier: Bits) -> Bits:
        """(3, H, B) cells in which an agent that comes from a stage finds itself in a state of the frontier."""
        before, taken, opened = frontier
        taken = taken | (opened & beside)
        return np.stack([before | (taken & keys), taken, opened])

    return _search(states, goals, arriving)


def _search(states: Bits, goals: Bits, arriving: Callable[[Bits], Bits]) -> Bits:
    """(A, stages, H, B) cells from which each action leads one step nearer to the goal.

    Args:
        states: (stages, H, B) cells that are states.
        goals: (H, B) where the search begins, backwards, in all stages.
        arriving: from the cells just reached by the search to those that an agent can step onto to get there.
    """
    optimal = np.zeros((len(ACTIONS), *states.shape), dtype=states.dtype)
    frontier = states & goals
    unseen = states & ~goals
    while frontier.any():
        targets = arriving(frontier)
        frontier = np.zeros_like(frontier)
        for action, sources in zip(optimal, _sources(targets), strict=True):
            found = sources & unseen[:, 1:-1]
            action[:, 1:-1] |= found
            frontier[:, 1:-1] |= found
        unseen ^= frontier
    return optimal


def _sources(targets: Bits) -> tuple[Bits, Bits, Bits, Bits]:
    """(..., H - 2, B) inner cells from which UP, DOWN, LEFT and RIGHT lead to one of the targets (..., H, B)."""
    inner = targets[..., 1:-1, :]
    return targets[..., :-2, :], targets[..., 2:, :], np.left_shift(inner, 1), np.right_shift(inner, 1)


def _beside(cells: Bits) -> Bits:
    """(H, B) the inner cells above, below, left and right of the given ones."""
    around = np.zeros_like(cells)
    around[1:-1] = np.bitwise_or.reduce(_sources(cells))
    return around


def _in_chunks(search: Callable[..., Bits], walls: Bools, *places: Cells) -> Bools:
    """(B, stages, H, W, A) what `search` finds, given bitboards (H, B) of free cells and of each place."""
    n_grids, height, width = walls.shape
    found = []
    # Of no grids there is one part, which is empty.
    for start in range(0, max(n_grids, 1), CHUNK):
        part = slice(start, start + CHUNK)
        boards = [_packed(~walls[part]), *(_packed(_marked(cells[part], height, width)) for cells in places)]
        found.append(_unpacked(search(*boards), width))
    return np.concatenate(found)


def _marked(cells: Cells, height: int, width: int) -> Bools:
    """(B, H, W) True in one cell of each grid."""
    marked = np.zeros((len(cells), height, width), dtype=bool)
    marked[np.arange(len(cells)), cells[:, 0], cells[:, 1]] = True
    return marked


def _packed(cells: Bools) -> Bits:
    """(H, B) rows of (B, H, W) as integers; column c is bit c."""
    n_grids, height, width = cells.shape
    n_bytes = next(size for size in (1, 2, 4, 8) if width <= 8 * size)
    padded = np.zeros((height, n_grids, 8 * n_bytes), dtype=bool)
    padded[..., :width] = cells.transpose(1, 0, 2)
    return np.packbits(padded, axis=-1, bitorder="little").view(f"<u{n_bytes}")[..., 0]


def _unpacked(rows: Bits, width: int) -> Bools:
    """(B, stages, H, W, A) cells of (A, stages, H, B) rows."""
    octets = np.ascontiguousarray(rows.transpose(3, 1, 2, 0)[..., None]).view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little", count=width)
    return np.ascontiguousarray(bits.swapaxes(-1, -2)).view(np.bool_)


def _check(walls: Bools, **places: Cells) -> None:
    if walls.ndim != 3 or min(walls.shape[1:]) < 3 or walls.shape[2] > 64:
        raise ValueError(f"walls must have shape (B, H, W) with H >= 3 and 3 <= W <= 64, got {walls.shape}")
    if not (walls[:, [0, -1]].all() and walls[..., [0, -1]].all()):
        raise ValueError("the border of every grid must be closed")
    for name, cells in places.items():
        if cells.shape != (len(walls), 2):
            raise ValueError(f"one {name} a grid must be given, in shape ({len(walls)}, 2), got {cells.shape}")
        inside = ((cells >= 0) & (cells < walls.shape[1:])).all()
        if not inside or walls[np.arange(len(walls)), cells[:, 0], cells[:, 1]].any():
            raise ValueError(f"every {name} must be on a free cell")
