"""Maps as inline SVG. Colours come from the page's style sheet, so they follow light and dark.

Names of kinds and things come from the record of a run: they are escaped, and no style is made of them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import cycle
from math import atan2, degrees

import numpy as np
from markupsafe import escape
from numpy.typing import NDArray

from gde.data.cell_map import COLORS, PAD, CellMap, Position, Thing, decoded_classes

GAP = 0.04
"""Between cells, in cells."""
SHADES = 4
"""Steps in which a cell's probability shows as opacity."""
TONES: Mapping[str, str] = {"empty": "free", "wall": "wall", "agent": "agent", "goal": "goal", PAD: "outside"}
SPARE_TONES = tuple(f"spare{index}" for index in range(8))
"""For all other kinds in turn, in their order."""
AGENT = "agent"
"""The thing that moves are drawn from."""
MARKS = OPTIMAL, TAKEN, PLACES = "optimal moves", "move taken, not optimal", "true places, in the decoded map"
"""What a legend ends with."""
OUTSIDE = "outside"
"""What a reader is told that `PAD` is."""
ARROW = '<path class="arrow {}" d="M0 0H1.7M1.4-.25L1.7 0 1.4 .25"/>'
RINGS = '<circle class="ring tone-agent" cx=".3" r=".4"/><circle class="ring tone-goal" cx="1.35" r=".4"/>'
Keys = Mapping[str, str]
"""A legend: what something means, and its picture."""


def true_picture(shown: CellMap, optimal: Sequence[Position], taken: Position | None) -> str:
    """The map with its things, the optimal moves, and the move taken where it is not one of them.

    Args:
        shown: the truth.
        optimal: (rows, columns) moved by each optimal action.
        taken: by the action taken, None where it is no move.
    """
    seen, tones = _seen(shown), dict(zip(shown.kinds, _tones(shown.kinds), strict=True))
    here = [thing.place for thing in seen if thing.name == AGENT]
    parts = [
        *_cells(_coloured(shown), np.full(shown.codes.shape, SHADES), [*tones.values(), *COLORS]),
        *(_arrow(place, move, "best") for place in here for move in optimal),
        *(_arrow(place, taken, "stray") for place in here if taken and taken not in optimal),
        *(_pointer(thing.place, thing.direction) for thing in seen if thing.direction),
        *(_letter(thing.place, thing.letter, _style(thing, tones), _named(thing)) for thing in seen if thing.letter),
    ]
    told = [_named(thing, f" at {thing.place}") for thing in shown.things]
    label = f"True map, {shown.height} by {shown.width}: {', '.join(told) or 'nothing on it'}"
    return _svg(shown.height, shown.width, label, parts)


def decoded_picture(probabilities: NDArray[np.float32], shown: CellMap) -> str:
    """The likeliest class of every cell, the likeliest places of things, and rings around the true ones.

    Args:
        probabilities: (size, size, C) in the order of `decoded_classes`, of which the map's own extent is drawn.
        shown: the truth.
    """
    inside = probabilities[: shown.height, : shown.width]
    shades = np.clip(np.ceil(inside.max(axis=-1) * SHADES), 1, SHADES).astype(np.int64)
    tones = _tones(decoded_classes(shown.kinds))
    found = decoded_places(probabilities, shown)
    letters: defaultdict[Position, list[str]] = defaultdict(list)
    for thing, place in found:
        letters[place].append(thing.letter)
    parts = [
        *_cells(inside.argmax(axis=-1), shades, tones),
        *(_ring(one.place, tones[shown.kinds.index(one.kind)]) for one in shown.things if one.kind),
        *(_letter(place, "/".join(filter(None, several))) for place, several in letters.items()),
    ]
    told = ", ".join(f"{thing.name} likeliest at {place}" for thing, place in found)
    return _svg(shown.height, shown.width, f"Decoded map: {told or 'no thing to be placed'}", parts)


def decoded_places(probabilities: NDArray[np.float32], shown: CellMap) -> list[tuple[Thing, Position]]:
    """Where each thing that is the only one of its kind is likeliest, anywhere in what was decoded."""
    of_kind = Counter(thing.kind for thing in shown.things)
    single = [thing for thing in shown.things if thing.kind and of_kind[thing.kind] == 1]
    return [(thing, _top(probabilities[..., shown.kinds.index(thing.kind)])) for thing in single]


def legend(
    shown: CellMap, optimal: Sequence[Position], taken: Position | None, probabilities: NDArray[np.float32] | None
) -> Keys:
    """What is to be seen in the two pictures of a turn, in the order of the map's kinds; arguments are as of them."""
    inside = None if probabilities is None else probabilities[: shown.height, : shown.width].argmax(axis=-1)
    true = [code for code in np.unique(_coloured(shown)).tolist() if code < len(shown.kinds)]
    codes = np.union1d(true, () if inside is None else inside).astype(np.int64).tolist()
    keys = dict(_swatch(shown, code) for code in codes)
    named = [thing for thing in _seen(shown) if thing.letter and (thing.color or not thing.kind)]
    keys |= dict(sorted(map(_thing_swatch, named)))
    if optimal:
        keys[OPTIMAL] = _key(ARROW.format("best"))
    if taken and taken not in optimal:
        keys[TAKEN] = _key(ARROW.format("stray"))
    if inside is not None:
        keys[PLACES] = _key(RINGS)
    return keys


