"""Rooms joined by doorways, one of which is locked (Arghal et al. 2026, section 4.3,
KeyDoorEnv).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from gde.data.cell_map import Position
from gde_plugins.grid.grid import rows_of
from gde_plugins.grid.keyed.scene import Scene
from gde_plugins.grid.solver.dynamics import as_position

ROOM = 3
"""Rows and columns of a room."""
PITCH = ROOM + 1
"""Rows and columns from one room to the next, with the wall between them."""


def draw_rooms(per_side: int, rng: np.random.Generator) -> Scene:
    """Draw rooms joined to a random tree, a locked door between agent and goal, and its
    key on the agent's side.

    The goal is uniform over the cells of rooms, the agent over those of the other
    rooms. In a tree of rooms this is the distribution that the published generator
    reaches by trying until some doorway parts them. The door is uniform over the
    doorways that do, the key over the cells of rooms that the agent can reach.

    Args:
        per_side: rooms a side, at least 2; the grid has 4 * per_side + 1 rows.
        rng: the only source of chance.

    Raises:
        ValueError: fewer rooms.
    """
    if per_side < 2:
        raise ValueError(
            f"a door between agent and goal needs at least 2 rooms a side, got {per_side}"
        )
    lines = np.arange(PITCH * per_side + 1)
    inside = lines % PITCH > 0
    in_room = np.outer(inside, inside)
    doorways = _doorways(per_side, rng)
    free = in_room.copy()
    for doorway in doorways:
        free[doorway] = True

    # The goal is drawn first, so that the agent can be kept out of its room.
    cells = np.argwhere(in_room)
    goal = rng.choice(cells)
    in_other_room = (cells // PITCH != goal // PITCH).any(axis=1)
    agent = rng.choice(cells[in_other_room])

    # A door that the agent can walk around would not need its key.
    doors = []
    for doorway in doorways:
        reached = _reachable(free, doorway, agent)
        if not reached[as_position(goal)]:
            doors.append(doorway)
    door = doors[int(rng.integers(len(doors)))]
    at_hand = _reachable(free, door, agent) & in_room
    at_hand[as_position(agent)] = False
    place = rng.choice(np.argwhere(at_hand))
    return Scene(
        layout="rooms",
        rows=rows_of(~free),
        agent=as_position(agent),
        goal=as_position(goal),
        place=as_position(place),
        door=door,
    )


def _doorways(per_side: int, rng: np.random.Generator) -> list[Position]:
    """Draw a cell in the wall between every two rooms that a random spanning tree
    joins.
    """
    rooms = np.arange(per_side**2).reshape(per_side, per_side)
    first = np.concatenate([rooms[:, :-1].ravel(), rooms[:-1].ravel()])
    second = np.concatenate([rooms[:, 1:].ravel(), rooms[1:].ravel()])
    # Kruskal's algorithm on edges in random order is the minimum spanning tree of
    # random weights.
    weights = 1.0 + rng.permutation(len(first))
    edges = csr_array((weights, (first, second)), shape=(rooms.size, rooms.size))
    tree = minimum_spanning_tree(edges)
    first_rooms, second_rooms = tree.nonzero()

    doorways: list[Position] = []
    for a, b in zip(first_rooms.tolist(), second_rooms.tolist(), strict=True):
        along = 1 + int(rng.integers(ROOM))
        row, column = divmod(a, per_side)
        # Rooms are numbered row by row, so the next number is the room on the right.
        if b == a + 1:
            doorways.append((PITCH * row + along, PITCH * (column + 1)))
        else:
            doorways.append((PITCH * (row + 1), PITCH * column + along))
    return doorways


def _reachable(
    free: NDArray[np.bool_], door: Position, agent: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return (height, width) True for the cells that the agent can reach with this
    doorway closed.
    """
    passable = free.copy()
    passable[door] = False
    parts, _ = label(passable)
    reached: NDArray[np.bool_] = parts == parts[as_position(agent)]
    return reached
