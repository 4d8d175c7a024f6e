"""Walking distances that ignore things in the way: tables of lower bounds.

A walking state is 4 * cell + direction. Only walls stop the agent. A door that is not open costs one action more, its
toggle, with or without the key.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping

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
        self._door_at: dict[int, int] = {}
        for cell, content in enumerate(scene.cells):
            if content >= 0 and scene.doors[content] >= 0:
                self._door_at[cell] = content
        self._all_open = tuple(Door.OPEN if state >= 0 else state for state in scene.doors)
        self._tables: dict[tuple[object, ...], Table] = {}

    def to_face(self, cell: int, doors: tuple[int, ...]) -> Table:
        """Return the actions until the agent faces a cell, with doors as they are."""
        return self._table(("face", cell, doors), lambda: dict.fromkeys(self._facing(cell), 0), doors)

    def to_put_beside(self, cell: int, doors: tuple[int, ...]) -> Table:
        """Return the actions until the agent faces a free cell beside a cell."""
        return self._table(("put", cell, doors), lambda: dict.fromkeys(self._beside(cell), 0), doors)

    def by_way_of(self, first: int, end: int, doors: tuple[int, ...], beside: bool = False) -> Table:
        """Return the actions until the agent has faced `first` and then faces `end`, or a free cell beside it."""

        def ends() -> dict[int, int]:
            # A door that is passed on both legs is opened once, so on the second leg all count as open.
            second_leg = self.to_put_beside(end, self._all_open) if beside else self.to_face(end, self._all_open)
            return {state: second_leg[state] for state in self._facing(first)}

        return self._table(("way", first, end, doors, beside), ends, doors)

    def _table(self, key: tuple[object, ...], ends: Callable[[], dict[int, int]], doors: tuple[int, ...]) -> Table:
        if key not in self._tables:
            self._tables[key] = self._backward(ends(), doors)
        return self._tables[key]

    def _facing(self, cell: int) -> Iterable[int]:
        """The walking states that face a cell."""
        for direction, step in enumerate(self._steps):
            behind = cell - step
            if 0 <= behind < len(self._no_wall) and self._no_wall[behind]:
                yield 4 * behind + direction

    def _beside(self, cell: int) -> Iterable[int]:
        """The walking states that face a cell beside a cell, where a thing could be dropped."""
        for step in self._steps:
            beside = cell + step
            if 0 <= beside < len(self._no_wall) and self._no_wall[beside] and beside not in self._door_at:
                yield from self._facing(beside)

    def _backward(self, ends: Mapping[int, int], doors: tuple[int, ...]) -> Table:
        """Search backward from walking states with given costs.

        Actions cost 1 or 2 (through a shut door), so states wait in one bucket per cost rather than in a heap.
        """
        shut = {cell for cell, door in self._door_at.items() if doors[door] != Door.OPEN}
        table = [FAR] * (4 * len(self._no_wall))
        buckets: dict[int, deque[int]] = {}
        for state, cost in ends.items():
            buckets.setdefault(cost, deque()).append(state)
            table[state] = min(table[state], cost)

        cost = min(buckets, default=0)
        while buckets:
            for state in buckets.pop(cost, ()):
                if table[state] == cost:
                    for earlier, total in self._predecessors(state, cost, shut):
                        if total < table[earlier]:
                            table[earlier] = total
                            buckets.setdefault(total, deque()).append(earlier)
            cost += 1
        return table

    def _predecessors(self, state: int, cost: int, shut: set[int]) -> list[tuple[int, int]]:
        """The walking states from which one action leads to a state, with their costs."""
        cell, direction = divmod(state, 4)
        found = [
            (4 * cell + (direction + 1) % 4, cost + 1),
            (4 * cell + (direction + 3) % 4, cost + 1),
        ]
        behind = cell - self._steps[direction]
        if self._no_wall[behind]:
            entering = 2 if cell in shut else 1
            found.append((4 * behind + direction, cost + entering))
        return found
