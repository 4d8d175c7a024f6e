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
    touchable = touched.intersection(clause.thing.things)
    steps = now.scene.steps
    match clause:
        case PutNext(fixed=fixed):
            if not touchable or touched.intersection(fixed.things):
                return bool(touchable)
            # The agent drops things one cell ahead, so it can be two steps away from
            # the fixed thing.
            nearby = {step + another for step in steps for another in steps}
            cells = [now.where[thing] for thing in fixed.things]
        case Open():
            return any(not _stays_locked(now, thing, touched) for thing in touchable)
        case _:
            if touchable:
                return True
            # The verifier accepts the cell where a thing was seen last, even if the
            # thing is gone.
            nearby = set(steps)
            cells = [now.known[thing] for thing in clause.thing.things]
    for cell in cells:
        if cell >= 0 and any(cell + step in reached for step in nearby):
            return True
    return False


def _closure(now: Simulation) -> tuple[set[int], set[int]]:
    """Return the cells that can be stood on, and the things that can be touched."""
    reached = {now.position}
    touched = {now.carrying} if now.carrying >= 0 else set()

    # A key that has just been found may open a door on the next round, so this repeats
    # until nothing is added.
    size_before = 0
    while size_before < len(reached) + len(touched):
        size_before = len(reached) + len(touched)
        border = list(reached)
        for cell in border:
            for step in now.scene.steps:
                content = now.cells[cell + step]
                if content == WALL or cell + step in reached:
                    continue
                if content >= 0:
                    touched.add(content)
                # A door that stays locked is touched, but not passed.
                if content < 0 or not _stays_locked(now, content, touched):
                    reached.add(cell + step)
                    border.append(cell + step)
        for thing in list(touched):
            if now.scene.things[thing].contains >= 0:
                touched.add(now.scene.things[thing].contains)
    return reached, touched


def _stays_locked(now: Simulation, thing: int, touched: set[int]) -> bool:
    """Return whether a thing is a locked door and its key is not touched."""
    if now.doors[thing] != Door.LOCKED:
        return False
    color = now.scene.things[thing].color
    for other in touched:
        held = now.scene.things[other]
        if held.kind == "key" and held.color == color:
            return False
    return True
