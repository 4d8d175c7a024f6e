"""BabyAI's rules on a scene: the episodes of minigrid's own `step`, without pictures,
and cheap to copy.
"""

from typing import Self

from gde_plugins.babyai.worlds.mission import Judge, Verdict
from gde_plugins.babyai.worlds.scene import ACTIONS, FREE, NOTHING, Door, Scene

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
        """Return a copy that changes independently."""
        # Searches copy thousands of moments, and __init__ would judge the mission anew.
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
        """A key that is equal for moments with the same future, except for the number
        of steps.
        """
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
        """Whether the mission is fulfilled or failed. An episode also ends with its
        last step.
        """
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
        """The reward of minigrid for the last action."""
        if not self.succeeded:
            return 0.0
        return 1 - DISCOUNT * self.n_steps / self.scene.max_steps

    def act(self, action: str) -> None:
        """Take an action.

        Raises:
            ValueError: there is no such action, or the mission is over.
        """
        if action not in ACTIONS:
            raise ValueError(
                f"a BabyAI world takes the actions {', '.join(ACTIONS)}, got {action!r}"
            )
        if self.over:
            raise ValueError(
                f"the mission has ended with {self.verdict}: call reset(seed)"
            )

        self.n_steps += 1
        if action == "left":
            self.direction = (self.direction + 3) % 4
        elif action == "right":
            self.direction = (self.direction + 1) % 4
        else:
            self._touch(action, self.ahead)
        self._judge(action)

    def _touch(self, action: str, ahead: int) -> None:
        """Do an action on the cell in front."""
        thing = self.cells[ahead]
        is_thing = thing >= 0
        if action == "forward":
            is_open_door = is_thing and self.doors[thing] == Door.OPEN
            if thing == FREE or is_open_door:
                self.position = ahead
        elif action == "pickup":
            can_be_carried = is_thing and self.doors[thing] < 0
            if can_be_carried and self.carrying < 0:
                self.carrying = thing
                self.cells[ahead] = FREE
                self.where[thing] = NOTHING
        elif action == "drop":
            if thing == FREE and self.carrying >= 0:
                self.cells[ahead] = self.carrying
                self.where[self.carrying] = ahead
                self.carrying = NOTHING
            # A drop that fails makes minigrid look, too.
            self._look()
        elif is_thing:
            self._toggle(thing, ahead)

    def _toggle(self, thing: int, ahead: int) -> None:
        """Open or close a door; unlock it with the key of its colour; open a box, which
        is gone then.
        """
        what = self.scene.things[thing]
        if what.kind == "door":
            self.doors[thing] = self._toggled(thing)
        elif what.kind == "box":
            self.where[thing] = NOTHING
            inside = what.contains
            if inside >= 0:
                self.cells[ahead] = inside
                self.where[inside] = ahead
            else:
                self.cells[ahead] = FREE

    def _toggled(self, door: int) -> int:
        """The state of a door after a toggle."""
        state = self.doors[door]
        if state == Door.OPEN:
            return Door.CLOSED
        if state == Door.LOCKED and not self.has_key(door):
            return Door.LOCKED
        return Door.OPEN

    def has_key(self, door: int) -> bool:
        """Whether the agent carries the key of a door."""
        if self.carrying < 0:
            return False
        held = self.scene.things[self.carrying]
        return held.kind == "key" and held.color == self.scene.things[door].color

    def _look(self) -> None:
        """Look up the things of the mission again, as minigrid does after every
        drop.
        """
        for thing, seen in enumerate(self.scene.known):
            if seen >= 0:
                self.known[thing] = self.where[thing]

    def _judge(self, action: str) -> None:
        self.action = action
        self.front = self.ahead
        self.facing = self.cells[self.front]
        self.opened = self.facing >= 0 and self.doors[self.facing] == Door.OPEN
        self.verdict = self.judge.follow(self, self.done, self.before)
