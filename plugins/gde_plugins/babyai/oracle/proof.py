"""A quick proof that a mission cannot be fulfilled in any number of steps.

The proof relaxes the rules: things do not block the way, the agent can hold everything
that it reaches, and boxes are open and closed at once. Only walls and locks remain. A
mission that fails under these rules is impossible. The converse does not hold: a
mission may be impossible for other reasons.
"""

from gde_plugins.babyai.worlds.mission import Clause, Open, PutNext
from gde_plugins.babyai.worlds.scene import WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation


def is_impossible(now: Simulation) -> bool:
    """Return whether the mission is proved to be out of reach from a moment on."""
    reached, touched = _closure(now)
    for clause, done in zip(now.judge.clauses, now.done, strict=True):
        if not done and not _possible(clause, now, reached, touched):
            return True
    return False


def _possible(
    clause: Clause, now: Simulation, reached: set[int], touched: set[int]
) -> bool:
    """Return whether the relaxed rules leave a way to fulfil a clause."""
    meant = clause.thing.things
    touchable = [thing for thing in meant if thing in touched]

    if isinstance(clause, PutNext):
        if not touchable:
            return False
        return _can_put_beside(clause.fixed.things, now, reached, touched)

    if isinstance(clause, Open):
        keys = _key_colors(now, touched)
        return any(not _stays_locked(now, thing, keys) for thing in touchable)

    if touchable:
        return True
    # The verifier accepts the cell where a thing was seen last, even if the thing is
    # gone.
    for thing in meant:
        cell = now.known[thing]
        if cell < 0:
            continue
        for step in now.scene.steps:
            if cell + step in reached:
                return True
    return False


def _can_put_beside(
    fixed: tuple[int, ...], now: Simulation, reached: set[int], touched: set[int]
) -> bool:
    if not touched.isdisjoint(fixed):
        return True

    # The agent drops things one cell ahead, so it can be two steps away from the fixed
    # thing.
    for thing in fixed:
        cell = now.where[thing]
        if cell < 0:
            continue
        for to_beside in now.scene.steps:
            for to_agent in now.scene.steps:
                if cell + to_beside + to_agent in reached:
                    return True
    return False


def _closure(now: Simulation) -> tuple[set[int], set[int]]:
    """Return the cells that can be stood on, and the things that can be touched."""
    reached = {now.position}
    touched = set()
    if now.carrying >= 0:
        touched.add(now.carrying)

    # A key that has just been found may open a door on the next round, so this repeats
    # until nothing is added.
    grown = True
    while grown:
        size_before = (len(reached), len(touched))
        _spread(now, reached, touched)
        for thing in list(touched):
            inside = now.scene.things[thing].contains
            if inside >= 0:
                touched.add(inside)
        grown = size_before != (len(reached), len(touched))
    return reached, touched


def _spread(now: Simulation, reached: set[int], touched: set[int]) -> None:
    """Add all cells that the keys at hand open the way to, and the things in them."""
    keys = _key_colors(now, touched)
    border = list(reached)
    while border:
        cell = border.pop()
        for step in now.scene.steps:
            ahead = cell + step
            content = now.cells[ahead]
            if content == WALL or ahead in reached:
                continue

            is_thing = content >= 0
            if is_thing:
                # A door that stays locked is touched, but not passed.
                touched.add(content)
                if _stays_locked(now, content, keys):
                    continue
            reached.add(ahead)
            border.append(ahead)


def _key_colors(now: Simulation, touched: set[int]) -> set[str]:
    colors = set()
    for number in touched:
        thing = now.scene.things[number]
        if thing.kind == "key":
            colors.add(thing.color)
    return colors


def _stays_locked(now: Simulation, thing: int, keys: set[str]) -> bool:
    """Return whether a thing is a door that no key in hand opens."""
    is_locked = now.doors[thing] == Door.LOCKED
    return is_locked and now.scene.things[thing].color not in keys
