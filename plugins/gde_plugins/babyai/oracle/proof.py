"""A proof that a mission cannot be fulfilled, in no number of steps.

Everything that hinders is left out but walls and locks: things are no obstacles, everything that is reached can be
held at once, boxes are open and closed at once. What cannot be reached even so cannot be reached. It is quick where
an exhaustive search would never end, and it says nothing of missions that fail for other reasons.
"""

from gde_plugins.babyai.worlds.mission import Clause, Open, PutNext
from gde_plugins.babyai.worlds.scene import WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation


def is_impossible(now: Simulation) -> bool:
    """Whether the mission is proved to be out of reach from a moment on."""
    reached, touched = _closure(now)
    left = (clause for clause, done in zip(now.judge.clauses, now.done, strict=True) if not done)
    return any(not _possible(clause, now, reached, touched) for clause in left)


def _possible(clause: Clause, now: Simulation, reached: set[int], touched: set[int]) -> bool:
    """Whether relaxation leaves a way to fulfil a clause."""

    def seen(things: tuple[int, ...]) -> bool:
        beside = (now.known[one] + step for one in things for step in now.scene.steps if now.known[one] >= 0)
        return any(one in touched for one in things) or any(cell in reached for cell in beside)

    if isinstance(clause, PutNext):
        places = [now.where[one] for one in clause.fixed.things if now.where[one] >= 0]
        near = {cell + a + b for cell in places for a in now.scene.steps for b in now.scene.steps}
        fixed = any(one in touched for one in clause.fixed.things) or bool(near & reached)
        return fixed and any(one in touched for one in clause.thing.things)
    if isinstance(clause, Open):
        keys = _keys(now, touched)
        return any(one in touched and not _is_shut(now, one, keys) for one in clause.thing.things)
    return seen(clause.thing.things)


def _closure(now: Simulation) -> tuple[set[int], set[int]]:
    """The cells that can be stood on, and the things that can be touched."""
    scene, reached, touched = now.scene, {now.position}, set[int]()
    if now.carrying >= 0:
        touched.add(now.carrying)
    grown = True
    while grown:
        before = len(reached), len(touched)
        _spread(now, reached, touched)
        touched |= {scene.things[one].contains for one in touched if scene.things[one].contains >= 0}
        grown = before != (len(reached), len(touched))
    return reached, touched


def _spread(now: Simulation, reached: set[int], touched: set[int]) -> None:
    scene, keys = now.scene, _keys(now, touched)
    border = [*reached]
    while border:
        cell = border.pop()
        for step in scene.steps:
            ahead = cell + step
            inside = now.cells[ahead]
            if inside == WALL or ahead in reached:
                continue
            if inside >= 0:
                touched.add(inside)
            if inside >= 0 and _is_shut(now, inside, keys):
                continue
            reached.add(ahead)
            border.append(ahead)


def _keys(now: Simulation, touched: set[int]) -> set[str]:
    """The colours of the keys among the things."""
    return {now.scene.things[one].color for one in touched if now.scene.things[one].kind == "key"}


def _is_shut(now: Simulation, thing: int, keys: set[str]) -> bool:
    """Whether a thing is a door that stays locked."""
    return now.doors[thing] == Door.LOCKED and now.scene.things[thing].color not in keys
