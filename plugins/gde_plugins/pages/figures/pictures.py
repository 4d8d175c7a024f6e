"""Maps as inline SVG.

Colours come from the page's style sheet, so they follow light and dark mode.

Names of kinds and things come from the record of a run: they are escaped, and never
used as a style.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import cycle, groupby
from math import atan2, degrees

import numpy as np
from markupsafe import escape

from gde.data.arrays import Floats, Ints
from gde.data.cell_map import COLORS, PAD, CellMap, Position, Thing, decoded_classes

SHADES = 4
"""Steps in which opacity shows a cell's probability."""
TONES: Mapping[str, str] = {
    "empty": "free",
    "wall": "wall",
    "agent": "agent",
    "goal": "goal",
    PAD: "outside",
}
SPARE_TONES = tuple(f"spare{index}" for index in range(8))
"""The styles of all other kinds, taken in turn."""
GROUND = "empty"
"""The kind of cell that shapes lie on."""
AGENT = "agent"
"""The thing that arrows start from."""
OPTIMAL = "optimal moves"
TAKEN = "move taken, not optimal"
PLACES = "true places, in the decoded map"
MARKS = (OPTIMAL, TAKEN, PLACES)
"""The last entries of a legend, in this order."""
OUTSIDE = "outside"
"""How a legend names `PAD`."""
ARROW = '<path class="arrow {}" d="M0 0H1.7M1.4-.25L1.7 0 1.4 .25"/>'
RINGS = '<circle class="ring tone-agent" cx=".3" r=".4"/><circle class="ring tone-goal" cx="1.35" r=".4"/>'
FRAME = '<path d="M.08.08h.84v.84h-.84z"/>'
SHAPE: Mapping[str, str] = {
    "ball": '<circle cx=".5" cy=".5" r=".33"/>',
    "box": '<path class="hollow" d="M.2.2h.6v.6h-.6zM.2.42h.6"/>',
    "key": '<g class="hollow"><circle cx=".3" cy=".5" r=".16"/><path d="M.46.5H.88M.7.5v.18M.84.5v.18"/></g>',
    "open door": '<path class="hollow" d="M.12.12h.76v.76h-.76z"/>',
    "closed door": FRAME + '<circle class="hole" cx=".76" cy=".5" r=".09"/>',
    "locked door": FRAME
    + '<path class="hole" d="M.5.24a.15.15 0 0 1 .08.28l.06.26h-.28l.06-.26a.15.15 0 0 1 .08-.28z"/>',
}
"""The shapes of things in a cell of size 1."""
SMALLEST, CELL = 256, 22
"""Pixels of a map and of its cells, where the screen has room."""
LARGE = 13
"""Most cells along a side of a map that shares a line with others on a small screen."""
Keys = Mapping[str, str]
"""A legend: each meaning with its picture as SVG."""


def true_picture(
    shown: CellMap,
    optimal: Sequence[Position],
    taken: Position | None,
) -> str:
    """Draw the true map with its things, the optimal moves and a suboptimal move.

    Args:
        shown: the truth.
        optimal: (rows, columns) moved by each optimal action.
        taken: (rows, columns) moved by the action taken; None where it is no move.
    """
    styles = _tones(shown.kinds)
    tones = dict(zip(shown.kinds, styles, strict=True))
    visible = _visible_things(shown)

    # The truth is certain, so every cell has the full shade.
    codes = _coloured(shown)
    full_shade = np.full(shown.codes.shape, SHADES)
    parts = _cells(codes, full_shade, [*styles, *COLORS])

    # Later elements cover earlier ones: arrows lie under pointers, and letters on top.
    for thing in visible:
        if thing.name == AGENT:
            parts += [_arrow(thing.place, move, "best") for move in optimal]
            if taken and taken not in optimal:
                parts.append(_arrow(thing.place, taken, "stray"))
    for thing in visible:
        if thing.direction:
            parts.append(_pointer(thing.place, thing.direction))
    for thing in visible:
        if thing.shape:
            parts.append(_shape(thing))
        elif thing.letter:
            style = _style(thing, tones)
            parts.append(_letter(thing.place, thing.letter, style, _in_words(thing)))
        if thing.holds is not None and thing.holds.shape:
            parts.append(_held(thing.holds))

    # Screen readers get the things that a letter in a shared cell hides from the eye.
    things = [f"{_in_words(thing)} at {thing.place}" for thing in shown.things]
    contents = ", ".join(things) or "nothing on it"
    label = f"True map, {shown.height} by {shown.width}: {contents}"
    return _svg(shown.height, shown.width, label, parts)


