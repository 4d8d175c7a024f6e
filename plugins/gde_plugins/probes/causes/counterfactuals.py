"""Counterfactuals of a recorded turn: the same map with one change, and its text.

A counterfactual is chosen so that none of its optimal actions is optimal in truth, and
so that it differs as little as that allows: the goal or the agent as near to its true
place as possible, or a single wall added or removed. Another thing, which no optimum
follows, moves as if it were the goal.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import CellMap, Position, Thing
from gde.data.trajectory import Trajectory, Turn
from gde.data.view import moves
from gde.errors import GdeError
from gde_plugins.probes.arrays import Bools
from gde_plugins.probes.maps.policies import Believed

Different = str
"""The goal, the agent, a wall, or the name of another thing on the map."""


@dataclass(frozen=True, kw_only=True)
class Counterfactual:
    """A counterfactual of a turn."""

    text: str
    """The observation."""
    best: frozenset[str]
    """Its optimal actions; none is optimal in truth."""
    here: Position
    """True place of the thing; for a wall, the cell where it is added or removed."""
    there: Position
    """Counterfactual place of the thing."""
    true: Mapping[str, Position] = field(default_factory=dict)
    """True places of agent and goal."""


def counterfactual_of(
    trajectory: Trajectory,
    turn: Turn,
    different: Different,
    rng: np.random.Generator,
) -> Counterfactual | None:
    """Choose the nearest counterfactual of a turn, at random among equally near ones.

    Returns:
        None where no counterfactual calls for other actions, or the thing is not seen.

    Raises:
        GdeError: the observation does not show the whole map, so that it cannot be
            redrawn.
    """
    assert turn.state is not None
    shown = CellMap.from_record(trajectory.world, turn.state)
    text = turn.observation.text
    things: Sequence[Thing] = shown.things
    places = drawn_cells(text, _symbols(trajectory, things))
    if places is None:
        # Those that leave their cell as it is may not be drawn.
        things = [thing for thing in things if thing.kind]
        places = drawn_cells(text, _symbols(trajectory, things))
    if places is None:
        raise GdeError(
            f"turn {turn.index} of episode {trajectory.key}: the observation does not show the whole map"
        )

    agent = shown.place_of("agent")
    goal = shown.place_of("goal")
    # The first thing of a cell covers the others.
    name_at = {thing.place: thing.name for thing in reversed(things)}
    place_of = {name: place for place, name in name_at.items()}
    free = ~shown.where("wall")
    cells = _candidates(different, free, {agent, goal, *name_at})
    if not cells or different not in {*place_of, "wall"}:
        return None

    # Counterfactuals are distinguished by their optimal actions, so all candidates are
    # solved at once.
    actions = moves(trajectory.world)
    truth = Believed(free=free[None], agent=np.array([agent]), goal=np.array([goal]))
    best_in_truth = truth.optimal(actions)
    if different in place_of:
        # Nor must it be a way to where the thing is.
        followed = replace(truth, goal=np.array([place_of[different]]))
        best_in_truth |= followed.optimal(actions)
    candidates = _candidate_worlds(different, truth, cells)
    best = candidates.optimal(actions)

    # A shared optimal action could not tell whether the agent believes the truth or the
    # counterfactual.
    solvable = best.any(axis=1)
    shares_optimum = (best & best_in_truth).any(axis=1)
    telling = np.flatnonzero(solvable & ~shares_optimum)
    if not telling.size:
        return None

    origin = place_of.get(different, agent)
    apart = np.array(cells)[telling] - origin
    distances = np.abs(apart).sum(axis=1)
    nearest = telling[distances == distances.min()]
    chosen = int(rng.choice(nearest))

    there = cells[chosen]
    here = place_of.get(different, there)
    redrawn = _redrawn(text, places, _ground(trajectory), different, here, there)
    optimal = frozenset(np.array([*actions])[best[chosen]].tolist())
    return Counterfactual(
        text=redrawn,
        best=optimal,
        here=here,
        there=there,
        true={"agent": agent, "goal": goal},
    )


def are_shown(
    trajectory: Trajectory, turn: Turn, things: Collection[Different]
) -> bool:
    """Whether all things are on the map of a turn; walls always are."""
    assert turn.state is not None
    shown = CellMap.from_record(trajectory.world, turn.state)
    return {"wall", *(thing.name for thing in shown.things)}.issuperset(things)


def drawn_cells(text: str, symbols: NDArray[np.str_]) -> Mapping[Position, int] | None:
    """Find where a text draws a map (height, width) of symbols; None where it does not.

    A map is drawn with one line a row, whose last symbols are the cells, with or
    without gaps between them.

    Returns:
        The index in the text of every cell.
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    height = len(symbols)
    for first in range(len(lines) - height + 1):
        found: dict[Position, int] = {}
        n_rows = 0
        for y, wanted in enumerate(symbols):
            row = _drawn_row(lines[first + y], "".join(wanted))
            if row is None:
                break
            n_rows += 1
            for x, index in enumerate(row):
                found[y, x] = starts[first + y] + index
        if n_rows == height:
            return found
    return None


