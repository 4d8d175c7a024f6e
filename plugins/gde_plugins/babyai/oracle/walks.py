"""Paths that avoid things in the way unless the detour is long."""

from collections.abc import Iterator, Mapping

from gde_plugins.babyai.oracle.distances import FAR, costs_to, facing
from gde_plugins.babyai.oracle.subgoals import Purpose
from gde_plugins.babyai.worlds.scene import FREE, WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation

OBSTACLE = 12
"""Cost in steps of a thing in the way."""
LOCK = 40
"""Cost in steps of a locked door without its key."""


class Path:
    """The cheapest path from every walking state to the nearest end.

    An agent that follows falling costs arrives from wherever it is, so a path need not
    be planned again when something pushes the agent aside.
    """

    def __init__(self, now: Simulation, ends: Mapping[int, int], sealed: str) -> None:
        """Plan a path.

        Args:
            now: the world as it is.
            ends: walking states, each with the cost of ending there.
            sealed: a colour; doors locked with it are walls.
        """
        self.ends = ends
        self._steps = now.scene.steps
        self._entering = _tolls(now, sealed)
        self._costs = costs_to(now.scene, ends, self._entering)
        self.lock = -1
        """The first locked door along it without its key; negative for none."""
        self.locked_end = -1
        """A locked door without its key at the path's end; negative for none."""
        if self.leads_from(now):
            self._follow(now)

    def leads_from(self, now: Simulation) -> bool:
        """Return whether the path is known from the agent's position."""
        return self._costs[now.walking_state] < FAR

    def action(self, position: int, direction: int) -> str:
        """Return the action to the lowest cost; of equal ones forward, then right."""
        ahead = position + self._steps[direction]
        forward = self._costs[4 * ahead + direction] + self._entering[ahead]
        right = self._costs[4 * position + (direction + 1) % 4] + 1
        left = self._costs[4 * position + (direction + 3) % 4] + 1
        if forward <= right and forward <= left:
            return "forward"
        return "right" if right <= left else "left"

    def _follow(self, now: Simulation) -> None:
        """Follow the path to its end, or to the first locked door without its key."""
        position = now.position
        direction = now.direction
        while 4 * position + direction not in self.ends:
            match self.action(position, direction):
                case "left":
                    direction = (direction + 3) % 4
                case "right":
                    direction = (direction + 1) % 4
                case _:
                    ahead = position + self._steps[direction]
                    if now.lacks_key(now.cells[ahead]):
                        self.lock = now.cells[ahead]
                        break
                    position = ahead
        faced = now.cells[position + self._steps[direction]]
        if now.lacks_key(faced):
            self.locked_end = faced


def _tolls(now: Simulation, sealed: str) -> list[int]:
    """Return the cost of entering each cell."""
    entering = []
    for content in now.cells:
        if content == WALL:
            entering.append(FAR)
        elif content == FREE:
            entering.append(1)
        elif now.can_carry(content):
            entering.append(1 + OBSTACLE)
        elif (
            now.doors[content] == Door.LOCKED
            and now.scene.things[content].color == sealed
        ):
            entering.append(FAR)
        else:
            # An open door costs as much as a closed one, so that opening a door changes
            # no path.
            entering.append(2 + LOCK if now.lacks_key(content) else 2)
    return entering


def arrivals(cell: int, purpose: Purpose, now: Simulation) -> Iterator[tuple[int, int]]:
    """Yield the walking states at the destination, with the cost of remaining work."""
    if purpose != "put":
        for state in facing(now.scene, cell):
            yield state, 0
        return
    for step in now.scene.steps:
        content = now.cells[cell + step]
        # A thing that can be carried is first moved away.
        if content == FREE or now.can_carry(content):
            for state in facing(now.scene, cell + step):
                yield state, 0 if content == FREE else OBSTACLE


def place_to_drop(now: Simulation, avoid: int = -1) -> int:
    """Return the nearest free cell where a thing blocks nothing.

    If there is none, it is the nearest free one; negative for none.
    """
    fallback = -1
    seen = {now.position}
    border = [now.position]
    for cell in border:
        is_allowed = now.cells[cell] == FREE and cell not in (now.position, avoid)
        if is_allowed and _out_of_the_way(now, cell, avoid):
            return cell
        if is_allowed and fallback < 0:
            fallback = cell
        for step in now.scene.steps:
            content = now.cells[cell + step]
            is_passable = content == FREE or now.is_open(content)
            if is_passable and cell + step not in seen:
                seen.add(cell + step)
                border.append(cell + step)
    return fallback


def _out_of_the_way(now: Simulation, cell: int, avoid: int) -> bool:
    """Return whether the cells around stay connected, and no door or thing loses the
    cell before it.
    """
    passable = []
    for direction, step in enumerate(now.scene.steps):
        diagonal = cell + step + now.scene.steps[(direction + 1) % 4]
        if now.cells[cell + step] >= 0 or cell + step == avoid:
            return False
        passable.append(now.cells[cell + step] == FREE)
        passable.append(now.cells[diagonal] == FREE and diagonal != avoid)

    # The passable cells around are connected if, on the way round, passable turns into
    # blocked at most once.
    changes = [passable[i] != passable[i - 1] for i in range(8)]
    return sum(changes) <= 2