def decoded_picture(probabilities: Floats, shown: CellMap) -> str:
    """Draw the likeliest class of each cell and the likeliest places of things.

    Rings mark the true places.

    Args:
        probabilities: (size, size, C) in the order of `decoded_classes`; only the map's
            own extent is drawn.
        shown: the truth.
    """
    inside = probabilities[: shown.height, : shown.width]
    likeliest = inside.argmax(axis=-1)

    # Shade 0 would hide a cell: even the least certain one is drawn.
    certainty = np.ceil(inside.max(axis=-1) * SHADES)
    shades = np.clip(certainty, 1, SHADES).astype(np.int64)

    tones = _tones(decoded_classes(shown.kinds))
    parts = _cells(likeliest, shades, tones)

    # Rings mark the truth, so that a wrong cell under a ring shows at a glance.
    for thing in shown.things:
        if thing.kind:
            kind = shown.kinds.index(thing.kind)
            parts.append(_ring(thing.place, tones[kind]))

    letters_at: defaultdict[Position, list[str]] = defaultdict(list)
    places = []
    for thing, place in decoded_places(probabilities, shown):
        letters_at[place].append(thing.letter)
        places.append(f"{thing.name} likeliest at {place}")

    # Things that share a decoded cell share its letter too.
    for place, letters in letters_at.items():
        shared = "/".join(filter(None, letters))
        parts.append(_letter(place, shared))

    listed = ", ".join(places) or "nothing to place"
    return _svg(shown.height, shown.width, f"Decoded map: {listed}", parts)


def decoded_places(
    probabilities: Floats,
    shown: CellMap,
) -> list[tuple[Thing, Position]]:
    """Find the likeliest place of each thing that is the only one of its kind.

    The place may be anywhere in the decoded map.
    """
    counts = Counter(thing.kind for thing in shown.things)
    places = []
    for thing in shown.things:
        # Two things of one kind share a class: the map does not tell which of them a
        # cell holds.
        if not thing.kind or counts[thing.kind] > 1:
            continue
        kind = shown.kinds.index(thing.kind)
        of_kind = probabilities[..., kind]
        row, column = divmod(int(of_kind.argmax()), of_kind.shape[1])
        places.append((thing, (row, column)))
    return places


def legend(
    shown: CellMap,
    optimal: Sequence[Position],
    taken: Position | None,
    probabilities: Floats | None,
    known: Collection[str] = (),
) -> Keys:
    """Explain what the two pictures of a turn show, in the order of the map's kinds.

    The arguments are those of `true_picture` and `decoded_picture`. Classes of cells
    that are `known` are left out.
    """
    # Codes after the kinds are colours of single things, which get keys of their own
    # below.
    coloured = {*_coloured(shown).flatten().tolist()}
    codes = coloured.intersection(range(len(shown.kinds)))
    if probabilities is not None:
        inside = probabilities[: shown.height, : shown.width]
        codes.update(inside.argmax(axis=-1).flat)

    keys = {}
    classes = decoded_classes(shown.kinds)
    for code in sorted(codes):
        name = OUTSIDE if classes[code] == PAD else classes[code]
        if name not in known:
            keys[name] = _class_key(shown, code, name)

    # Things with a colour of their own, or of no kind, look different from the class of
    # their cell.
    special = [
        _thing_key(thing)
        for thing in _visible_things(shown)
        if thing.letter and not thing.shape and (thing.color or not thing.kind)
    ]
    keys |= dict(sorted(special))
    for shape in sorted({thing.shape for thing in shown.things if thing.shape}):
        drawing = f'<g class="shape tone-grey">{SHAPE[shape]}</g>'
        keys[shape] = _svg(1, 1, shape, [drawing])

    if optimal:
        keys[OPTIMAL] = _key(ARROW.format("best"))
    if taken and taken not in optimal:
        keys[TAKEN] = _key(ARROW.format("stray"))
    if probabilities is not None:
        keys[PLACES] = _key(RINGS)
    return keys