def _drawn_row(line: str, wanted: str) -> list[int] | None:
    """Return the indices in a line of its last symbols, if these are the wanted ones."""
    # With gaps between the cells, each is a word of its own.
    width = len(wanted)
    words = [*re.finditer(r"\S+", line)]
    last = words[-width:]
    drawn = "".join(word[0] for word in last)
    if len(last) == width and drawn == wanted:
        return [word.start() for word in last]

    # Without gaps, the row ends the line.
    line = line.rstrip()
    start = len(line) - width
    if start < 0 or not line.endswith(wanted):
        return None
    return list(range(start, len(line)))


def _symbols(trajectory: Trajectory, things: Sequence[Thing]) -> NDArray[np.str_]:
    """(height, width) symbols of a map: its ground, and the letters of things."""
    symbols = _ground(trajectory)
    for thing in reversed(things):
        if thing.letter:
            symbols[thing.place] = thing.letter
    return symbols


def _ground(trajectory: Trajectory) -> NDArray[np.str_]:
    """(height, width) symbols of walls and free cells."""
    rows = trajectory.world.facts["rows"]
    assert isinstance(rows, list | tuple)  # a map has been read from it
    return np.array([[*str(row)] for row in rows])


def _candidates(
    different: Different, free: Bools, taken: set[Position]
) -> list[Position]:
    """Cells that the thing could move to, or whose wall could be added or removed."""
    possible = free
    if different == "wall":
        # The border of a map stays closed.
        possible = np.zeros_like(free)
        possible[1:-1, 1:-1] = True

    cells = []
    for row, column in np.argwhere(possible).tolist():
        if (row, column) not in taken:
            cells.append((row, column))
    return cells


def _candidate_worlds(
    different: Different, truth: Believed, cells: list[Position]
) -> Believed:
    """One world for each candidate cell."""
    n = len(cells)
    at = np.array(cells, dtype=np.intp)
    rows, columns = at.T
    worlds = Believed(
        free=np.repeat(truth.free, n, axis=0),
        agent=np.repeat(truth.agent, n, axis=0),
        goal=np.repeat(truth.goal, n, axis=0),
    )
    if different == "agent":
        return replace(worlds, agent=at)
    if different != "wall":
        return replace(worlds, goal=at)

    # A wall is added where there is none, and removed where there is one.
    free = worlds.free.copy()
    free[np.arange(n), rows, columns] ^= True
    return replace(worlds, free=free)


def _redrawn(
    text: str,
    places: Mapping[Position, int],
    ground: NDArray[np.str_],
    different: Different,
    here: Position,
    there: Position,
) -> str:
    """The text of an observation with the thing at its counterfactual place."""
    characters = list(text)
    if different == "wall":
        # The other symbol of the ground: free where there was a wall, a wall where it
        # was free.
        others = ground[ground != ground[there]]
        characters[places[there]] = str(others[0])
    else:
        characters[places[there]] = characters[places[here]]
        characters[places[here]] = str(ground[here])
    return "".join(characters)
