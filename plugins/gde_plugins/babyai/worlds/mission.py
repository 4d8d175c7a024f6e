"""Missions and when they are fulfilled: the sentences of the Baby language
(Chevalier-Boisvert et al. 2023).

The rules are those of minigrid's verifier, as far as an episode can depend on them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Verdict = Literal["success", "failure", "continue"]


class Moment(Protocol):
    """The state right after an action, as far as missions need it."""

    @property
    def action(self) -> str: ...

    @property
    def front(self) -> int:
        """The cell that the agent faces."""

    @property
    def facing(self) -> int:
        """The content of that cell, as in `Scene.cells`."""

    @property
    def opened(self) -> bool:
        """Whether the content is an open door."""

    @property
    def is_door(self) -> bool:
        """Whether the content is a door."""

    @property
    def carrying(self) -> int:
        """The thing that is carried, negative for none."""

    @property
    def where(self) -> Sequence[int]:
        """The cell of each thing; negative for a thing in no cell."""

    @property
    def known(self) -> Sequence[int]:
        """The cell where each thing was seen last: at first, or after the last drop."""

    @property
    def width(self) -> int:
        """Width of the grid."""


@dataclass(frozen=True)
class Description:
    """Words for things, and the things that they mean at the beginning."""

    kind: str
    """Empty for any."""
    color: str
    """Empty for any."""
    location: str
    """"left", "right", "front" or "behind" of where the agent began; empty for
    anywhere.
    """
    things: tuple[int, ...]

    def __str__(self) -> str:
        kind = self.kind or "object"
        words = [self.color, kind, LOCATIONS[self.location]]
        return " ".join(filter(None, words))


LOCATIONS = {
    "": "",
    "left": "on the left",
    "right": "on the right",
    "front": "in front",
    "behind": "behind",
}


@dataclass(frozen=True)
class GoTo:
    """Stand beside a thing and face it."""

    thing: Description

    def verdict(self, now: Moment, _before: int) -> Verdict:
        # A thing that was moved still counts where it was seen last.
        for one in self.thing.things:
            if now.known[one] == now.front:
                return "success"
        return "continue"


@dataclass(frozen=True)
class Open:
    """Open a door; if strict, toggling another door fails."""

    thing: Description
    strict: bool = False

    def verdict(self, now: Moment, _before: int) -> Verdict:
        if now.action != "toggle":
            return "continue"
        if now.opened and now.facing in self.thing.things:
            return "success"
        if self.strict and now.is_door:
            return "failure"
        return "continue"


@dataclass(frozen=True)
class Pickup:
    """Pick up a thing with empty hands; if strict, picking up another thing fails."""

    thing: Description
    strict: bool = False

    def verdict(self, now: Moment, before: int) -> Verdict:
        if now.action != "pickup":
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

    def verdict(self, now: Moment, before: int) -> Verdict:
        if self.strict and now.action == "pickup" and now.carrying >= 0:
            return "failure"
        if now.action != "drop" or before not in self.thing.things:
            return "continue"
        dropped = now.where[before]
        if dropped < 0:
            return "continue"

        y, x = divmod(dropped, now.width)
        for one in self.fixed.things:
            cell = now.known[one]
            if cell < 0:
                continue
            fixed_y, fixed_x = divmod(cell, now.width)
            if abs(fixed_x - x) + abs(fixed_y - y) == 1:
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


def stages(mission: Mission) -> tuple[tuple[int, ...], ...]:
    """List the stages of a mission, each with the indices of clauses that can be
    fulfilled in any order.
    """
    n_clauses = len(clauses(mission))
    if not isinstance(mission, InOrder):
        return (tuple(range(n_clauses)),)
    n_first = len(clauses(mission.first))
    return tuple(range(n_first)), tuple(range(n_first, n_clauses))


class Judge:
    """Follows one mission. The caller holds the state, `done` and `before` for each
    clause.
    """

    def __init__(self, mission: Mission) -> None:
        self.clauses = clauses(mission)
        self.stages = stages(mission)
        self._strict = isinstance(mission, InOrder) and mission.strict

    def follow(self, now: Moment, done: list[bool], before: list[int]) -> Verdict:
        """Judge the action that led to `now`, and update `done` and `before`."""
        for stage in self.stages:
            if not all(done[one] for one in stage):
                break
        last_stage = self.stages[-1]
        verdict = self._stage(stage, now, done, before)
        if stage is last_stage or verdict == "failure":
            return verdict

        # The action that fulfils the first stage also counts for the next.
        if verdict == "success":
            return self._stage(last_stage, now, done, before)

        if self._strict:
            nothing_done = [False] * len(done)
            too_early = self._stage(last_stage, now, nothing_done, before)
            if too_early == "success":
                return "failure"
        return "continue"

    def _stage(
        self, stage: tuple[int, ...], now: Moment, done: list[bool], before: list[int]
    ) -> Verdict:
        verdict: Verdict = "continue"
        for one in stage:
            if not done[one]:
                verdict = self.clauses[one].verdict(now, before[one])
                before[one] = now.carrying
                done[one] = verdict == "success"

        if all(done[one] for one in stage):
            return "success"
        # A clause that fails within a conjunction counts as not fulfilled, as in
        # minigrid.
        if len(stage) > 1:
            return "continue"
        return verdict
