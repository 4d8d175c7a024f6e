"""Walking distances that ignore things in the way: tables of lower bounds.

A walking state is 4 * cell + direction. Only walls stop the agent. A door that is not
open costs one action more, its toggle, with or without the key.
"""

from collections import deque
from collections.abc import Iterable, Mapping

from gde_plugins.babyai.worlds.scene import WALL, Door, Scene

FAR = 10**6
"""More than any number of actions: out of reach."""
Table = list[int]
"""Number of actions from each walking state."""


class Distances:
    """The tables of one scene, each computed on first use."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._steps = scene.steps
        self._no_wall = tuple(content != WALL for content in scene.cells)
        self._n_cells = len(self._no_wall)
        self._tables: dict[tuple[object, ...], Table] = {}

        self._door_at: dict[int, int] = {}
        for cell, content in enumerate(scene.cells):
            is_thing = content >= 0
            if is_thing and scene.doors[content] >= 0:
                self._door_at[cell] = content

        all_open = []
        for state in scene.doors:
            is_door = state >= 0
            all_open.append(Door.OPEN if is_door else state)
        self._all_open = tuple(all_open)

    def to_face(self, cell: int, doors: tuple[int, ...]) -> Table:
        """Return the actions until the agent faces a cell, with doors as they are."""
        key = ("face", cell, doors)
        if key not in self._tables:
            ends = dict.fromkeys(self._facing(cell), 0)
            self._tables[key] = self._backward(ends, doors)
        return self._tables[key]

    def to_put_beside(self, cell: int, doors: tuple[int, ...]) -> Table:
        """Return the actions until the agent faces a free cell beside a cell."""
        key = ("put", cell, doors)
        if key not in self._tables:
            ends = dict.fromkeys(self._beside(cell), 0)
            self._tables[key] = self._backward(ends, doors)
        return self._tables[key]

    def by_way_of(
        self, first: int, end: int, doors: tuple[int, ...], beside: bool = False
    ) -> Table:
        """Return the actions until the agent has faced `first` and then faces `end`, or
        a free cell beside it.
        """
        key = ("way", first, end, doors, beside)
        if key in self._tables:
            return self._tables[key]

        # A door that is passed on both legs is opened once, so on the second leg all
        # count as open.
        if beside:
            second_leg = self.to_put_beside(end, self._all_open)
        else:
            second_leg = self.to_face(end, self._all_open)

        # The first leg ends where the second begins, with the cost of the second.
        ends = {state: second_leg[state] for state in self._facing(first)}
        self._tables[key] = self._backward(ends, doors)
        return self._tables[key]

    def _facing(self, cell: int) -> Iterable[int]:
        """The walking states that face a cell."""
        for direction, step in enumerate(self._steps):
            behind = cell - step
            in_grid = 0 <= behind < self._n_cells
            if in_grid and self._no_wall[behind]:
                yield 4 * behind + direction

    def _beside(self, cell: int) -> Iterable[int]:
        """The walking states that face a cell beside a cell, where a thing could be
        dropped.
        """
        for step in self._steps:
            beside = cell + step
            in_grid = 0 <= beside < self._n_cells
            # Nothing can be dropped in a doorway, even if the door is open.
            if in_grid and self._no_wall[beside] and beside not in self._door_at:
                yield from self._facing(beside)

    def _backward(self, ends: Mapping[int, int], doors: tuple[int, ...]) -> Table:
        """Search backward from walking states with given costs.

        Actions cost 1 or 2 (through a shut door), so states wait in one bucket per cost
        rather than in a heap.
        """
        shut = set()
        for cell, door in self._door_at.items():
            if doors[door] != Door.OPEN:
                shut.add(cell)

        table = [FAR] * (4 * self._n_cells)
        buckets: dict[int, deque[int]] = {}
        for state, cost in ends.items():
            buckets.setdefault(cost, deque()).append(state)
            table[state] = min(table[state], cost)

        cost = min(buckets, default=0)
        while buckets:
            for state in buckets.pop(cost, ()):
                # A state waits in several buckets if a shorter way was found later.
                is_outdated = table[state] != cost
                if is_outdated:
                    continue
                for earlier, total in self._predecessors(state, cost, shut):
                    if total < table[earlier]:
                        table[earlier] = total
                        buckets.setdefault(total, deque()).append(earlier)
            cost += 1
        return table

    def _predecessors(
        self, state: int, cost: int, shut: set[int]
    ) -> list[tuple[int, int]]:
        """The walking states from which one action leads to a state, with their
        costs.
        """
        cell, direction = divmod(state, 4)
        turned_right = 4 * cell + (direction + 1) % 4
        turned_left = 4 * cell + (direction + 3) % 4
        found = [(turned_right, cost + 1), (turned_left, cost + 1)]

        behind = cell - self._steps[direction]
        if self._no_wall[behind]:
            # The toggle that opens a shut door comes before the step into its cell.
            entering = 2 if cell in shut else 1
            found.append((4 * behind + direction, cost + entering))
        return found