def _swatch(shown: CellMap, code: int) -> tuple[str, str]:
    """The name of a class, and one cell of it, with the letter that all things of the kind have in common."""
    classes = decoded_classes(shown.kinds)
    letters = {thing.letter for thing in shown.things if thing.kind == classes[code]}
    square = _cells(np.full((1, 1), code), np.full((1, 1), SHADES), _tones(classes))
    name = OUTSIDE if classes[code] == PAD else classes[code]
    return name, _svg(1, 1, name, [*square, *(_letter((0, 0), letter) for letter in letters if len(letters) == 1)])


def _thing_swatch(thing: Thing) -> tuple[str, str]:
    """The colour and kind of a thing, or its name where it is of no kind, and how it is drawn."""
    name = " ".join(filter(None, (thing.color, thing.kind or thing.name)))
    square = _cells(np.zeros((1, 1), np.int64), np.full((1, 1), SHADES), [thing.color]) if thing.kind else ()
    return name, _svg(1, 1, name, [*square, _letter((0, 0), thing.letter, _style(thing, {}))])


def _key(drawing: str) -> str:
    return f'<svg class="key" viewBox="-.2 -.5 2.2 1" aria-hidden="true">{drawing}</svg>'


def _tones(classes: Sequence[str]) -> list[str]:
    """The style of each class of cells."""
    spare = cycle(SPARE_TONES)
    return [TONES.get(name) or next(spare) for name in classes]


def _seen(shown: CellMap) -> list[Thing]:
    """The first thing of every cell."""
    first: dict[Position, Thing] = {}
    for thing in shown.things:
        first.setdefault(thing.place, thing)
    return list(first.values())


def _coloured(shown: CellMap) -> NDArray[np.int64]:
    """(height, width) index into the map's kinds and, after them, `COLORS`."""
    codes = shown.codes.copy()
    for thing in _seen(shown):
        if thing.kind and thing.color:
            codes[thing.place] = len(shown.kinds) + COLORS.index(thing.color)
    return codes


def _top(probabilities: NDArray[np.float32]) -> Position:
    """The cell where a class is likeliest."""
    row, column = divmod(int(probabilities.argmax()), probabilities.shape[1])
    return row, column


def _svg(height: int, width: int, label: str, parts: Iterable[str]) -> str:
    box = f'class="grid" viewBox="0 0 {width} {height}"'
    return f'<svg {box} role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _cells(codes: NDArray[np.int64], shades: NDArray[np.int64], tones: Sequence[str]) -> Iterator[str]:
    """One path for all cells of a class and shade: a page holds tens of thousands of cells."""
    paths: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for (row, column), code in np.ndenumerate(codes):
        paths[int(code), int(shades[row, column])].append(_square(row, column))
    for (kind, shade), squares in sorted(paths.items()):
        yield f'<path class="cell tone-{tones[kind]} shade{shade}" d="{"".join(squares)}"/>'


@cache
def _square(row: int, column: int) -> str:
    """A cell as part of a path; maps of a run have the same few thousand times."""
    width = 1 - 2 * GAP
    return f"M{column + GAP:g} {row + GAP:g}h{width:g}v{width:g}h-{width:g}z"


def _named(thing: Thing, where: str = "") -> str:
    """The thing in words, its colour and kind among them."""
    looks = f"{thing.color} {thing.kind}".strip() if thing.color else ""
    more = ", ".join(filter(None, ("" if looks in thing.name else looks, thing.note)))
    return f"{thing.name}{where} ({more})" if more else f"{thing.name}{where}"


def _letter(place: Position, letter: str, style: str = "", name: str = "") -> str:
    """A letter in a cell; a name is told to whoever points at it."""
    small = " small" if len(letter) > 1 else ""
    where = f'x="{place[1] + 0.5}" y="{place[0] + 0.5}"'
    title = f"<title>{escape(name)}</title>" if name else ""
    return f'<text class="{f"letter{small} {style}".rstrip()}" {where}>{title}{escape(letter)}</text>'


def _style(thing: Thing, tones: Mapping[str, str]) -> str:
    if thing.color:
        return f"tone-{thing.color}"
    return f"tone-{tones[thing.kind]}" if thing.kind else "object"


def _ring(place: Position, tone: str) -> str:
    # On a cell of its own colour a ring is seen by the casing.
    circle = f'cx="{place[1] + 0.5}" cy="{place[0] + 0.5}" r=".44"'
    return f'<circle class="ring casing" {circle}/><circle class="ring tone-{tone}" {circle}/>'


def _arrow(place: Position, move: Position, style: str) -> str:
    # The wider first stroke keeps the arrow legible on walls.
    strokes = (f'<path class="arrow {each}" d="M.52 0H1.2M.95-.22L1.22 0 .95.22"/>' for each in ("casing", style))
    return f'<g transform="{_turned(place, move)}">{"".join(strokes)}</g>'


def _pointer(place: Position, direction: Position) -> str:
    """A tip on the edge of the cell that a thing faces."""
    return f'<path class="pointer" transform="{_turned(place, direction)}" d="M.4-.26L.68 0 .4.26z"/>'


def _turned(place: Position, direction: Position) -> str:
    """From the middle of a cell, to the right being the way of `direction`."""
    return f"translate({place[1] + 0.5} {place[0] + 0.5}) rotate({round(degrees(atan2(*direction)))})"
