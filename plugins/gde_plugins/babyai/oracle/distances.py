"""Actions that walking takes at least, if nothing lay in the way: lower bounds that are looked up.

A walking state is 4 * cell + direction. Only walls stop the agent; a door that is not open costs one action more, its
toggle, with or without the key.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping

from gde_plugins.babyai.worlds.scene import WALL, Door, Scene

FAR = 10**6
"""More than any number of actions: out of reach."""
Table = list[int]
"""Actions for each walking state."""


class Distances:
    """The tables of one scene, each made when it is asked for."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._steps = scene.steps
        self._open = tuple(inside != WALL for inside in scene.cells)
        self._doors = {
            cell: inside for cell, inside in enumerate(scene.cells) if inside >= 0 and scene.doors[inside] >= 0
        }
        self._all_open = tuple(Door.OPEN if state >= 0 else state for state in scene.doors)
        self._made: dict[tuple[object, ...], Table] = {}

    def to_face(self, cell: int, doors: tuple[int, ...]) -> Table:
        """Actions until the agent faces a cell, from each walking state, with doors as they are."""
        return self._table(("face", cell, doors), lambda: dict.fromkeys(self._facing(cell), 0), doors)

    def to_put_beside(self, cell: int, doors: tuple[int, ...]) -> Table:
        """Actions until the agent faces a free cell beside a cell."""
        return self._table(("put", cell, doors), lambda: dict.fromkeys(self._beside(cell), 0), doors)

    def by_way_of(self, first: int, end: int, doors: tuple[int, ...], beside: bool = False) -> Table:
        """Actions until the agent has faced the cell `first` and then faces the cell `end`, or a free cell beside it.

        A door that is passed on both legs is opened once, so that on the second all count as open.
        """

        def ends() -> dict[int, int]:
            then = (self.to_put_beside if beside else self.to_face)(end, self._all_open)
            return {state: then[state] for state in self._facing(first)}

        return self._table(("way", first, end, doors, beside), ends, doors)

    def _table(self, key: tuple[object, ...], ends: Callable[[], dict[int, int]], doors: tuple[int, ...]) -> Table:
        if key not in self._made:
            self._made[key] = self._backward(ends(), doors)
        return self._made[key]

    def _facing(self, cell: int) -> Iterable[int]:
        """The walking states that face a cell."""
        for direction, step in enumerate(self._steps):
            if 0 <= cell - step < len(self._open) and self._open[cell - step]:
                yield 4 * (cell - step) + direction

    def _beside(self, cell: int) -> Iterable[int]:
        for step in self._steps:
            if 0 <= cell + step < len(self._open) and self._open[cell + step] and cell + step not in self._doors:
                yield from self._facing(cell + step)

    def _backward(self, ends: Mapping[int, int], doors: tuple[int, ...]) -> Table:
        """Breadth first from the ends, whose own costs are those given; costs of edges are 1 and 2."""
        toll = {cell: 1 + (doors[door] != Door.OPEN) for cell, door in self._doors.items()}
        table = [FAR] * (4 * len(self._open))
        buckets: dict[int, deque[int]] = {}
        for state, cost in ends.items():
            buckets.setdefault(cost, deque()).append(state)
            table[state] = min(table[state], cost)
        cost = min(buckets, default=0)
        while buckets:
            for state in buckets.pop(cost, ()):
                if table[state] == cost:
                    self._reach(state, cost, toll, table, buckets)
            cost += 1
        return table

    def _reach(
        self, state: int, cost: int, toll: Mapping[int, int], table: Table, buckets: dict[int, deque[int]]
    ) -> None:
        cell, direction = divmod(state, 4)
        behind = cell - self._steps[direction]
        before = [(4 * cell + (direction + 1) % 4, cost + 1), (4 * cell + (direction + 3) % 4, cost + 1)]
        if self._open[behind]:
            before.append((4 * behind + direction, cost + toll.get(cell, 1)))
        for earlier, total in before:
            if total < table[earlier]:
                table[earlier] = total
                buckets.setdefault(total, deque()).append(earlier)
