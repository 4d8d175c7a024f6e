"""Ways through a world as it is: around things where that is no long detour, through doors and locks otherwise.

A table says what each walking state (4 * cell + direction) costs to the end; an agent that follows falling costs gets
there, wherever it starts, so that nothing has to be planned again when it is pushed aside.
"""

from collections.abc import Container, Iterable
from heapq import heappop, heappush

from gde_plugins.babyai.worlds.scene import FREE, WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation

FAR = 10**6
OBSTACLE, LOCK = 12, 40
"""What a thing in the way and a locked door without its key are worth in steps."""
Table = list[int]


def facing(now: Simulation, cell: int) -> Iterable[int]:
    """The walking states that face a cell."""
    for direction, step in enumerate(now.scene.steps):
        if 0 <= cell - step < len(now.cells) and now.cells[cell - step] != WALL:
            yield 4 * (cell - step) + direction


def tolls(now: Simulation, sealed: str = "", sight: int = 0) -> list[int]:
    """What entering each cell costs; `FAR` for walls and for doors locked with the colour `sealed`.

    With `sight`, things that lie farther than so many cells are not taken into account.
    """
    entering = [1 if inside == FREE else FAR if inside == WALL else 1 + OBSTACLE for inside in now.cells]
    if sight:
        x, y = now.scene.place(now.position)
        places = ((cell, now.scene.place(cell)) for cell in now.where if cell >= 0)
        for cell in (cell for cell, (i, j) in places if abs(i - x) + abs(j - y) > sight):
            entering[cell] = 1
    for thing, state in enumerate(now.doors):
        if state >= 0:
            entering[now.where[thing]] = _door(now, thing, state, sealed)
    return entering


def _door(now: Simulation, thing: int, state: int, sealed: str) -> int:
    if state != Door.LOCKED:
        return 2  # an open one costs the same, so that opening one changes no way
    if sealed and now.scene.things[thing].color == sealed:
        return FAR
    return 2 if now.has_key(thing) else 2 + LOCK


def table(now: Simulation, ends: Iterable[tuple[int, int]], entering: list[int], until: int) -> Table:
    """What each walking state costs to one of the ends, as far as it was worked out to know the state `until`.

    Args:
        now: the world as it is.
        ends: walking states with what is to be added for ending there.
        entering: `tolls`.
        until: where the agent is.
    """
    steps, costs, settled = now.scene.steps, [FAR] * (4 * len(now.cells)), bytearray(4 * len(now.cells))
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
        cell, direction = state >> 2, state & 3
        base, turned = state - direction, cost + 1
        for other in (base + ((direction + 1) & 3), base + ((direction + 3) & 3)):
            if turned < costs[other]:
                costs[other] = turned
                heappush(queue, (turned, other))
        behind = cell - steps[direction]
        reached = cost + entering[cell]
        before = 4 * behind + direction
        if now.cells[behind] != WALL and reached < costs[before]:
            costs[before] = reached
            heappush(queue, (reached, before))
    return costs


def next_action(now: Simulation, costs: Table, entering: list[int], position: int, direction: int) -> str:
    """The action by which costs fall most; straight on before a turn."""
    ahead, base = position + now.scene.steps[direction], 4 * position
    choices = [
        (costs[4 * ahead + direction] + entering[ahead], "forward"),
        (costs[base + (direction + 1) % 4] + 1, "right"),
        (costs[base + (direction + 3) % 4] + 1, "left"),
    ]
    return min(choices, key=lambda choice: choice[0])[1]


def follow(now: Simulation, costs: Table, entering: list[int], ends: Container[int]) -> tuple[int, int]:
    """Where a way leads: the first locked door on it of which the agent has no key, negative for none, and the walking
    state that it ends in."""
    position, direction = now.position, now.direction
    for _ in range(4 * len(now.cells)):
        if (state := 4 * position + direction) in ends:
            break
        match next_action(now, costs, entering, position, direction):
            case "left":
                direction = (direction + 3) % 4
            case "right":
                direction = (direction + 1) % 4
            case _:
                position += now.scene.steps[direction]
                inside = now.cells[position]
                if inside >= 0 and now.doors[inside] == Door.LOCKED and not now.has_key(inside):
                    return inside, state
    return -1, 4 * position + direction


def place_to_drop(now: Simulation, avoid: int = -1) -> int:
    """The nearest free cell where a thing would be in nobody's way, else the nearest free one; negative for none."""
    fallback = -1
    for cell in _nearest_free(now):
        if cell in (now.position, avoid):
            continue
        if _out_of_the_way(now, cell, avoid):
            return cell
        fallback = cell if fallback < 0 else fallback
    return fallback


def _nearest_free(now: Simulation) -> Iterable[int]:
    """The free cells that can be walked to, the nearest first."""
    seen, border = {now.position}, [now.position]
    for cell in border:
        yield from (cell,) if now.cells[cell] == FREE else ()
        for step in now.scene.steps:
            ahead = cell + step
            inside = now.cells[ahead]
            if ahead not in seen and (inside == FREE or (inside >= 0 and now.doors[inside] == Door.OPEN)):
                seen.add(ahead)
                border.append(ahead)


def _out_of_the_way(now: Simulation, cell: int, avoid: int) -> bool:
    """Whether the cells around stay connected, and neither a door nor a thing loses the cell before it."""
    east, south, west, north = now.scene.steps
    ring = (east, east + south, south, south + west, west, west + north, north, north + east)
    passable = [now.cells[cell + step] == FREE and cell + step != avoid for step in ring]
    changes = sum(passable[i] != passable[i - 1] for i in range(8))
    if changes > 2 or any(now.cells[cell + step] >= 0 for step in now.scene.steps):
        return False
    return cell + east != avoid != cell + west and cell + south != avoid != cell + north