def _class_key(shown: CellMap, code: int, name: str) -> str:
    """One cell of a class, with the letter its things share."""
    classes = decoded_classes(shown.kinds)
    parts = [_cell_key(_tones(classes)[code])]

    letters = {thing.letter for thing in shown.things if thing.kind == classes[code]}
    if len(letters) == 1:
        parts.append(_letter((0, 0), letters.pop()))
    return _svg(1, 1, name, parts)


def _thing_key(thing: Thing) -> tuple[str, str]:
    """The colour and kind of a thing, or its name without a kind, and its picture."""
    words = [thing.color, thing.kind or thing.name]
    name = " ".join(filter(None, words))

    parts = []
    if thing.kind:
        parts.append(_cell_key(thing.color))
    parts.append(_letter((0, 0), thing.letter, _style(thing, {})))
    return name, _svg(1, 1, name, parts)


def _cell_key(tone: str) -> str:
    return f'<path class="cell tone-{tone} shade{SHADES}" d="M0 .5h1"/>'


def _key(drawing: str) -> str:
    return (
        f'<svg class="key" viewBox="-.2 -.5 2.2 1" aria-hidden="true">{drawing}</svg>'
    )


def _tones(classes: Sequence[str]) -> list[str]:
    """The style of each class of cells."""
    spare = cycle(SPARE_TONES)
    tones = []
    for name in classes:
        tones.append(TONES.get(name) or next(spare))
    return tones


def _visible_things(shown: CellMap) -> list[Thing]:
    """The first thing of every cell."""
    first: dict[Position, Thing] = {}
    for thing in shown.things:
        first.setdefault(thing.place, thing)
    return list(first.values())


def _coloured(shown: CellMap) -> Ints:
    """(height, width) index into the map's kinds and, after them, `COLORS`."""
    codes = shown.codes.copy()
    ground = shown.kinds.index(GROUND) if GROUND in shown.kinds else 0
    for thing in _visible_things(shown):
        if thing.shape:
            codes[thing.place] = ground
        elif thing.kind and thing.color:
            color = COLORS.index(thing.color)
            codes[thing.place] = len(shown.kinds) + color
    return codes


def _svg(height: int, width: int, label: str, parts: Iterable[str]) -> str:
    large = " large" if max(height, width) > LARGE else ""
    pixels = max(SMALLEST, width * CELL)
    box = f'class="grid{large}" width="{pixels}" viewBox="0 0 {width} {height}"'
    content = "".join(parts)
    return f'<svg {box} role="img" aria-label="{escape(label)}">{content}</svg>'


def _cells(
    codes: Ints,
    shades: Ints,
    tones: Sequence[str],
) -> list[str]:
    """Draw all cells, those of one class and shade as one path.

    The path goes through the middle of the cells; its dashes are their squares.

    Args:
        codes: (height, width) class of each cell.
        shades: (height, width) from 1 to `SHADES`.
        tones: the style of each class.
    """
    # A page holds millions of cells: an element for each, or the outline of each, would
    # make it slow and large.
    lines: defaultdict[int, list[str]] = defaultdict(list)
    looks = codes * (SHADES + 1) + shades
    for row, cells in enumerate(looks.tolist()):
        column = 0
        for look, alike in groupby(cells):
            length = len(list(alike))
            lines[look].append(f"M{column} {row}h{length}")
            column += length

    # Sorted, so that equal maps give equal text.
    paths = []
    for look, of_class in sorted(lines.items()):
        code, shade = divmod(look, SHADES + 1)
        classes = f"cell tone-{tones[code]} shade{shade}"
        paths.append(f'<path class="{classes}" d="{"".join(of_class)}"/>')
    return ['<g transform="translate(0 .5)">', *paths, "</g>"]


