"""BabyAI's rules in plain Python, faster and cheaper to copy than minigrid's own."""

from typing import Self

from gde_plugins.babyai.worlds.mission import Judge, Verdict
from gde_plugins.babyai.worlds.scene import ACTIONS, FREE, NOTHING, Door, Scene

DISCOUNT = 0.9
"""Share of the reward that is lost if the last step fulfils the mission."""


class Simulation:
    """One moment of an episode. `act` changes it; `copy` keeps it."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.judge = Judge(scene.mission)
        self.position = scene.agent
        self.direction = scene.direction
        self.carrying = scene.carrying
        self.cells = [*scene.cells]
        self.doors = [*scene.doors]
        self.where = [NOTHING] * len(scene.things)
        """The cell of each thing; negative for a thing in no cell."""
        for cell, thing in enumerate(scene.cells):
            if thing >= 0:
                self.where[thing] = cell
        self.known = [*scene.known]
        """The cell where each thing was seen last: at first, or after the last drop."""
        self.done = [False] * len(self.judge.clauses)
        self.before = [NOTHING] * len(self.judge.clauses)
        """The carried thing when each clause was judged last."""
        self.n_steps = 0
        self.verdict: Verdict = "continue"

    def copy(self) -> Self:
        """Return a copy that changes independently."""
        # Searches copy thousands of moments, and __init__ would parse the mission anew.
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.cells = self.cells[:]
        other.doors = self.doors[:]
        other.where = self.where[:]
        other.known = self.known[:]
        other.done = self.done[:]
        other.before = self.before[:]
        return other

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for moments with the same future.

        The number of steps does not count.
        """
        rest = (*self.where, *self.doors, *self.known, *self.done, *self.before)
        return (self.position, self.direction, self.carrying, rest)

    def __eq__(self, other: object) -> bool:
        """Whether two moments have the same future; their numbers of steps may differ."""
        if not isinstance(other, Simulation):
            return NotImplemented
        are_alike = (self.verdict, self.key) == (other.verdict, other.key)
        return are_alike and self.is_of(other.scene)

    def __hash__(self) -> int:
        return hash((self.verdict, self.key))

    def is_of(self, scene: Scene) -> bool:
        """Whether it is a moment of this scene."""
        # The identity takes long to compute.
        return self.scene is scene or self.scene.identity == scene.identity

    @property
    def walking_state(self) -> int:
        """Position and direction as one number: 4 * cell + direction."""
        return 4 * self.position + self.direction

    @property
    def ahead(self) -> int:
        """The cell in front of the agent."""
        return self.position + self.scene.steps[self.direction]

    @property
    def faced(self) -> int:
        """The content of the cell in front of the agent, as in `Scene.cells`."""
        return self.cells[self.ahead]

    @property
    def over(self) -> bool:
        """Whether the mission is fulfilled or failed."""
        return self.verdict != "continue"

    @property
    def succeeded(self) -> bool:
        return self.verdict == "success"

    @property
    def reward(self) -> float:
        """The reward of minigrid for the last action."""
        if not self.succeeded:
            return 0.0
        return 1 - DISCOUNT * self.n_steps / self.scene.max_steps

    def is_open(self, content: int) -> bool:
        """Return whether the content of a cell is an open door."""
        return content >= 0 and self.doors[content] == Door.OPEN

    def lacks_key(self, content: int) -> bool:
        """Return whether a content is a locked door whose key is not carried."""
        if content < 0 or self.doors[content] != Door.LOCKED:
            return False
        if self.carrying < 0:
            return True
        held = self.scene.things[self.carrying]
        return held.kind != "key" or held.color != self.scene.things[content].color

    def are_adjacent(self, cell: int, other: int) -> bool:
        """Return whether two cells share a side."""
        # Walls surround the grid, so no step leads from one row into the next.
        return other - cell in self.scene.steps

    def can_carry(self, content: int) -> bool:
        """Return whether a content is a key, a ball or a box."""
        return content >= 0 and self.doors[content] < 0

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
        match action:
            case "left":
                self.direction = (self.direction + 3) % 4
            case "right":
                self.direction = (self.direction + 1) % 4
            case "forward":
                if self.faced == FREE or self.is_open(self.faced):
                    self.position = self.ahead
            case _:
                self._use_hands(action, self.faced, self.ahead)
        self.verdict = self.judge.follow(self, action)

    def _use_hands(self, action: str, faced: int, ahead: int) -> None:
        if action == "pickup":
            if self.can_carry(faced) and self.carrying < 0:
                self.carrying = faced
                self.cells[ahead] = FREE
                self.where[faced] = NOTHING
        elif action == "drop":
            if faced == FREE and self.carrying >= 0:
                self._place(self.carrying, ahead)
                self.carrying = NOTHING
            # minigrid looks up the mission's things now, even if the drop failed.
            for thing, seen in enumerate(self.scene.known):
                if seen >= 0:
                    self.known[thing] = self.where[thing]
        elif faced >= 0:
            self._toggle(faced, ahead)

    def _place(self, thing: int, cell: int) -> None:
        self.cells[cell] = thing
        self.where[thing] = cell

    def _toggle(self, thing: int, cell: int) -> None:
        """Open or close a door, or open a box, which then disappears."""
        what = self.scene.things[thing]
        if what.kind == "door" and not self.lacks_key(thing):
            self.doors[thing] = Door.CLOSED if self.is_open(thing) else Door.OPEN
        elif what.kind == "box":
            self.where[thing] = NOTHING
            self.cells[cell] = FREE
            if what.contains >= 0:
                self._place(what.contains, cell)
