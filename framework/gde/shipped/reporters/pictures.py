"""Drawings as inline SVG. Colours come from the page's style sheet, so they follow light and dark."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import atan2, degrees
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from gde.data.grid import Cell, Grid, Position
from gde.numerics.stats import Interval

LETTERS: Mapping[Cell, str] = {Cell.AGENT: "A", Cell.GOAL: "G"}
GAP = 0.04
"""Between cells, in cells."""
NOTHING: Mapping[Position, str] = MappingProxyType({})
SHADES = 4
"""Steps in which a cell's probability shows as opacity."""


def true_picture(
    grid: Grid,
    size: int,
    optimal: Sequence[Position],
    taken: Position | None,
    objects: Mapping[Position, str] = NOTHING,
) -> str:
    """The grid with its agent, goal and objects, the optimal moves, and the move taken where it is not one of them.

    Args:
        grid: the truth.
        size: rows and columns to draw.
        optimal: (rows, columns) moved by each optimal action.
        taken: by the action taken, None where it is no move.
        objects: their letters by their places.
    """
    parts = [
        *_cells(grid.cells(size), np.full((size, size), SHADES)),
        *(_arrow(grid.agent, move, "best") for move in optimal),
        *([_arrow(grid.agent, taken, "stray")] if taken and taken not in optimal else []),
        _letter(grid.agent, "A"),
        _letter(grid.goal, "G"),
        *(
            _letter(place, letter, "object")
            for place, letter in objects.items()
            if place not in {grid.agent, grid.goal}
        ),
    ]
    places = {"agent": grid.agent, "goal": grid.goal, **{letter: place for place, letter in objects.items()}}
    told = ", ".join(f"{name} at {place}" for name, place in places.items())
    return _svg(size, f"True grid, {len(grid.rows)} by {len(grid.rows[0])}: {told}", parts)


def decoded_picture(probabilities: NDArray[np.float32], grid: Grid, size: int) -> str:
    """The likeliest class of every cell, the likeliest places of agent and goal, and rings around the true ones.

    Args:
        probabilities: (height, width, classes), classes in the order of `Cell`.
        grid: the truth.
        size: rows and columns to draw.
    """
    shown = probabilities[:size, :size]
    shades = np.clip(np.ceil(shown.max(axis=-1) * SHADES), 1, SHADES).astype(np.int64)
    agent, goal = top(probabilities, Cell.AGENT), top(probabilities, Cell.GOAL)
    letters = [_letter(agent, "A/G")] if agent == goal else [_letter(agent, "A"), _letter(goal, "G")]
    parts = [*_cells(shown.argmax(axis=-1), shades), _ring(grid.agent, "agent"), _ring(grid.goal, "goal"), *letters]
    return _svg(size, f"Decoded map: agent likeliest at {agent}, goal likeliest at {goal}", parts)


def top(probabilities: NDArray[np.float32], cell: Cell) -> Position:
    """The cell where a class is likeliest."""
    row, column = divmod(int(probabilities[..., cell].argmax()), probabilities.shape[1])
    return row, column


def interval_picture(value: float, interval: Interval | None) -> str:
    """A share between 0 and 1 as a dot, with its interval where there is one."""
    axis = '<path class="axis" d="M0 6h100M0 4v4M50 4v4M100 4v4"/>'
    bar = f'<path class="bar" d="M{100 * interval[0]:.1f} 6H{100 * interval[1]:.1f}"/>' if interval else ""
    dot = f'<circle cx="{100 * value:.1f}" cy="6" r="2.6"/>'
    return f'<svg class="whisker" viewBox="-3 0 106 12" aria-hidden="true">{axis}{bar}{dot}</svg>'


def swatch(cell: Cell) -> str:
    """One cell for the legend."""
    square = _cells(np.full((1, 1), cell), np.full((1, 1), SHADES))
    letters = [_letter((0, 0), letter) for code, letter in LETTERS.items() if code == cell]
    return _svg(1, cell.name.lower(), [*square, *letters])


def _svg(size: int, label: str, parts: Iterable[str]) -> str:
    return f'<svg class="grid" viewBox="0 0 {size} {size}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _cells(classes: NDArray[np.int64], shades: NDArray[np.int64]) -> Iterable[str]:
    """One path for all cells of a class and shade: a page holds tens of thousands of cells."""
    paths: dict[tuple[int, int], list[str]] = defaultdict(list)
    width = 1 - 2 * GAP
    for (row, column), code in np.ndenumerate(classes):
        square = f"M{column + GAP:g} {row + GAP:g}h{width:g}v{width:g}h-{width:g}z"
        paths[int(code), int(shades[row, column])].append(square)
    return (f'<path class="cell{code} shade{shade}" d="{"".join(d)}"/>' for (code, shade), d in sorted(paths.items()))


def _letter(place: Position, letter: str, kind: str = "") -> str:
    small = " small" if len(letter) > 1 else ""
    return f'<text class="{f"letter{small} {kind}".rstrip()}" x="{place[1] + 0.5}" y="{place[0] + 0.5}">{letter}</text>'


def _ring(place: Position, name: str) -> str:
    return f'<circle class="ring {name}" cx="{place[1] + 0.5}" cy="{place[0] + 0.5}" r=".44"/>'


def _arrow(place: Position, move: Position, kind: str) -> str:
    turn = round(degrees(atan2(*move)))
    centre = f"translate({place[1] + 0.5} {place[0] + 0.5}) rotate({turn})"
    # The wider first stroke keeps the arrow legible on walls.
    strokes = (f'<path class="arrow {name}" d="M.52 0H1.2M.95-.22L1.22 0 .95.22"/>' for name in ("casing", kind))
    return f'<g transform="{centre}">{"".join(strokes)}</g>'