def _in_words(thing: Thing) -> str:
    """The name of a thing, with its other properties in brackets.

    Colour, kind and note appear unless the name contains them.
    """
    looks = ""
    if thing.color:
        looks = f"{thing.color} {thing.kind}".strip()
    more = [word for word in (looks, thing.note) if word and word not in thing.name]
    if not more:
        return thing.name
    listed = ", ".join(more)
    return f"{thing.name} ({listed})"


def _shape(thing: Thing) -> str:
    """A shape in its cell; the name appears as a tooltip."""
    row, column = thing.place
    title = f"<title>{escape(_in_words(thing))}</title>"
    style = f"shape tone-{thing.color or 'grey'}"
    moved = f'transform="translate({column} {row})"'
    return f'<g class="{style}" {moved}>{title}{SHAPE[thing.shape]}</g>'


def _held(thing: Thing) -> str:
    """A small shape in the corner of the cell of its holder."""
    row, column = thing.place
    moved = f'transform="translate({column + 0.5} {row - 0.1}) scale(.6)"'
    casing = '<circle class="casing" cx=".5" cy=".5" r=".52"/>'
    style = f"shape tone-{thing.color or 'grey'}"
    return f'<g class="{style}" {moved}>{casing}{SHAPE[thing.shape]}</g>'


def _letter(place: Position, letter: str, style: str = "", name: str = "") -> str:
    """A letter in a cell; the name appears as a tooltip."""
    row, column = place
    small = " small" if len(letter) > 1 else ""
    classes = f"letter{small} {style}".rstrip()
    title = f"<title>{escape(name)}</title>" if name else ""
    middle = f'x="{column + 0.5}" y="{row + 0.5}"'
    return f'<text class="{classes}" {middle}>{title}{escape(letter)}</text>'


def _style(thing: Thing, tones: Mapping[str, str]) -> str:
    if thing.color:
        return f"tone-{thing.color}"
    if thing.kind:
        return f"tone-{tones[thing.kind]}"
    return "object"


def _ring(place: Position, tone: str) -> str:
    row, column = place
    circle = f'cx="{column + 0.5}" cy="{row + 0.5}" r=".44"'
    # The casing keeps the ring visible on a cell of its own colour.
    casing = f'<circle class="ring casing" {circle}/>'
    ring = f'<circle class="ring tone-{tone}" {circle}/>'
    return casing + ring


def _arrow(place: Position, move: Position, style: str) -> str:
    shape = 'd="M.52 0H1.2M.95-.22L1.22 0 .95.22"'
    # The wider first stroke keeps the arrow legible on walls.
    casing = f'<path class="arrow casing" {shape}/>'
    arrow = f'<path class="arrow {style}" {shape}/>'
    return f'<g transform="{_turned(place, move)}">{casing}{arrow}</g>'


def _pointer(place: Position, direction: Position) -> str:
    """A tip on the edge of the cell that a thing faces."""
    turned = _turned(place, direction)
    return f'<path class="pointer" transform="{turned}" d="M.4-.26L.68 0 .4.26z"/>'


def _turned(place: Position, direction: Position) -> str:
    """Move the origin to the middle of a cell and the x axis to `direction`."""
    row, column = place
    angle = round(degrees(atan2(*direction)))
    return f"translate({column + 0.5} {row + 0.5}) rotate({angle})"
