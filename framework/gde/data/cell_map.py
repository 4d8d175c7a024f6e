"""A world as a map of named kinds of cells with things in them, read from its record alone.

These facts are read. A state may tell all but `kinds`, and then overrides its world:

- `rows`: equally long texts, one symbol a cell.
- `cells`: symbol to kind of cell; default {"#": "wall", "_": "empty"}.
- `kinds`: every kind of cell that the environment has, the same in all its worlds; default `KINDS`. The classes of a
  decoder are these, in this order, and `PAD`.
- `things`: fact to {"kind": ..., "letter": ..., "color": ...}; default agent and goal. The named facts are places of
  things. `kind` is the kind of cell that a thing makes of its place; a thing without one is drawn and not decoded.
  `letter` is drawn; default the first letter of the fact. `color` is one of `COLORS`; default that of its kind.
- each of these facts: [row, column]; or, for a thing that faces some way or has more to tell, {"place": [row, column],
  "direction": [rows, columns], "note": text}; null, or no such fact, while the thing is not there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.json import Json
from gde.data.observation import State, World

Position = tuple[int, int]
"""(row, column), counted from the top left corner."""
KINDS = ("empty", "agent", "goal", "wall")
CELLS: Mapping[str, Json] = {"#": "wall", "_": "empty"}
THINGS: Mapping[str, Json] = {"agent": {"kind": "agent"}, "goal": {"kind": "goal"}}
COLORS = ("blue", "green", "grey", "purple", "red", "yellow")
"""What things can be drawn in."""
PAD = "pad"
"""What lies outside a map that is smaller than what a decoder decodes; no kind of any world."""


@dataclass(frozen=True, kw_only=True)
class Thing:
    """Something that has a place in the world."""

    name: str
    place: Position
    kind: str = ""
    """The kind of cell that it makes of its place; empty for a thing that leaves the cell what it is."""
    letter: str = ""
    color: str = ""
    """One of `COLORS`; empty for a thing that is drawn like all of its kind."""
    direction: Position | None = None
    """(rows, columns) of one step the way it faces."""
    note: str = ""
    """What else there is to say of it, e.g. "red, locked"."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellMap:
    """A rectangular map at one moment.

    Raises:
        ValueError: kinds that are not distinct names, cells of no kind, or a thing outside the map or in no colour.
    """

    kinds: tuple[str, ...]
    codes: NDArray[np.int64]
    """(height, width) index into `kinds`, things included."""
    things: tuple[Thing, ...] = ()
    """Those that are there. Of several in one cell the first is seen."""

    def __post_init__(self) -> None:
        if PAD in self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise ValueError(f"`kinds` of a map: wanted distinct names other than {PAD!r}, got {list(self.kinds)}")
        known = range(len(self.kinds))
        if self.codes.ndim != 2 or not self.codes.size or not np.isin(self.codes, known).all():
            raise ValueError(f"codes of a map: wanted (height, width) indices of {len(self.kinds)} kinds")
        height, width = self.codes.shape
        for thing in self.things:
            row, column = thing.place
            if not (0 <= row < height and 0 <= column < width):
                raise ValueError(f"{thing.name!r}: wanted a place on a map of {height}x{width}, got {thing.place}")
            if thing.color not in ("", *COLORS):
                raise ValueError(f"color of {thing.name!r}: wanted one of {', '.join(COLORS)}, got {thing.color!r}")
        self.codes.flags.writeable = False

    @classmethod
    def from_record(cls, world: World, state: State) -> "CellMap":
        """The map at one moment.

        Raises:
            ValueError: a fact is missing or is not what this module says; it is named.
        """
        facts: dict[str, Json] = {**world.facts, **state.facts}
        kinds = kinds_of(world)
        things = _things(facts, kinds)

        # A record keeps no order of facts, so the order of kinds says which of two things in a cell is seen.
        rank = {kind: i for i, kind in enumerate(kinds)}
        things.sort(key=lambda thing: (rank.get(thing.kind, len(kinds)), thing.name))

        # The map without things checks their places before they are written into its cells.
        ground = cls(kinds=kinds, codes=_ground(facts, kinds), things=tuple(things))
        codes = ground.codes.copy()
        for thing in reversed(things):
            if thing.kind:
                codes[thing.place] = rank[thing.kind]
        return cls(kinds=kinds, codes=codes, things=ground.things)

    @property
    def height(self) -> int:
        return int(self.codes.shape[0])

    @property
    def width(self) -> int:
        return int(self.codes.shape[1])

    def padded(self, size: int) -> NDArray[np.int64]:
        """(size, size) index into `decoded_classes`, padded to the right and below.

        Raises:
            ValueError: the map is larger.
        """
        if max(self.height, self.width) > size:
            raise ValueError(f"a {self.height}x{self.width} map does not fit into {size}x{size}")
        cells = np.full((size, size), len(self.kinds), dtype=np.int64)
        cells[: self.height, : self.width] = self.codes
        return cells

    def where(self, kind: str) -> NDArray[np.bool_]:
        """(height, width) True where a cell is of this kind.

        Raises:
            ValueError: there is no such kind.
        """
        here: NDArray[np.bool_] = self.codes == _index(kind, self.kinds, "of a map")
        return here

    def place_of(self, name: str) -> Position:
        """Where the thing of this name is.

        Raises:
            ValueError: it is not there.
        """
        for thing in self.things:
            if thing.name == name:
                return thing.place
        names = [thing.name for thing in self.things]
        raise ValueError(f"wanted a map with {name!r} on it, got one with {names}")


