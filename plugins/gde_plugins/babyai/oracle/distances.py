"""Costs of walking from every walking state, by Dijkstra's algorithm.

A walking state is 4 * cell + direction. A turn costs 1; a step costs what the cell that
it enters does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from gde.data.arrays import Doubles
from gde_plugins.babyai.worlds.scene import WALL, Door, Scene

FAR = 10**6
"""More than any number of actions: unreachable."""
Table = list[int]
"""Cost from each walking state."""
Legs = tuple[tuple[int, Table], ...]


def facing(scene: Scene, cell: int) -> Iterator[int]:
    """Yield the walking states that face a cell."""
    for direction, step in enumerate(scene.steps):
        behind = cell - step
        if 0 <= behind < len(scene.cells) and scene.cells[behind] != WALL:
            yield 4 * behind + direction


@dataclass(frozen=True, eq=False)
class _Steps:
    """The moves between the walking states of a scene, backward, in rows as CSR has
    them.
    """

    first: NDArray[np.int32]
    """(4 cells + 1,) the place of the first move from each state."""
    earlier: NDArray[np.int32]
    """(moves,) the state that a move comes from."""
    entered: NDArray[np.int32]
    """(moves,) the cell that a step enters; the number of cells for a turn."""


@lru_cache(maxsize=16)
def _steps(width: int, cells: tuple[int, ...]) -> _Steps:
    first = [0]
    earlier: list[int] = []
    entered: list[int] = []
    steps = (1, width, -1, -width)
    for cell, content in enumerate(cells):
        for direction, step in enumerate(steps):
            if content != WALL:
                earlier += [4 * cell + (direction + turn) % 4 for turn in (1, 3)]
                entered += [len(cells)] * 2
                if cells[cell - step] != WALL:
                    earlier.append(4 * (cell - step) + direction)
                    entered.append(cell)
            first.append(len(earlier))
    return _Steps(
        *(np.array(each, dtype=np.int32) for each in (first, earlier, entered))
    )


def costs_to(scene: Scene, ends: Mapping[int, int], entering: Sequence[int]) -> Table:
    """Return the cost from each walking state to the nearest end.

    Args:
        scene: the walls.
        ends: walking states, each with the cost of ending there.
        entering: the cost of entering each cell.
    """
    moves = _steps(scene.width, scene.cells)
    n_states = len(moves.first) - 1

    # All ends follow one more state. Costs of 0 would be no moves to SciPy.
    begin = np.fromiter(ends, dtype=np.int32, count=len(ends))
    least = np.fromiter(ends.values(), dtype=np.float64, count=len(ends)) + 1
    costs = _costs(moves, entering)
    graph = csr_array(
        (
            np.concatenate([costs, least]),
            np.concatenate([moves.earlier, begin]),
            np.append(moves.first, len(costs) + len(ends)),
        ),
        shape=(n_states + 1, n_states + 1),
    )
    table: Table = _whole(dijkstra(graph, indices=n_states)[:-1] - 1)
    return table


def _costs(moves: _Steps, entering: Sequence[int]) -> Doubles:
    """Return the cost of each move."""
    turn = 1
    costs: Doubles = np.array([*entering, turn], dtype=np.float64)
    return costs[moves.entered]


def _whole(found: Doubles) -> Any:
    """Return costs as whole numbers, which Python reads faster from lists."""
    return np.minimum(found, FAR).astype(np.int64).tolist()


class Distances:
    """Numbers of actions that ignore things in the way: lower bounds, kept for a scene.

    Only walls stop the agent. A door that is not open costs one action more, its
    toggle, with or without the key.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._views: dict[tuple[int, ...], View] = {}
        doors = (Door.OPEN if state >= 0 else -1 for state in scene.doors)
        self._all_open = View(scene, tuple(doors))

    def under(self, doors: tuple[int, ...]) -> "View":
        """Return the distances with doors as they are, one of `Door` for each."""
        if doors not in self._views:
            self._views[doors] = View(self._scene, doors, self._all_open)
        return self._views[doors]


class View:
    """The distances of a scene with its doors in one state."""

    def __init__(
        self, scene: Scene, doors: tuple[int, ...], all_open: "View | None" = None
    ) -> None:
        self._scene = scene
        self._all_open = all_open or self
        self._faced: dict[int, Table] = {}
        self._beside: dict[int, Table] = {}
        self._legs: dict[int, Legs] = {}

        entering = []
        for content in scene.cells:
            is_shut = content >= 0 and doors[content] > Door.OPEN
            entering.append(2 if is_shut else 1)
        moves = _steps(scene.width, scene.cells)
        arrays = (_costs(moves, entering), moves.earlier, moves.first)
        n_states = len(moves.first) - 1
        self._graph = csr_array(arrays, shape=(n_states, n_states))

    def to_face(self, cell: int) -> Table:
        """Return the actions until the agent faces a cell."""
        if cell not in self._faced:
            self._faced[cell] = self._to_nearest([*facing(self._scene, cell)])
        return self._faced[cell]

    def to_put_beside(self, cell: int) -> Table:
        """Return the actions until the agent faces a free cell beside a cell."""
        if cell not in self._beside:
            ends: list[int] = []
            for step in self._scene.steps:
                content = self._scene.cells[cell + step]
                # Nothing can be dropped in a doorway, even if the door is open.
                is_door = content >= 0 and self._scene.doors[content] >= 0
                if content != WALL and not is_door:
                    ends += facing(self._scene, cell + step)
            self._beside[cell] = self._to_nearest(ends)
        return self._beside[cell]

    def _to_nearest(self, ends: Sequence[int]) -> Table:
        """Return the actions to the nearest of some walking states."""
        # A thing between walls is faced from nowhere.
        if not ends:
            return [FAR] * (4 * len(self._scene.cells))
        table: Table = _whole(dijkstra(self._graph, indices=ends, min_only=True))
        return table

    def by_way_of(self, state: int, first: int, end: int, beside: bool = False) -> int:
        """Return the actions until the agent has faced `first` and then faces `end`.

        Optionally the end is a free cell beside `end`.
        """
        # A door that is passed on both legs is opened once, so on the second leg all
        # count as open.
        others = self._all_open
        second_leg = others.to_put_beside(end) if beside else others.to_face(end)
        least = FAR
        for turn, first_leg in self._to_legs(first):
            total = first_leg[state] + second_leg[turn]
            least = min(least, total)
        return least

    def _to_legs(self, cell: int) -> "Legs":
        """The walking states that face a cell, each with the actions to it."""
        if cell not in self._legs:
            ends = [*facing(self._scene, cell)]
            found = _whole(dijkstra(self._graph, indices=ends)) if ends else []
            self._legs[cell] = tuple(zip(ends, found, strict=True))
        return self._legs[cell]
