"""A certified lower bound of the number of subgoals that fulfil a mission.

It is the exact least number in a relaxed problem: nothing that can be carried blocks
the way, and what was within reach once stays so. Doors and locks stop the agent as they
do in the world. Every clause is fulfilled by a subgoal of its own; a thing that the
agent happens to face on its way to another does not count.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from gde_plugins.babyai.oracle.distances import FAR
from gde_plugins.babyai.worlds.mission import Clause, GoTo, Open, Pickup, PutNext
from gde_plugins.babyai.worlds.scene import FREE, WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation

MOST = 5000
"""Relaxed states after which the cost of the cheapest open one is the bound."""


class _State(NamedTuple):
    """A moment of the relaxed problem."""

    faced: int
    """The thing that the agent faces; negative for none."""
    carrying: int
    opened: frozenset[int]
    """Doors that have stood open."""
    shut: int
    """The door among them that was closed last; negative for none."""
    moved: bool
    """Whether anything was put down."""
    done: tuple[bool, ...]


class _Relaxed:
    """The relaxed problem of one moment."""

    def __init__(self, now: Simulation) -> None:
        self._now = now
        self._judge = now.judge
        self._reach: dict[frozenset[int], frozenset[int]] = {}

        # Nothing else is worth facing or carrying if things block no way.
        wanted: set[int] = set()
        for clause in now.judge.clauses:
            wanted.update(clause.thing.things)
            if isinstance(clause, PutNext):
                wanted.update(clause.fixed.things)
        locked = set()
        for thing, door in enumerate(now.doors):
            if door >= 0:
                wanted.add(thing)
            if door == Door.LOCKED:
                locked.add(now.scene.things[thing].color)
        for thing, what in enumerate(now.scene.things):
            if what.kind == "key" and what.color in locked:
                wanted.add(thing)
        # A box may hold what is wanted.
        for thing, what in enumerate(now.scene.things):
            if what.contains in wanted:
                wanted.add(thing)
        self._wanted = frozenset(wanted)

    @property
    def start(self) -> _State:
        now = self._now
        doors = enumerate(now.doors)
        opened = frozenset(door for door, state in doors if state == Door.OPEN)
        faced = now.faced if now.faced in self._wanted else -1
        carrying = now.carrying if now.carrying in self._wanted else -1
        return _State(faced, carrying, opened, -1, False, tuple(now.done))

    def moves(self, state: _State) -> Iterator[_State]:
        """Yield what one subgoal leads to."""
        for thing in self._within_reach(state.opened):
            if thing != state.faced:
                yield self._judged(state._replace(faced=thing), "go")
        yield from self._by_hand(state)

    def _by_hand(self, state: _State) -> Iterator[_State]:
        thing = state.faced
        if state.carrying >= 0:
            down = state._replace(carrying=-1, faced=state.carrying, moved=True)
            yield self._judged(down, "drop", self._is_near(state))
        if thing < 0:
            return
        door = self._now.doors[thing]
        if door < 0:
            if state.carrying < 0:
                yield self._judged(state._replace(carrying=thing), "pickup")
        elif thing in state.opened and thing != state.shut:
            yield state._replace(shut=thing)
        elif thing == state.shut or door != Door.LOCKED or self._has_key(state):
            opened = state._replace(opened=state.opened | {thing}, shut=-1)
            yield self._judged(opened, "open")

    def _is_near(self, state: _State) -> bool:
        """Whether a thing that is dropped now may lie beside the one it belongs to.

        The agent faces that one, or has just picked the thing up beside it.
        """
        now = self._now
        if state.faced < 0 or (state.faced == state.carrying and state.moved):
            return True
        for clause in self._judge.clauses:
            if not isinstance(clause, PutNext):
                continue
            if state.faced in clause.fixed.things:
                return True
            if state.faced == state.carrying:
                cell = now.where[state.carrying]
                near = [
                    now.are_adjacent(cell, now.known[one])
                    for one in clause.fixed.things
                ]
                if cell < 0 or any(near):
                    return True
        return False

    def _has_key(self, state: _State) -> bool:
        """Whether the key of the door ahead is carried."""
        if state.carrying < 0:
            return False
        held = self._now.scene.things[state.carrying]
        color = self._now.scene.things[state.faced].color
        return held.kind == "key" and held.color == color

    def _judged(self, state: _State, what: str, near: bool = False) -> _State:
        """Mark the clauses that are fulfilled, those of the first stage first."""
        done = list(state.done)
        for stage in self._judge.stages:
            for one in stage:
                clause = self._judge.clauses[one]
                done[one] = done[one] or _fulfilled(clause, state, what, near)
            if not all(done[one] for one in stage):
                break
        return state._replace(done=tuple(done))

    def _within_reach(self, opened: frozenset[int]) -> frozenset[int]:
        """The wanted things that can be faced with these doors open."""
        if opened not in self._reach:
            self._reach[opened] = self._explored(opened)
        return self._reach[opened]

    def _explored(self, opened: frozenset[int]) -> frozenset[int]:
        now = self._now
        touched: set[int] = set()
        seen = {now.position}
        border = [now.position]
        for cell in border:
            for step in now.scene.steps:
                content = now.cells[cell + step]
                if content == WALL or cell + step in seen:
                    continue
                if content != FREE:
                    touched.add(content)
                    held = now.scene.things[content].contains
                    if held >= 0:
                        touched.add(held)
                    if now.doors[content] >= 0 and content not in opened:
                        continue
                seen.add(cell + step)
                border.append(cell + step)
        return frozenset(touched & self._wanted)


def _fulfilled(clause: Clause, state: _State, what: str, near: bool) -> bool:
    if state.faced not in clause.thing.things:
        return False
    match clause:
        case GoTo():
            # To drop a thing is to face it.
            return what in ("go", "drop")
        case Open():
            return what == "open"
        case Pickup():
            return what == "pickup"
        case PutNext():
            return what == "drop" and near


def least_subgoals(now: Simulation, most: int = MOST) -> int:
    """Return a lower bound of the subgoals that fulfil the mission, at least 1.

    Args:
        now: the moment.
        most: relaxed states to look at; the bound is weaker if they do not suffice.
    """
    relaxed = _Relaxed(now)
    order = count()
    start = relaxed.start
    queue = [(0, next(order), start)]
    cost_of = {start: 0}
    bound = 0
    while queue and len(cost_of) <= most:
        cost, _, state = heappop(queue)
        bound = cost
        if all(state.done):
            break
        for after in relaxed.moves(state):
            if cost + 1 < cost_of.get(after, FAR):
                cost_of[after] = cost + 1
                heappush(queue, (cost + 1, next(order), after))
    return max(bound, 1)
