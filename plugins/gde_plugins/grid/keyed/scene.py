"""The scene of a key world, and how scenes are drawn (Arghal et al. 2026, section 4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from scipy.ndimage import label
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from gde.data.arrays import Bools
from gde.data.cell_map import Position
from gde.seeding import pick
from gde_plugins.grid.grid import rows_of, walls_of, with_wall
from gde_plugins.grid.keyed.config import Artefact
from gde_plugins.grid.solver.dynamics import as_position


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A grid with an agent, a goal and an object, perhaps with a locked door."""

    layout: str
    """"rooms", or which pair of ways: "horizontal", "vertical", "diamond"."""
    rows: tuple[str, ...]
    """Walls and free cells; the doorway is free."""
    agent: Position
    goal: Position
    place: Position
    """Cell of the object; in a counterfactual without an object, the same cell."""
    artefact: Artefact = "key"
    door: Position | None = None

    @property
    def walls(self) -> Bools:
        """(height, width) True in walls; the doorway is free."""
        return walls_of(self.rows)

    @property
    def closed_rows(self) -> tuple[str, ...]:
        """The rows with the closed door as a wall."""
        return with_wall(self.rows, self.door) if self.door else self.rows

    @property
    def base(self) -> str:
        """Equal for scenes that differ only in object, place and door: they are no
        independent observations.
        """
        return _digest(*self.rows, self.agent, self.goal)

    @property
    def identity(self) -> str:
        """Equal for equal scenes."""
        return _digest(self.base, self.place, self.artefact, self.door)


def _digest(*parts: object) -> str:
    content = "\n".join(str(part) for part in parts)
    return sha256(content.encode()).hexdigest()[:16]


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
    """
    in_room = room_cells(PITCH * per_side + 1)
    doorways = _doorways(per_side, rng)
    free = in_room.copy()
    for doorway in doorways:
        free[doorway] = True

    # The goal is drawn first, so that the agent can be kept out of its room.
    cells = np.argwhere(in_room)
    goal = rng.choice(cells)
    in_other_room = (cells // PITCH != goal // PITCH).any(axis=1)
    agent = as_position(rng.choice(cells[in_other_room]))

    # A door that the agent can walk around would not need its key.
    doors = []
    for doorway in doorways:
        reached = reachable(free, doorway, agent)
        if not reached[as_position(goal)]:
            doors.append(doorway)
    door = pick(doors, rng)
    at_hand = reachable(free, door, agent) & in_room
    at_hand[agent] = False
    place = rng.choice(np.argwhere(at_hand))
    return Scene(
        layout="rooms",
        rows=rows_of(~free),
        agent=agent,
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


def room_cells(size: int) -> Bools:
    """Return (size, size) True for the cells of rooms, walls and doorways left out."""
    inside = np.arange(size) % PITCH > 0
    return np.outer(inside, inside)


def reachable(free: Bools, door: Position, agent: Position) -> Bools:
    """Return (height, width) True for the cells that the agent can reach with this
    doorway closed.
    """
    passable = free.copy()
    passable[door] = False
    parts, _ = label(passable)
    reached: Bools = parts == parts[agent]
    return reached


LAYOUTS = ("horizontal", "vertical", "diamond")
Corners = list[Position]
"""Cells in which a way begins, turns and ends."""


def draw_two_paths(size: int, rng: np.random.Generator) -> Scene:
    """Draw one of three layouts, with an object on a random cell that only one of its
    two ways has.

    Horizontal and vertical: from the middle of one side to that of the opposite one,
    around either side of a block. Diamond: along a common stem, then around either side
    of a smaller block.

    Args:
        size: rows and columns, outer wall included; odd, at least 9.
        rng: the only source of chance.
    """
    layout = pick(LAYOUTS, rng)
    if layout == "diamond":
        corners = _diamond(size, rng)
    else:
        corners = _around_a_block(size, rng)

    # The second way is the mirror image of the first in the middle row.
    mirrored = [(size - 1 - row, column) for row, column in corners]
    ways = [_cells(corners), _cells(mirrored)]
    walls = np.ones((size, size), dtype=bool)
    for way in ways:
        for place in way:
            walls[place] = False

    # On a shared cell, every agent would take the object without choosing a way.
    side = int(rng.integers(2))
    own = ways[side]
    other = ways[1 - side]
    exclusive = [place for place in own if place not in other]
    place = as_position(rng.choice(np.array(exclusive)))

    scene = Scene(
        layout=layout,
        rows=rows_of(walls),
        agent=corners[0],
        goal=corners[-1],
        place=place,
    )
    if layout == "vertical":
        scene = _transposed(scene)
    return scene


def _around_a_block(size: int, rng: np.random.Generator) -> Corners:
    middle = size // 2
    last = size - 2
    greatest = min(4, size // 3)
    row = middle - int(rng.integers(2, greatest + 1))
    return [(middle, 1), (row, 1), (row, last), (middle, last)]


def _diamond(size: int, rng: np.random.Generator) -> Corners:
    middle = size // 2
    margin = max(2, size // 4)
    top = int(rng.integers(2, margin + 1))
    left = int(rng.integers(2, margin + 1))
    right = size - 1 - int(rng.integers(2, margin + 1))
    return [
        (middle, left),
        (middle, middle),
        (top, middle),
        (top, right),
        (middle, right),
    ]


def _cells(corners: Sequence[Position]) -> list[Position]:
    """Return every cell of the way, in order."""
    row, column = corners[0]
    way = [(row, column)]
    for to_row, to_column in corners[1:]:
        # Either the row or the column changes between two corners.
        down = np.sign(to_row - row)
        right = np.sign(to_column - column)
        while (row, column) != (to_row, to_column):
            row += int(down)
            column += int(right)
            way.append((row, column))
    return way


def _transposed(scene: Scene) -> Scene:
    columns = zip(*scene.rows, strict=True)
    return Scene(
        layout=scene.layout,
        rows=tuple("".join(column) for column in columns),
        agent=scene.agent[::-1],
        goal=scene.goal[::-1],
        place=scene.place[::-1],
    )