def kinds_of(world: World) -> tuple[str, ...]:
    """All kinds of cells of the world's environment.

    Raises:
        ValueError: the fact `kinds` is no list of names.
    """
    return tuple(_texts(world.facts.get("kinds", KINDS), "`kinds` of a map: wanted a list of names"))


def decoded_classes(kinds: Sequence[str]) -> tuple[str, ...]:
    """What a decoder of maps of these kinds tells apart, in this order."""
    return (*kinds, PAD)


def position(facts: Mapping[str, Json], name: str) -> Position:
    """A fact that is a cell, [row, column].

    Raises:
        ValueError: there is no such fact, or it is something else.
    """
    return _pair(facts.get(name), f"{name!r}: wanted [row, column]")


def _ground(facts: Mapping[str, Json], kinds: tuple[str, ...]) -> NDArray[np.int64]:
    """(height, width) index into `kinds`, without things."""
    rows = _texts(facts.get("rows"), "`rows` of a map: wanted a list of equally long texts")
    lengths = [len(row) for row in rows]
    if len(set(lengths)) != 1 or not rows[0]:
        raise ValueError(f"`rows` of a map: wanted equally long texts, got lengths {lengths}")

    told = facts.get("cells", CELLS)
    if not isinstance(told, Mapping):
        raise ValueError(f"`cells` of a map: wanted symbol to kind, got {told!r}")
    codes = {symbol: _index(kind, kinds, f"for the symbol {symbol!r}") for symbol, kind in told.items()}
    symbols = list("".join(rows))
    unknown = sorted({*symbols} - codes.keys())
    if unknown:
        raise ValueError(f"`rows` of a map: wanted the symbols {', '.join(sorted(codes))}, got {unknown}")
    cells = np.array([codes[symbol] for symbol in symbols], dtype=np.int64)
    return cells.reshape(len(rows), -1)


def _things(facts: Mapping[str, Json], kinds: tuple[str, ...]) -> list[Thing]:
    """The things that are there, in the order of the fact `things`."""
    told = facts.get("things", THINGS)
    if not isinstance(told, Mapping):
        raise ValueError(f"`things` of a map: wanted fact to kind and letter, got {told!r}")
    found = []
    for name, looks in told.items():
        if not isinstance(looks, Mapping):
            raise ValueError(f'`things` of a map: wanted {{"kind": ..., "letter": ...}} for {name!r}, got {looks!r}')
        fact = facts.get(name)
        if fact is not None:
            found.append(_thing(name, looks, fact, kinds))
    return found


def _thing(name: str, looks: Mapping[str, Json], fact: Json, kinds: tuple[str, ...]) -> Thing:
    """A thing of how it looks and of the fact that says where it is."""
    kind = looks.get("kind", "")
    if kind != "":
        _index(kind, kinds, f"of {name!r}")
    letter = _text(looks.get("letter", name[:1].upper()), f"letter of {name!r}")
    color = _text(looks.get("color", ""), f"color of {name!r}")
    if not isinstance(fact, Mapping):
        place = _pair(fact, f"{name!r}: wanted [row, column]")
        return Thing(name=name, kind=str(kind), letter=letter, color=color, place=place)

    place = _pair(fact.get("place"), f"place of {name!r}: wanted [row, column]")
    direction = None
    if fact.get("direction") is not None:
        direction = _pair(fact["direction"], f"direction of {name!r}: wanted [rows, columns]")
    note = _text(fact.get("note", ""), f"note of {name!r}")
    return Thing(name=name, kind=str(kind), letter=letter, color=color, place=place, direction=direction, note=note)


def _index(kind: Json, kinds: tuple[str, ...], whose: str) -> int:
    if kind not in kinds:
        raise ValueError(f"kind {whose}: wanted one of {', '.join(kinds)}, got {kind!r}")
    return kinds.index(str(kind))


def _pair(value: Json, wanted: str) -> Position:
    match value:
        # True and False are whole numbers to Python.
        case [int(first), int(second)] if bool not in {type(first), type(second)}:
            return first, second
    raise ValueError(f"{wanted}, got {value!r}")


def _text(value: Json, whose: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{whose}: wanted a text, got {value!r}")
    return value


def _texts(value: Json, wanted: str) -> list[str]:
    texts: list[str] = []
    for each in value if isinstance(value, list | tuple) else ():
        if not isinstance(each, str):
            raise ValueError(f"{wanted}, got {value!r}")
        texts.append(each)
    if not texts:
        raise ValueError(f"{wanted}, got {value!r}")
    return texts
