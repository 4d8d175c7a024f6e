"""Costs of walking from every walking state, by Dijkstra's algorithm.

A walking state is 4 * cell + direction. A turn costs 1; a step costs what the cell that
it enters does.
"""

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

from gde_plugins.babyai.worlds.scene import WALL, Door, Scene

FAR = 10**6
"""More than any number of actions: unreachable."""
Table = list[int]
"""Cost from each walking state."""


def facing(scene: Scene, cell: int) -> Iterator[int]:
    """Yield the walking states that face a cell."""
    for direction, step in enumerate(scene.steps):
        behind = cell - step
        if 0 <= behind < len(scene.cells) and scene.cells[behind] != WALL:
            yield 4 * behind + direction


def costs_to(
    scene: Scene, ends: Mapping[int, int], entering: list[int], until: int = -1
) -> Table:
    """Return the cost from each walking state to the nearest end.

    Args:
        scene: the walls.
        ends: walking states, each with the cost of ending there.
        entering: the cost of entering each cell.
        until: a walking state; the costs of those farther away are not final.
    """
    costs = [FAR] * (4 * len(scene.cells))
    queue: list[tuple[int, int]] = []
    for state, cost in ends.items():
        if cost < FAR:
            costs[state] = cost
            heappush(queue, (cost, state))

    while queue:
        cost, state = heappop(queue)
        if state == until:
            break
        if cost > costs[state]:
            continue

        # The search runs backward: from a state to those that a turn or a step leads
        # from.
        cell, direction = divmod(state, 4)
        before = [
            (cost + 1, 4 * cell + (direction + 1) % 4),
            (cost + 1, 4 * cell + (direction + 3) % 4),
        ]
        behind = cell - scene.steps[direction]
        if scene.cells[behind] != WALL:
            before.append((cost + entering[cell], 4 * behind + direction))
        for total, earlier in before:
            if total < costs[earlier]:
                costs[earlier] = total
                heappush(queue, (total, earlier))
    return costs


class Distances:
    """Numbers of actions that ignore things in the way: lower bounds, kept for a scene.

    Only walls stop the agent. A door that is not open costs one action more, its
    toggle, with or without the key.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._tables: dict[tuple[object, ...], Table] = {}
        self._all_open = tuple(Door.OPEN if state >= 0 else -1 for state in scene.doors)

    def to_face(self, cell: int, doors: tuple[int, ...]) -> Table:
        """Return the actions until the agent faces a cell, with doors as they are."""
        key = ("face", cell, doors)
        if key not in self._tables:
            ends = dict.fromkeys(facing(self._scene, cell), 0)
            self._tables[key] = self._backward(ends, doors)
        return self._tables[key]

    def to_put_beside(self, cell: int, doors: tuple[int, ...]) -> Table:
        """Return the actions until the agent faces a free cell beside a cell."""
        key = ("put", cell, doors)
        if key not in self._tables:
            ends = {}
            for step in self._scene.steps:
                content = self._scene.cells[cell + step]
                # Nothing can be dropped in a doorway, even if the door is open.
                is_door = content >= 0 and self._scene.doors[content] >= 0
                if content != WALL and not is_door:
                    ends.update(dict.fromkeys(facing(self._scene, cell + step), 0))
            self._tables[key] = self._backward(ends, doors)
        return self._tables[key]

    def by_way_of(
        self, first: int, end: int, doors: tuple[int, ...], beside: bool = False
    ) -> Table:
        """Return the actions until the agent has faced `first` and then faces `end`.

        Optionally the end is a free cell beside `end`.
        """
        key = ("way", first, end, doors, beside)
        if key not in self._tables:
            # A door that is passed on both legs is opened once, so on the second leg
            # all count as open.
            way = self.to_put_beside if beside else self.to_face
            second_leg = way(end, self._all_open)
            # The first leg ends where the second begins, with the cost of the second.
            ends = {state: second_leg[state] for state in facing(self._scene, first)}
            self._tables[key] = self._backward(ends, doors)
        return self._tables[key]

    def _backward(self, ends: Mapping[int, int], doors: tuple[int, ...]) -> Table:
        entering = []
        for content in self._scene.cells:
            is_shut = content >= 0 and doors[content] > Door.OPEN
            entering.append(2 if is_shut else 1)
        return costs_to(self._scene, ends, entering)
