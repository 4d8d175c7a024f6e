"""Twins of a recorded moment: the same map with one thing different, and the text that it would have been shown as.

A twin is chosen so that what is best in it is not best in truth, and differs as little as that allows: the goal, or
the agent, one cell over where that is enough, else as near as it must be; or one wall that is there or not.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import CellMap, Position
from gde.data.trajectory import Trajectory, Turn
from gde.data.view import moves
from gde.errors import GdeError
from gde_plugins.probes.map_policies import Believed
from gde_plugins.probes.scoring import Bools

Different = Literal["goal", "agent", "wall"]
DIFFERENT: tuple[Different, ...] = get_args(Different)


@dataclass(frozen=True, kw_only=True)
class Twin:
    """A moment that was not."""

    text: str
    """What would have been shown."""
    best: frozenset[str]
    """What is optimal in it, none of it being so in truth."""
    here: Position
    """Where the thing is in truth; of a wall, where it is added or taken away."""
    there: Position
    """Where it is in the twin."""


def twin_of(trajectory: Trajectory, turn: Turn, different: Different, rng: np.random.Generator) -> Twin | None:
    """The nearest twin of a turn, of several one at random; None where none calls for other actions.

    Raises:
        GdeError: the observation does not show the map, so there is no telling what a twin's would be.
    """
    assert turn.state is not None
    shown = CellMap.from_record(trajectory.world, turn.state)
    places = drawn_cells(turn.observation.text, _symbols(trajectory, shown))
    if places is None:
        raise GdeError(f"turn {turn.index} of episode {trajectory.key}: the observation does not show the whole map")
    agent, goal, free = shown.place_of("agent"), shown.place_of("goal"), ~shown.where("wall")
    cells = _candidates(different, free, {agent, goal})
    if not cells:
        return None
    truth = Believed(free=free[None], agent=np.array([agent]), goal=np.array([goal]))
    worlds = _worlds(different, truth, cells)
    named = moves(trajectory.world)
    best, best_now = worlds.optimal(named), truth.optimal(named)
    telling = np.flatnonzero(best.any(axis=1) & ~(best & best_now).any(axis=1))
    if not telling.size:
        return None
    origin = goal if different == "goal" else agent
    far = np.abs(np.array(cells)[telling] - origin).sum(axis=1)
    chosen = int(rng.choice(telling[far == far.min()]))
    here = {"goal": goal, "agent": agent, "wall": cells[chosen]}[different]
    text = _redrawn(turn.observation.text, places, trajectory, different, here, cells[chosen])
    actions = frozenset(name for name, ok in zip(named, best[chosen], strict=True) if ok)
    return Twin(text=text, best=actions, here=here, there=cells[chosen])


def drawn_cells(text: str, symbols: NDArray[np.str_]) -> Mapping[Position, int] | None:
    """Index in a text of every cell of a map (height, width) of symbols; None where it is not drawn there.

    A map is drawn by one line a row, of which the last symbols are its cells, with or without gaps between them.
    """
    lines, starts, start = text.split("\n"), list[int](), 0
    for line in lines:
        starts.append(start)
        start += len(line) + 1
    for first in range(len(lines) - len(symbols) + 1):
        rows = [_row(line, "".join(row)) for line, row in zip(lines[first:], symbols, strict=False)]
        if all(row is not None for row in rows):
            return {
                (y, x): starts[first + y] + place for y, row in enumerate(rows) if row for x, place in enumerate(row)
            }
    return None


def _row(line: str, wanted: str) -> list[int] | None:
    symbols = [(match[0], match.start()) for match in re.finditer(r"\S+", line)]
    last = symbols[-len(wanted) :]
    if "".join(symbol for symbol, _ in last) == wanted and len(last) == len(wanted):
        return [place for _, place in last]
    at = len(line.rstrip()) - len(wanted)
    return list(range(at, at + len(wanted))) if at >= 0 and line.rstrip().endswith(wanted) else None


def _symbols(trajectory: Trajectory, shown: CellMap) -> NDArray[np.str_]:
    """(height, width) as a map is drawn: its ground, and the letters of things."""
    symbols = _ground(trajectory)
    for thing in reversed(shown.things):
        if thing.kind:
            symbols[thing.place] = thing.letter
    return symbols


def _ground(trajectory: Trajectory) -> NDArray[np.str_]:
    rows = trajectory.world.facts["rows"]
    assert isinstance(rows, list | tuple)  # a map has been read from it
    return np.array([[*str(row)] for row in rows])


def _candidates(different: Different, free: Bools, taken: set[Position]) -> list[Position]:
    """The cells that the thing could be moved to, or that could be walls or no walls."""
    inner = np.zeros_like(free)
    inner[1:-1, 1:-1] = True
    cells = np.argwhere(inner if different == "wall" else free)
    return [(int(row), int(column)) for row, column in cells if (int(row), int(column)) not in taken]


def _worlds(different: Different, truth: Believed, cells: list[Position]) -> Believed:
    n, at = len(cells), np.array(cells, dtype=np.intp)
    free = np.repeat(truth.free, n, axis=0)
    if different == "wall":
        free[np.arange(n), at[:, 0], at[:, 1]] = ~free[np.arange(n), at[:, 0], at[:, 1]]
    every = Believed(free=free, agent=np.repeat(truth.agent, n, axis=0), goal=np.repeat(truth.goal, n, axis=0))
    if different == "wall":
        return every
    return replace(every, goal=at) if different == "goal" else replace(every, agent=at)


def _redrawn(
    text: str,
    places: Mapping[Position, int],
    trajectory: Trajectory,
    different: Different,
    here: Position,
    there: Position,
) -> str:
    ground, characters = _ground(trajectory), list(text)
    at = places[there]
    if different == "wall":
        others = ground[ground != ground[there]]
        characters[at] = str(others[0])
    else:
        characters[at] = characters[places[here]]
        characters[places[here]] = str(ground[here])
    return "".join(characters)
