"""Missions in the Baby language, with minigrid's rules for success and failure.

Chevalier-Boisvert et al. (2023) describe the language. The hashes of known worlds hold
the representation of their missions, so no class or field may be renamed.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

Verdict = Literal["success", "failure", "continue"]


class Moment(Protocol):
    """The part of a `Simulation` that a mission reads, and `Judge` updates."""

    carrying: int
    where: list[int]
    known: list[int]
    doors: list[int]
    done: list[bool]
    before: list[int]

    @property
    def ahead(self) -> int: ...
    @property
    def faced(self) -> int: ...
    def is_open(self, content: int) -> bool: ...
    def are_adjacent(self, cell: int, other: int) -> bool: ...


@dataclass(frozen=True)
class Description:
    """The words for things, with the things of that description at the beginning."""

    kind: str
    """Empty for any."""
    color: str
    """Empty for any."""
    location: str
    """left, right, front or behind of the agent's first place; empty for anywhere."""
    things: tuple[int, ...]


@dataclass(frozen=True)
class GoTo:
    """Stand beside a thing and face it."""

    thing: Description

    def verdict(self, now: Moment, _action: str, _before: int) -> Verdict:
        # A thing that was moved still counts where it was seen last.
        for one in self.thing.things:
            if now.known[one] == now.ahead:
                return "success"
        return "continue"


@dataclass(frozen=True)
class Open:
    """Open a door; if strict, toggling another door fails."""

    thing: Description
    strict: bool = False

    def verdict(self, now: Moment, action: str, _before: int) -> Verdict:
        faced = now.faced
        if action != "toggle" or faced < 0:
            return "continue"
        if faced in self.thing.things and now.is_open(faced):
            return "success"
        if self.strict and now.doors[faced] >= 0:
            return "failure"
        return "continue"


@dataclass(frozen=True)
class Pickup:
    """Pick up a thing with empty hands; if strict, picking up another thing fails."""

    thing: Description
    strict: bool = False

    def verdict(self, now: Moment, action: str, before: int) -> Verdict:
        if action != "pickup":
            return "continue"
        if before < 0 and now.carrying in self.thing.things:
            return "success"
        if self.strict and now.carrying >= 0:
            return "failure"
        return "continue"


@dataclass(frozen=True)
class PutNext:
    """Drop a thing right above, below, left or right of another."""

    thing: Description
    fixed: Description
    strict: bool = False

    def verdict(self, now: Moment, action: str, before: int) -> Verdict:
        if self.strict and action == "pickup" and now.carrying >= 0:
            return "failure"
        if action != "drop" or before not in self.thing.things:
            return "continue"
        dropped = now.where[before]
        for one in self.fixed.things:
            if dropped >= 0 and now.are_adjacent(dropped, now.known[one]):
                return "success"
        return "continue"


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
    """List all clauses in the order of the mission."""
    match mission:
        case Both(first, second):
            return first, second
        case InOrder(first, then):
            return clauses(first) + clauses(then)
        case _:
            return (mission,)


class Judge:
    """Judges the actions of an episode by its mission."""

    def __init__(self, mission: Mission) -> None:
        self.clauses = clauses(mission)
        numbers = tuple(range(len(self.clauses)))
        self.stages: tuple[tuple[int, ...], ...] = (numbers,)
        """The indices of clauses that can be fulfilled in any order, in two stages if
        the mission has an order.
        """
        self._strict = False
        if isinstance(mission, InOrder):
            n_first = len(clauses(mission.first))
            self.stages = (numbers[:n_first], numbers[n_first:])
            self._strict = mission.strict

    def follow(self, now: Moment, action: str) -> Verdict:
        """Judge the action that led to `now`, and update its `done` and `before`."""
        first, last = self.stages[0], self.stages[-1]
        if first is last or all(now.done[one] for one in first):
            return self._stage(last, now, action, now.done)

        # The action that fulfils the first stage also counts for the next.
        verdict = self._stage(first, now, action, now.done)
        if verdict == "success":
            return self._stage(last, now, action, now.done)

        if verdict == "continue" and self._strict:
            nothing_done = [False] * len(now.done)
            if self._stage(last, now, action, nothing_done) == "success":
                return "failure"
        return verdict

    def _stage(
        self, stage: tuple[int, ...], now: Moment, action: str, done: list[bool]
    ) -> Verdict:
        verdict: Verdict = "continue"
        for one in stage:
            if not done[one]:
                verdict = self.clauses[one].verdict(now, action, now.before[one])
                now.before[one] = now.carrying
                done[one] = verdict == "success"

        if all(done[one] for one in stage):
            return "success"
        # In a conjunction a clause that fails is only not fulfilled, as in minigrid.
        return "continue" if len(stage) > 1 else verdict
