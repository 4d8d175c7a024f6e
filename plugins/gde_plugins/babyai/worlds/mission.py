"""What a mission asks for, and when it is fulfilled: the sentences of the Baby language (Chevalier-Boisvert et al.
2023), with every rule of minigrid's verifier that an episode can depend on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Verdict = Literal["success", "failure", "continue"]


class Moment(Protocol):
    """What is true right after an action, as far as missions ask."""

    @property
    def action(self) -> str: ...

    @property
    def front(self) -> int:
        """The cell that the agent faces."""

    @property
    def facing(self) -> int:
        """What is in it, as in `Scene.cells`."""

    @property
    def opened(self) -> bool:
        """Whether that is an open door."""

    @property
    def is_door(self) -> bool:
        """Whether that is a door at all."""

    @property
    def carrying(self) -> int:
        """The thing that is carried, negative for none."""

    @property
    def where(self) -> Sequence[int]:
        """The cell of each thing; negative while it is in none."""

    @property
    def known(self) -> Sequence[int]:
        """Where each thing was seen last: they are looked for at first and after every drop."""

    @property
    def width(self) -> int:
        """Of the grid."""


@dataclass(frozen=True)
class Description:
    """Words for things, and the things that they meant at first."""

    kind: str
    """Empty for any."""
    color: str
    """Empty for any."""
    location: str
    """"left", "right", "front" or "behind" of where the agent began; empty for anywhere."""
    things: tuple[int, ...]

    def __str__(self) -> str:
        words = (self.color, self.kind or "object", LOCATIONS[self.location])
        return " ".join(word for word in words if word)


LOCATIONS = {"": "", "left": "on the left", "right": "on the right", "front": "in front", "behind": "behind"}


@dataclass(frozen=True)
class GoTo:
    """Stand beside a thing and face it."""

    thing: Description

    def verdict(self, now: Moment, _before: int) -> Verdict:
        return "success" if any(now.known[one] == now.front for one in self.thing.things) else "continue"


@dataclass(frozen=True)
class Open:
    """Open a door; where strict, no other door may be touched."""

    thing: Description
    strict: bool = False

    def verdict(self, now: Moment, _before: int) -> Verdict:
        if now.action != "toggle":
            return "continue"
        if now.opened and now.facing in self.thing.things:
            return "success"
        return "failure" if self.strict and now.is_door else "continue"


@dataclass(frozen=True)
class Pickup:
    """Pick a thing up with empty hands; where strict, nothing else."""

    thing: Description
    strict: bool = False

    def verdict(self, now: Moment, before: int) -> Verdict:
        if now.action != "pickup":
            return "continue"
        if before < 0 and now.carrying in self.thing.things:
            return "success"
        return "failure" if self.strict and now.carrying >= 0 else "continue"


@dataclass(frozen=True)
class PutNext:
    """Drop a thing right above, below, left or right of another."""

    thing: Description
    fixed: Description
    strict: bool = False

    def verdict(self, now: Moment, before: int) -> Verdict:
        if self.strict and now.action == "pickup" and now.carrying >= 0:
            return "failure"
        if now.action != "drop" or before not in self.thing.things or now.where[before] < 0:
            return "continue"
        x = now.where[before] % now.width
        y = now.where[before] // now.width
        beside = (now.known[one] for one in self.fixed.things if now.known[one] >= 0)
        close = any(abs(cell % now.width - x) + abs(cell // now.width - y) == 1 for cell in beside)
        return "success" if close else "continue"


Clause = GoTo | Open | Pickup | PutNext


@dataclass(frozen=True)
class Both:
    """Two clauses in any order."""

    first: Clause
    second: Clause


@dataclass(frozen=True)
class InOrder:
    """One part, then the other."""

    first: "Clause | Both"
    then: "Clause | Both"
    strict: bool = False
    """Whether fulfilling the second part first fails the mission."""


Mission = Clause | Both | InOrder


def clauses(mission: Mission) -> tuple[Clause, ...]:
    """All clauses, in the order in which the mission wants them."""
    return tuple(_clauses(mission))


def _clauses(mission: Mission) -> Iterator[Clause]:
    match mission:
        case Both(first, second):
            yield from (first, second)
        case InOrder(first, then):
            yield from _clauses(first)
            yield from _clauses(then)
        case _:
            yield mission


def stages(mission: Mission) -> tuple[tuple[int, ...], ...]:
    """Indices of the clauses that can be fulfilled together, stage after stage."""
    if not isinstance(mission, InOrder):
        return (tuple(range(len(clauses(mission)))),)
    first = len(clauses(mission.first))
    return tuple(range(first)), tuple(range(first, first + len(clauses(mission.then))))


class Judge:
    """Follows one mission. What changes is held by the caller: `done` and `before` for each clause."""

    def __init__(self, mission: Mission) -> None:
        self.clauses = clauses(mission)
        self.stages = stages(mission)
        self._strict = isinstance(mission, InOrder) and mission.strict

    def follow(self, now: Moment, done: list[bool], before: list[int]) -> Verdict:
        """What the action that led to `now` means; `done` and `before` are brought up to date."""
        for stage in self.stages:
            if not all(done[one] for one in stage):
                break
        verdict = self._stage(stage, now, done, before)
        if stage is self.stages[-1] or verdict == "failure":
            return verdict
        if verdict == "success":  # the same action may begin to count for the next part
            return self._stage(self.stages[-1], now, done, before)
        if self._strict and self._stage(self.stages[-1], now, [False] * len(done), before) == "success":
            return "failure"
        return "continue"

    def _stage(self, stage: tuple[int, ...], now: Moment, done: list[bool], before: list[int]) -> Verdict:
        """A clause that fails within a conjunction is simply not fulfilled."""
        verdict: Verdict = "continue"
        for one in stage:
            if not done[one]:
                verdict = self.clauses[one].verdict(now, before[one])
                before[one] = now.carrying
                done[one] = verdict == "success"
        if all(done[one] for one in stage):
            return "success"
        return verdict if len(stage) == 1 else "continue"
