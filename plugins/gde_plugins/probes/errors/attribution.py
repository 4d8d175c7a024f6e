"""The cause of an action that is not optimal, from all that is known of its turn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from gde.data.cell_map import CellMap, Position
from gde.data.trajectory import Trajectory, Turn
from gde.data.view import moves
from gde_plugins.probes.arrays import Bools, Codes
from gde_plugins.probes.errors.said import Said, is_free
from gde_plugins.probes.maps.held_out import recorded_map
from gde_plugins.probes.maps.policies import Believed, Moves, top

Cause = Literal["unreadable", "belief", "stated", "goal", "plan", "slip", "unexplained"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
"""In the order in which they are tried: the first that explains an action has it."""


@dataclass(frozen=True, kw_only=True)
class Explained:
    """A cause with its evidence."""

    cause: Cause
    evidence: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Erring:
    """A turn whose action is not optimal, and what would explain which actions."""

    episode: str
    index: int
    world: str
    """The cluster of its world."""
    action: str | None
    detail: str
    """Why no action can be read."""
    wrong: tuple[str, ...]
    """All actions that are not optimal."""
    probabilities: Mapping[str, float]
    """Of actions, as the agent tells them."""
    decoded: frozenset[str] = frozenset()
    """Actions that are optimal on the decoded map."""
    stated: Mapping[str, str] = field(default_factory=dict)
    """Actions that follow from false statements, with what is false."""
    towards: Mapping[str, str] = field(default_factory=dict)
    """Actions on a shortest path to something that is not the goal, with its name."""
    planned: Mapping[str, str] = field(default_factory=dict)
    """The first step of a stated path that arrives, with the path's length."""
    begun: str = ""
    """The first step of the stated path; empty without a path."""
    states: bool = False
    """Whether the answer states anything of the world."""
    has_others: bool = False
    """Whether there is something other than the goal to go to."""

    @property
    def key(self) -> tuple[str, int]:
        return self.episode, self.index

    def explained(self) -> Explained:
        """The first cause that explains the turn."""
        if self.action is None:
            return Explained(cause="unreadable", evidence=self.detail)
        return self.explaining(self.action)

    def explaining(self, action: str) -> Explained:
        """The first cause that would explain another action in this turn."""
        if action in self.decoded:
            return Explained(cause="belief", evidence="optimal on the decoded map")
        if action in self.stated:
            return Explained(cause="stated", evidence=self.stated[action])
        if action in self.towards:
            return Explained(cause="goal", evidence=self.towards[action])
        if action in self.planned:
            return Explained(cause="plan", evidence=self.planned[action])
        if slip := self._slip(action):
            return Explained(cause="slip", evidence=slip)
        return Explained(cause="unexplained")

    def _slip(self, action: str) -> str:
        own = self.probabilities.get(action, 0.0)
        likelier = max(
            self.probabilities, key=self.probabilities.__getitem__, default=""
        )
        if likelier and self.probabilities[likelier] > own:
            most = self.probabilities[likelier]
            return f"{likelier} was likelier, {most:.0%} against {own:.0%}"
        if self.begun and self.begun != action:
            return f"its path begins with {self.begun}"
        return ""


def erring_turns(trajectory: Trajectory, pattern: str) -> Iterator[Erring]:
    """The turns whose action is not among the certified optimal ones.

    Args:
        trajectory: a finished episode.
        pattern: of statements in the reasoning, see `Said.of`.
    """
    known = moves(trajectory.world)
    earlier: dict[Position, str] = {}
    for turn in trajectory.turns:
        true = placed_map(trajectory, turn)
        optimal = turn.optimal
        if optimal is not None and turn.decision.action not in optimal:
            yield _erring(trajectory, turn, true, known, pattern, earlier)
        if true is not None:
            row, column = true.place_of("goal")
            earlier[row, column] = f"the earlier goal at {row},{column}"


