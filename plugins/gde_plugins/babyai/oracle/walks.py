"""Paths through a world as it is, which avoid things in the way unless the detour is
long.

A table gives the cost from each walking state (4 * cell + direction) to the nearest
end. An agent that follows falling costs arrives from wherever it is, so a path need not
be planned again when something pushes the agent aside.
"""

from collections.abc import Container, Iterable, Iterator
from heapq import heappop, heappush

from gde_plugins.babyai.oracle.subgoals import Purpose
from gde_plugins.babyai.worlds.scene import FREE, WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation

FAR = 10**6
OBSTACLE = 12
"""Cost in steps of a thing in the way."""
LOCK = 40
"""Cost in steps of a locked door without its key."""
Table = list[int]


def facing(now: Simulation, cell: int) -> Iterable[int]:
    """Yield the walking states that face a cell."""
    for direction, step in enumerate(now.scene.steps):
        behind = cell - step
        if 0 <= behind < len(now.cells) and now.cells[behind] != WALL:
            yield 4 * behind + direction


def tolls(now: Simulation, sealed: str = "", sight: int = 0) -> list[int]:
    """Return the cost of entering each cell.

    Args:
        now: the world as it is.
        sealed: a colour; doors locked with it cost `FAR`, as walls do.
        sight: ignore things farther away than so many cells; 0 ignores none.
    """
    entering = []
    for content in now.cells:
        if content == FREE:
            entering.append(1)
        elif content == WALL:
            entering.append(FAR)
        else:
            entering.append(1 + OBSTACLE)

    if sight:
        x, y = now.scene.place(now.position)
        for cell in now.where:
            if cell < 0:
                continue
            thing_x, thing_y = now.scene.place(cell)
            distance = abs(thing_x - x) + abs(thing_y - y)
            if distance > sight:
                entering[cell] = 1

    for thing, state in enumerate(now.doors):
        if state >= 0:
            entering[now.where[thing]] = _door_toll(now, thing, state, sealed)
    return entering


def _door_toll(now: Simulation, door: int, state: int, sealed: str) -> int:
    # An open door costs as much as a closed one, so that opening a door changes no
    # path.
    if state != Door.LOCKED:
        return 2
    if sealed and now.scene.things[door].color == sealed:
        return FAR
    return 2 if now.has_key(door) else 2 + LOCK


def table(
    now: Simulation, ends: Iterable[tuple[int, int]], entering: list[int], until: int
) -> Table:
    """Return the cost from each walking state to the nearest end, by Dijkstra's
    algorithm.

    The costs are final only for states that are no farther than `until`.

    Args:
        now: the world as it is.
        ends: walking states, each with the cost of ending there.
        entering: the `tolls`.
        until: the walking state of the agent.
    """
    steps = now.scene.steps
    costs = [FAR] * (4 * len(now.cells))
    settled = bytearray(len(costs))
    queue: list[tuple[int, int]] = []
    for state, extra in ends:
        if extra < costs[state]:
            costs[state] = extra
            heappush(queue, (extra, state))

    while queue:
        cost, state = heappop(queue)
        if settled[state]:
            continue
        settled[state] = 1
        if state == until:
            break

        # The search runs backward: from a state to those that a turn or a step leads
        # from.
        cell = state >> 2
        direction = state & 3
        turned = cost + 1
        for turn in (1, 3):
            other = 4 * cell + ((direction + turn) & 3)
            if turned < costs[other]:
                costs[other] = turned
                heappush(queue, (turned, other))

        behind = cell - steps[direction]
        before = 4 * behind + direction
        reached = cost + entering[cell]
        if now.cells[behind] != WALL and reached < costs[before]:
            costs[before] = reached
            heappush(queue, (reached, before))
    return costs


def arrivals(cell: int, purpose: Purpose, now: Simulation) -> Iterator[tuple[int, int]]:
    """Yield the walking states in which the agent has arrived, with the cost of what is
    left to do there.
    """
    if purpose != "put":
        for state in facing(now, cell):
            yield state, 0
        return
    for step in now.scene.steps:
        content = now.cells[cell + step]
        if content == FREE:
            extra = 0
        elif content >= 0 and now.doors[content] < 0:
            # A thing that can be carried is first moved away.
            extra = OBSTACLE
        else:
            continue
        for state in facing(now, cell + step):
            yield state, extra


def next_action(
    now: Simulation, costs: Table, entering: list[int], position: int, direction: int
) -> str:
    """Return the action after which the cost is least; of equal ones forward, then
    right.
    """
    ahead = position + now.scene.steps[direction]
    forward = costs[4 * ahead + direction] + entering[ahead]
    right = costs[4 * position + (direction + 1) % 4] + 1
    left = costs[4 * position + (direction + 3) % 4] + 1
    if forward <= right and forward <= left:
        return "forward"
    return "right" if right <= left else "left"


def follow(
    now: Simulation, costs: Table, entering: list[int], ends: Container[int]
) -> tuple[int, int]:
    """Follow falling costs from the agent to an end, or to the first locked door
    without its key.

    Returns:
        The locked door, negative for none, and the walking state reached.
    """
    position = now.position
    direction = now.direction
    for _ in range(4 * len(now.cells)):
        state = 4 * position + direction
        if state in ends:
            break
        match next_action(now, costs, entering, position, direction):
            case "left":
                direction = (direction + 3) % 4
            case "right":
                direction = (direction + 1) % 4
            case _:
                position += now.scene.steps[direction]
                content = now.cells[position]
                if (
                    content >= 0
                    and now.doors[content] == Door.LOCKED
                    and not now.has_key(content)
                ):
                    return content, state
    return -1, 4 * position + direction


def place_to_drop(now: Simulation, avoid: int = -1) -> int:
    """Return the nearest free cell where a thing blocks nothing, else the nearest free
    one; negative for none.
    """
    fallback = -1
    for cell in _nearest_free(now):
        if cell in (now.position, avoid):
            continue
        if _out_of_the_way(now, cell, avoid):
            return cell
        if fallback < 0:
            fallback = cell
    return fallback


def _nearest_free(now: Simulation) -> Iterable[int]:
    """Yield the free cells that can be walked to, nearest first."""
    seen = {now.position}
    border = [now.position]
    for cell in border:
        if now.cells[cell] == FREE:
            yield cell
        for step in now.scene.steps:
            ahead = cell + step
            content = now.cells[ahead]
            is_passable = content == FREE or (
                content >= 0 and now.doors[content] == Door.OPEN
            )
            if is_passable and ahead not in seen:
                seen.add(ahead)
                border.append(ahead)


def _out_of_the_way(now: Simulation, cell: int, avoid: int) -> bool:
    """Return whether the cells around stay connected, and no door or thing loses the
    cell before it.
    """
    east, south, west, north = now.scene.steps
    if any(now.cells[cell + step] >= 0 for step in now.scene.steps):
        return False
    if avoid in (cell + east, cell + south, cell + west, cell + north):
        return False

    # The passable cells around are connected if, on the way round, passable turns into
    # blocked at most once.
    passable = []
    for step in (
        east,
        east + south,
        south,
        south + west,
        west,
        west + north,
        north,
        north + east,
    ):
        around = cell + step
        passable.append(now.cells[around] == FREE and around != avoid)
    changes = 0
    for i in range(8):
        if passable[i] != passable[i - 1]:
            changes += 1
    return changes <= 2
