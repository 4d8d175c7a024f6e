"""BabyAI's rules on a scene: the episodes of minigrid's own `step`, without pictures, and cheap to copy."""

from typing import Self

from gde_plugins.babyai.worlds.mission import Judge, Verdict
from gde_plugins.babyai.worlds.scene import ACTIONS, FREE, NOTHING, WALL, Door, Scene

DISCOUNT = 0.9
"""Share of the reward that is lost when the last step fulfils the mission."""


class Simulation:
    """One moment of an episode. `act` changes it; `copy` keeps it."""

    __slots__ = (
        "action",
        "before",
        "carrying",
        "cells",
        "direction",
        "done",
        "doors",
        "facing",
        "front",
        "judge",
        "known",
        "n_steps",
        "opened",
        "position",
        "scene",
        "verdict",
        "where",
        "width",
    )

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.width = scene.width
        self.judge = Judge(scene.mission)
        self.position = scene.agent
        self.direction = scene.direction
        self.carrying = scene.carrying
        self.cells = [*scene.cells]
        self.doors = [*scene.doors]
        self.where = [NOTHING] * len(scene.things)
        for cell, thing in enumerate(scene.cells):
            if thing >= 0:
                self.where[thing] = cell
        self.known = [*scene.known]
        self.done = [False] * len(self.judge.clauses)
        self.before = [NOTHING] * len(self.judge.clauses)
        self.n_steps = 0
        self.verdict: Verdict = "continue"
        self.action = ""
        self.front = NOTHING
        self.facing = FREE
        self.opened = False

    def copy(self) -> Self:
        """The same moment, apart from this one."""
        other = object.__new__(type(self))
        other.scene = self.scene
        other.width = self.width
        other.judge = self.judge
        other.position = self.position
        other.direction = self.direction
        other.carrying = self.carrying
        other.cells = self.cells[:]
        other.doors = self.doors[:]
        other.where = self.where[:]
        other.known = self.known[:]
        other.done = self.done[:]
        other.before = self.before[:]
        other.n_steps = self.n_steps
        other.verdict = self.verdict
        other.action = self.action
        other.front = self.front
        other.facing = self.facing
        other.opened = self.opened
        return other

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for moments with the same future, the number of steps apart."""
        rest = (*self.where, *self.doors, *self.known, *self.done, *self.before)
        return (self.position, self.direction, self.carrying, rest)

    @property
    def walking_state(self) -> int:
        """Position and direction as one number: 4 * cell + direction."""
        return 4 * self.position + self.direction

    @property
    def ahead(self) -> int:
        """The cell in front of the agent."""
        return self.position + self.scene.steps[self.direction]

    @property
    def over(self) -> bool:
        """Whether the mission is fulfilled or failed. An episode also ends with its last step."""
        return self.verdict != "continue"

    @property
    def succeeded(self) -> bool:
        return self.verdict == "success"

    @property
    def is_door(self) -> bool:
        """Whether the agent faced a door after its last action."""
        return self.facing >= 0 and self.doors[self.facing] >= 0

    @property
    def reward(self) -> float:
        """What minigrid gives for the last action."""
        return 1 - DISCOUNT * self.n_steps / self.scene.max_steps if self.succeeded else 0.0

    def act(self, action: str) -> None:
        """Take an action.

        Raises:
            ValueError: there is no such action, or the mission is over.
        """
        if action not in ACTIONS:
            raise ValueError(f"a BabyAI world takes the actions {', '.join(ACTIONS)}, got {action!r}")
        if self.over:
            raise ValueError(f"the mission has ended with {self.verdict}: call reset(seed)")
        self.n_steps += 1
        if action == "left":
            self.direction = (self.direction + 3) % 4
        elif action == "right":
            self.direction = (self.direction + 1) % 4
        else:
            self._touch(action, self.ahead)
        self._judge(action)

    def _touch(self, action: str, ahead: int) -> None:
        """An action on the cell in front."""
        thing = self.cells[ahead]
        if action == "forward":
            if thing == FREE or (thing >= 0 and self.doors[thing] == Door.OPEN):
                self.position = ahead
        elif action == "pickup":
            if thing >= 0 and self.doors[thing] < 0 and self.carrying < 0:
                self.carrying = thing
                self.cells[ahead] = FREE
                self.where[thing] = NOTHING
        elif action == "drop":
            if thing == FREE and self.carrying >= 0:
                self.cells[ahead] = self.carrying
                self.where[self.carrying] = ahead
                self.carrying = NOTHING
            self._look()
        elif thing != WALL and thing != FREE:
            self._toggle(thing, ahead)

    def _toggle(self, thing: int, ahead: int) -> None:
        """Open or close a door; unlock it with the key of its colour; open a box, which is gone then."""
        what = self.scene.things[thing]
        if what.kind == "door":
            self.doors[thing] = self._toggled(thing)
        elif what.kind == "box":
            inside = what.contains
            self.cells[ahead] = inside if inside >= 0 else FREE
            self.where[thing] = NOTHING
            if inside >= 0:
                self.where[inside] = ahead

    def _toggled(self, door: int) -> int:
        if self.doors[door] == Door.LOCKED:
            return Door.OPEN if self.has_key(door) else Door.LOCKED
        return Door.CLOSED if self.doors[door] == Door.OPEN else Door.OPEN

    def has_key(self, door: int) -> bool:
        """Whether the agent carries the key of a door."""
        held = self.scene.things[self.carrying] if self.carrying >= 0 else None
        return held is not None and held.kind == "key" and held.color == self.scene.things[door].color

    def _look(self) -> None:
        """Look up the things of the mission again, as minigrid does after every drop, even a failed one."""
        for thing, seen in enumerate(self.scene.known):
            if seen >= 0:
                self.known[thing] = self.where[thing]

    def _judge(self, action: str) -> None:
        self.action = action
        self.front = self.ahead
        self.facing = self.cells[self.front]
        self.opened = self.facing >= 0 and self.doors[self.facing] == Door.OPEN
        self.verdict = self.judge.follow(self, self.done, self.before)