def _erring(
    trajectory: Trajectory,
    turn: Turn,
    true: CellMap | None,
    known: Moves,
    pattern: str,
    earlier: Mapping[Position, str],
) -> Erring:
    decision = turn.decision
    actions = turn.observation.actions or tuple(known)
    one = Erring(
        episode=str(trajectory.key),
        index=turn.index,
        world=trajectory.world.cluster,
        action=decision.action,
        detail=decision.detail or decision.status,
        wrong=tuple(each for each in actions if each not in (turn.optimal or ())),
        probabilities=decision.probabilities,
    )
    if true is None or not known:
        return one

    said = Said.of(decision, pattern, true)
    begun = first_step(said.path[:2], known)
    planned = {}
    if begun and _arrives(said, true, known):
        length = len(said.path) - 1
        planned = {begun: f"its path reaches the goal in {length} steps"}

    others = _others(true, earlier)
    towards: dict[str, str] = {}
    for place, name in others.items():
        for action in _optimal(
            ~true.where("wall"), true.place_of("agent"), place, known
        ):
            towards.setdefault(action, f"optimal towards {name}")
    return replace(
        one,
        stated=_following(said, true, known, begun),
        towards=towards,
        planned=planned,
        begun=begun,
        states=not said.is_empty,
        has_others=bool(others),
    )


def _others(true: CellMap, earlier: Mapping[Position, str]) -> dict[Position, str]:
    """Places to go to that are not the goal: earlier goals, and other things."""
    others = dict(earlier)
    for thing in true.things:
        others[thing.place] = thing.name
    own = (true.place_of("agent"), true.place_of("goal"))
    return {place: name for place, name in others.items() if place not in own}


def placed_map(trajectory: Trajectory, turn: Turn) -> CellMap | None:
    """The true map of a turn; None where none with agent and goal is recorded."""
    true = recorded_map(trajectory, turn)
    if true is None or "wall" not in true.kinds:
        return None
    placed = {thing.name for thing in true.things}
    return true if {"agent", "goal"} <= placed else None


def _optimal(free: Bools, agent: Position, goal: Position, known: Moves) -> set[str]:
    opened = free.copy()
    opened[agent] = True
    opened[goal] = True
    believed = Believed(
        free=opened[None], agent=np.array([agent]), goal=np.array([goal])
    )
    best = believed.optimal(known)[0]
    return {action for action, is_best in zip(known, best, strict=True) if is_best}


def _following(said: Said, true: CellMap, known: Moves, begun: str) -> dict[str, str]:
    """Actions that follow from what is said, if some of it is false."""
    false = said.false_places(true)
    if not false:
        return {}
    follow = {begun} - {""} | optimal_as_said(said, true, known)
    return dict.fromkeys(follow, f"says {'; '.join(false)}")


def optimal_as_said(said: Said, true: CellMap, known: Moves) -> set[str]:
    """Actions that are optimal on the stated places, or on the stated map.

    What is not said is as it is.
    """
    follow = set()
    places = [said.places.get(name, true.place_of(name)) for name in ("agent", "goal")]
    agent, goal = places
    if all(row < true.height and column < true.width for row, column in places):
        follow |= _optimal(~true.where("wall"), agent, goal, known)
    if said.cells is not None:
        follow |= _optimal_on(said.cells, true, known)
    return follow


def _optimal_on(cells: Codes, true: CellMap, known: Moves) -> set[str]:
    """Actions that are optimal on a stated map; none unless it has agent and goal."""
    codes = [true.kinds.index(kind) for kind in ("agent", "goal")]
    if not all((cells == code).any() for code in codes):
        return set()
    agent, goal = (tuple(top((cells == code)[None])[0].tolist()) for code in codes)
    return _optimal(cells != true.kinds.index("wall"), agent, goal, known)


def first_step(cells: tuple[Position, ...], known: Moves) -> str:
    """The action that leads from the first cell to the second; empty if none does."""
    if len(cells) < 2:
        return ""
    (row, column), (then_row, then_column) = cells
    moved = (then_row - row, then_column - column)
    for action, move in known.items():
        if tuple(move) == moved:
            return action
    return ""


def _arrives(said: Said, true: CellMap, known: Moves) -> bool:
    """Whether a path leads from the agent to the goal by moves over free cells."""
    path = said.path
    ends = (true.place_of("agent"), true.place_of("goal"))
    if (path[0], path[-1]) != ends or not all(is_free(true, cell) for cell in path):
        return False
    return all(first_step(pair, known) for pair in pairwise(path))
