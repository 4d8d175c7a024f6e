"""The reasoning that nano learns: a depth-first search from the agent to the goal,
written down cell by cell.

The search goes to the new neighbour of least Manhattan distance to the goal. Where
there is none, it goes back to the cell it came from. It needs to know only the
surroundings of a cell, so a small model can learn it. On a perfect maze its last
departure from the start is the optimal move, and on other grids it often is.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde.seeding import pick

MOVES: dict[str, tuple[int, int]] = {
    "UP": (-1, 0),
    "DOWN": (1, 0),
    "LEFT": (0, -1),
    "RIGHT": (0, 1),
}
WALL, SEEN, NEW = range(3)
NO_PARENT = len(MOVES)
P_SHORTEST = 0.15
"""Probability that the search takes a shortest path on, so that traces differ and
foresight pays.
"""

Walls = NDArray[np.bool_]
Distances = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class CellNotes:
    """The surroundings of a traced cell, a target of an auxiliary loss."""

    around: tuple[int, ...]
    """WALL, SEEN (earlier in this trace) or NEW in each direction, in the order of
    MOVES.
    """
    parent: int
    """Direction of the cell from which this one was first entered; NO_PARENT at the
    start.
    """


def neighbours(position: Position) -> list[Position]:
    """Return the four cells around, in the order of MOVES."""
    row, column = position
    return [(row + down, column + right) for down, right in MOVES.values()]


def distances(walls: Walls, goal: Position) -> Distances:
    """(size, size) steps to the goal by the shortest path; -1 without one.

    The outer cells must be walls.
    """
    steps = np.full(walls.shape, -1)
    steps[goal] = 0
    waiting = deque([goal])
    while waiting:
        position = waiting.popleft()
        for cell in neighbours(position):
            if not walls[cell] and steps[cell] < 0:
                steps[cell] = steps[position] + 1
                waiting.append(cell)
    return steps


def search(
    walls: Walls,
    start: Position,
    goal: Position,
    steps: Distances,
    rng: np.random.Generator,
    *,
    longest: int,
) -> list[Position]:
    """Return the cells of a search in order, at most `longest`.

    `steps` are the `distances` to the goal.
    """
    way = [start]
    seen = {start}
    trace = [start]
    while way[-1] != goal and len(trace) < longest:
        ahead = [
            cell for cell in neighbours(way[-1]) if not walls[cell] and cell not in seen
        ]
        if ahead:
            way.append(_nearest(ahead, goal, steps, rng))
            seen.add(way[-1])
        else:
            way.pop()
        trace.append(way[-1])
    return trace


def _nearest(
    ahead: list[Position], goal: Position, steps: Distances, rng: np.random.Generator
) -> Position:
    shortest_first = rng.random() < P_SHORTEST

    def order(cell: Position) -> tuple[int, int, float]:
        crow = abs(cell[0] - goal[0]) + abs(cell[1] - goal[1])
        truth = int(steps[cell])
        first, second = (truth, crow) if shortest_first else (crow, truth)
        return first, second, rng.random()

    return min(ahead, key=order)


def optimal_moves(
    walls: Walls, steps: Distances, position: Position
) -> dict[str, Position]:
    """Return the moves that come nearer to the goal, each with its cell."""
    leads = zip(MOVES, neighbours(position), strict=True)
    return {
        move: cell
        for move, cell in leads
        if not walls[cell] and steps[cell] == steps[position] - 1
    }


def answer(
    walls: Walls, steps: Distances, trace: list[Position], rng: np.random.Generator
) -> str:
    """Return the last departure from the start if optimal, else any optimal move."""
    optimal = optimal_moves(walls, steps, trace[0])
    last = len(trace) - 1 - trace[::-1].index(trace[0])
    departure = trace[last + 1] if last + 1 < len(trace) else None
    for move, cell in optimal.items():
        if cell == departure:
            return move
    return pick(list(optimal), rng)


def annotate(walls: Walls, trace: list[Position]) -> list[CellNotes]:
    """Describe the surroundings of every cell of a trace."""
    parents = {trace[0]: NO_PARENT}
    notes = []
    for place, position in enumerate(trace):
        if position not in parents:
            parents[position] = neighbours(position).index(trace[place - 1])
        around = []
        for cell in neighbours(position):
            if walls[cell]:
                around.append(WALL)
            else:
                around.append(SEEN if cell in parents else NEW)
        notes.append(CellNotes(around=tuple(around), parent=parents[position]))
    return notes
