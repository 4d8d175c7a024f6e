"""Questions in pairs of worlds that differ in one thing, which changes the answer.

Both questions of a pair show the same first state and the same instruction. A
deterministic answer that does not read the world is the same for both, so that it is
right in at most one of them: chance is one half.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np

from gde.seeding import generator
from gde_plugins.babyai.oracle.subgoals import Subgoal
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.execution import run_bot
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict
from gde_plugins.babyai.tasks.question import Scores, Unanswerable
from gde_plugins.babyai.worlds.mission import Description, GoTo
from gde_plugins.babyai.worlds.scene import (
    COLORS,
    FREE,
    NOTHING,
    WALL,
    Door,
    Scene,
    Thing,
)
from gde_plugins.babyai.worlds.simulation import Simulation

Change = str
"""One of blocked (a thing lies in the way), locked (a door is), open (a door is), no key
(it has another colour than its door) and wall (its door is elsewhere, so that the agent
bumps).
"""
ATTEMPTS = 60
"""Number of walks that are tried for a pair."""
SHORTEST, LONGEST = 3, 80
"""Numbers of actions of a walk; with a key to fetch, it seldom has fewer than 60."""
ENDLESS = GoTo(Description("", "", "", ()))
"""A mission that never ends, so that it ends no walk."""


class GroundedPredict(Predict):
    """Where does a walk lead, in a world or in its changed counterpart?

    The walk is the expert's way to a random cell of the world without the change, one
    behind a locked door if there is one.
    """

    change: Change

    def __init__(self, scene: Scene, changed: bool) -> None:
        """Find a walk and a change.

        Raises:
            Unanswerable: no change alters where a walk leads.
        """
        endless = replace(scene, mission=ENDLESS)
        rng = generator(0, "grounded predict", scene.identity)
        free = [cell for cell, here in enumerate(scene.cells) if here == FREE]
        locked_away = _locked_away(scene, free)
        for attempt in range(ATTEMPTS):
            # By chance few walks need a key, so the first ones lead where one is needed.
            needs_key = bool(locked_away) and attempt < ATTEMPTS // 2
            ends = locked_away if needs_key else free
            target = Subgoal("GoNextTo", cell=int(rng.choice(ends)))
            actions = run_bot(endless, [target]).actions
            if not SHORTEST <= len(actions) <= LONGEST:
                continue
            super().__init__(endless, actions)
            end = self.target
            for change, other in _changes(endless, actions, rng):
                self.change = change
                super().__init__(other, actions)
                if self.target != end:
                    if not changed:
                        super().__init__(endless, actions)
                    return
        raise Unanswerable(f"{_named(scene)}: no change alters where a walk leads")


class GroundedPlan(PlanQuestion):
    """Which actions lead to that cell, and no fewer do?

    In the changed world, things lie on the shortest way, so that the least number of
    actions is another.
    """

    change: Change = "blocked"

    def __init__(self, scene: Scene, changed: bool) -> None:
        """Find a change.

        Raises:
            Unanswerable: the least number of actions is not certified, or no change
                alters it.
        """
        super().__init__(scene)
        if self.best is None:
            raise Unanswerable(f"{_named(scene)}: the shortest way is not certified")
        other = _blocked(scene, self.best)
        if other is None:
            raise Unanswerable(f"{_named(scene)}: no change alters the shortest way")
        if changed:
            # Forget the shortest way of the other world.
            vars(self).clear()
            super().__init__(other)

    def judge(self, content: Sequence[str]) -> Scores:
        """Score a plan: 1 only if it leads there and none is shorter."""
        scores = super().judge(content)
        return {**scores, "score": float(scores["charged"] == 1)}


class GroundedDecompose(Decompose):
    """Which subgoals fulfil the mission without help, and no more than the expert's?

    In the changed world a door on the expert's way is open or locked, so that it has to
    do something else there. Lists of things do not say so.
    """

    change: Change

    def __init__(self, scene: Scene, changed: bool) -> None:
        """Find a change.

        Raises:
            Unanswerable: no change of a door alters the subgoals.
        """
        super().__init__(scene)
        for change, other in _doors(scene, self.subgoals):
            try:
                there = Decompose(other)
            except Unanswerable:
                continue
            if _is_right(there, self.subgoals) or _is_right(self, there.subgoals):
                continue
            self.change = change
            if changed:
                # Forget the subgoals of the other world.
                vars(self).clear()
                super().__init__(other)
                self.change = change
            return
        raise Unanswerable(f"{_named(scene)}: no change of a door alters the subgoals")

    def judge(self, content: Sequence[Subgoal]) -> Scores:
        """Score a list: 1 only if it needs no additions and names no more subgoals."""
        scores = super().judge(content)
        return {**scores, "score": float(_needs_nothing(scores))}


Grounded = GroundedPredict | GroundedPlan | GroundedDecompose


def _is_right(question: Decompose, content: Sequence[Subgoal]) -> bool:
    return _needs_nothing(Decompose.judge(question, content))


def _needs_nothing(scores: Scores) -> bool:
    """Whether a list lacks nothing, and names nothing that is not needed."""
    return scores["precision"] == scores["charged"] == 1


def _named(scene: Scene) -> str:
    return f"level {scene.level}, seed {scene.seed}"


def _locked_away(scene: Scene, free: Sequence[int]) -> list[int]:
    """The free cells that are reached through a locked door alone."""
    reached = {scene.agent}
    border = [scene.agent]
    for cell in border:
        for step in scene.steps:
            content = scene.cells[cell + step]
            is_locked = content >= 0 and scene.doors[content] == Door.LOCKED
            if content != WALL and not is_locked and cell + step not in reached:
                reached.add(cell + step)
                border.append(cell + step)
    return [cell for cell in free if cell not in reached]


def _blocked(scene: Scene, way: Sequence[str]) -> Scene | None:
    """Put things on a way until the least number of actions to the target changes."""
    rng = generator(0, "grounded plan", scene.identity)
    entered = _entered(scene, way)
    for cell in rng.permutation(entered):
        scene = _with_thing(scene, int(cell), "grey")
        try:
            shortest = PlanQuestion(scene).shortest
        except Unanswerable:
            return None
        if shortest != len(way):
            return None if shortest is None else scene
    return None


def _entered(scene: Scene, actions: Sequence[str]) -> list[int]:
    """The free cells that a walk enters, without that of the agent."""
    now = Simulation(scene)
    entered = []
    for action in actions:
        if now.over:
            break
        before = now.position
        now.act(action)
        is_free = scene.cells[now.position] == FREE
        if now.position != before and is_free and now.position != scene.agent:
            entered.append(now.position)
    return [*dict.fromkeys(entered)]


def _with_thing(scene: Scene, cell: int, color: str) -> Scene:
    """Put one more ball into a free cell."""
    cells = [*scene.cells]
    cells[cell] = len(scene.things)
    return replace(
        scene,
        cells=tuple(cells),
        things=(*scene.things, Thing("ball", color)),
        doors=(*scene.doors, NOTHING),
        known=(*scene.known, NOTHING),
    )


def _changes(
    scene: Scene, actions: Sequence[str], rng: np.random.Generator
) -> Iterator[tuple[Change, Scene]]:
    """Yield changes of what a walk meets: the rarest kind, a missing key, and then the
    others in random order.
    """
    toggled = _toggled(scene, actions)
    entered = _entered(scene, actions)
    blocked = []
    if entered:
        color = COLORS[rng.integers(len(COLORS))]
        blocked.append(_with_thing(scene, int(rng.choice(entered)), color))
    locked = []
    without_key = []
    moved: list[Scene] = []
    for door in toggled:
        if scene.doors[door] == Door.LOCKED:
            without_key.append(_without_key(scene, door))
        elif scene.doors[door] == Door.CLOSED:
            doors = [*scene.doors]
            doors[door] = Door.LOCKED
            locked.append(replace(scene, doors=tuple(doors)))
        moved += _moved(scene, door)

    changes = (
        ("blocked", blocked),
        ("locked", locked),
        ("no key", without_key),
        ("wall", moved),
    )
    shuffled = [changes[place] for place in rng.permutation(len(changes))]
    shuffled.sort(key=lambda one: one[0] != "no key")
    for change, others in shuffled:
        for other in others:
            yield change, other


def _doors(scene: Scene, subgoals: Sequence[Subgoal]) -> Iterator[tuple[Change, Scene]]:
    """Yield changes of the state of each door that is to be opened, in random order."""
    opened = []
    for before, one in pairwise(subgoals):
        if one.name == "Open" and scene.cells[before.cell] >= 0:
            opened.append(scene.cells[before.cell])
    rng = generator(0, "grounded decompose", scene.identity)
    changes = [*product(dict.fromkeys(opened), ("open", "locked"))]
    for place in rng.permutation(len(changes)):
        door, change = changes[place]
        state = Door.OPEN if change == "open" else Door.LOCKED
        if scene.doors[door] != state:
            doors = [*scene.doors]
            doors[door] = state
            yield change, replace(scene, doors=tuple(doors))


def _toggled(scene: Scene, actions: Sequence[str]) -> list[int]:
    """The doors that a walk toggles."""
    now = Simulation(scene)
    toggled = []
    for action in actions:
        if action == "toggle" and now.faced >= 0 and now.doors[now.faced] >= 0:
            toggled.append(now.faced)
        now.act(action)
    return [*dict.fromkeys(toggled)]


def _without_key(scene: Scene, door: int) -> Scene:
    """Give the keys of a door another colour."""
    color = scene.things[door].color
    other = COLORS[(COLORS.index(color) + 1) % len(COLORS)]
    things = []
    for thing in scene.things:
        is_key = thing.kind == "key" and thing.color == color
        things.append(replace(thing, color=other) if is_key else thing)
    return replace(scene, things=tuple(things))


def _moved(scene: Scene, door: int) -> Iterator[Scene]:
    """Move a door along its wall, to where both sides of the wall are free."""
    old = scene.cells.index(door)
    is_upright = scene.cells[old - scene.width] == WALL
    along, across = (scene.width, 1) if is_upright else (1, scene.width)
    for new in (old - along, old + along):
        sides = (scene.cells[new - across], scene.cells[new + across])
        if scene.cells[new] == WALL and sides == (FREE, FREE):
            cells = [*scene.cells]
            cells[old], cells[new] = WALL, door
            yield replace(scene, cells=tuple(cells))
