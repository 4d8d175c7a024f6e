"""A world as a map of named kinds of cells with things, from its record.

A map comes from these facts of a world. A state may override all of them but `kinds`:

- `rows`: equally long texts, one symbol a cell.
- `cells`: symbol to kind of cell; default {"#": "wall", "_": "empty"}.
- `kinds`: every kind of cell that the environment has, the same in all its worlds;
  default `KINDS`. The classes of a decoder are these, in this order, and `PAD`.
- `things`: name to {"kind": ..., "letter": ..., "color": ..., "shape": ...}; default agent
  and goal.
  `kind` replaces the kind of the cell that holds the thing; a thing without a kind is
  drawn, but not decoded. `letter` is drawn; default the first letter of the name.
  `color` is one of `COLORS`; default that of its kind. `shape` is one of `SHAPES`, drawn
  instead of the letter.
- a fact by the name of each thing: [row, column]; or, for a thing with a direction, a
  note, another shape or a thing in its hands, {"place": [row, column], "direction":
  [rows, columns], "note": text, "shape": shape, "holds": name}; null or absent while the
  thing is not there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

import numpy as np
from annotated_types import MinLen
from pydantic import BaseModel, StrictInt, TypeAdapter, ValidationError

from gde.data.arrays import Bools, Ints
from gde.data.json import Json
from gde.data.observation import State, World

Position = tuple[int, int]
"""(row, column), counted from the top left corner."""
KINDS = ("empty", "agent", "goal", "wall")
CELLS: Mapping[str, Json] = {"#": "wall", "_": "empty"}
THINGS: Mapping[str, Json] = {
    "agent": {"kind": "agent"},
    "goal": {"kind": "goal"},
}
COLORS = ("blue", "green", "grey", "purple", "red", "yellow")
"""The colours of things."""
SHAPES = ("ball", "box", "key", "open door", "closed door", "locked door")
"""The shapes of things."""
PAD = "pad"
"""The class outside a map that is smaller than the decoded square; no kind of any
world.
"""


@dataclass(frozen=True, kw_only=True)
class Thing:
    """Something that has a place in the world."""

    name: str
    place: Position
    kind: str = ""
    """The kind of its cell; empty for a thing that leaves the cell as it is."""
    letter: str = ""
    color: str = ""
    """One of `COLORS`; empty for the colour of its kind."""
    direction: Position | None = None
    """(rows, columns) of one step ahead."""
    note: str = ""
    """More about it, e.g. "red, locked"."""
    shape: str = ""
    """One of `SHAPES`; empty for a letter."""
    holds: "Thing | None" = None
    """What it holds, which has no cell of its own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellMap:
    """A rectangular map at one moment.

    Raises:
        ValueError: kinds that are not distinct names, cells of no kind, or a thing
            outside the map or in no colour.
    """

    kinds: tuple[str, ...]
    codes: Ints
    """(height, width) index into `kinds`, things included."""
    things: tuple[Thing, ...] = ()
    """The things that are there. Of several in one cell the first is seen."""

    def __post_init__(self) -> None:
        names_are_distinct = len(set(self.kinds)) == len(self.kinds)
        if PAD in self.kinds or not names_are_distinct:
            raise ValueError(
                f"`kinds` of a map: wanted distinct names other than {PAD!r}, got {list(self.kinds)}"
            )

        n_kinds = len(self.kinds)
        is_map = self.codes.ndim == 2 and self.codes.size > 0
        if not is_map or self.codes.min() < 0 or self.codes.max() >= n_kinds:
            raise ValueError(
                f"codes of a map: wanted (height, width) indices of {n_kinds} kinds"
            )

        height, width = self.codes.shape
        for thing in self.things:
            row, column = thing.place
            is_inside = 0 <= row < height and 0 <= column < width
            if not is_inside:
                raise ValueError(
                    f"{thing.name!r}: wanted a place on a map of {height}x{width}, got {thing.place}"
                )
            if thing.color not in ("", *COLORS):
                raise ValueError(
                    f"color of {thing.name!r}: wanted one of {', '.join(COLORS)}, got {thing.color!r}"
                )
            if thing.shape not in ("", *SHAPES):
                raise ValueError(
                    f"shape of {thing.name!r}: wanted one of {', '.join(SHAPES)}, got {thing.shape!r}"
                )

        # Maps are shared between the parts of a report.
        self.codes.flags.writeable = False

    @classmethod
    def from_record(cls, world: World, state: State) -> "CellMap":
        """The map at one moment.

        Raises:
            ValueError: a fact is missing or malformed. The message names it.
        """
        facts: dict[str, Json] = {**world.facts, **state.facts}
        kinds = kinds_of(world)
        rank = {kind: place for place, kind in enumerate(kinds)}

        # A record keeps no order of facts, so the order of kinds says which of two
        # things in a cell is seen.
        def order(thing: Thing) -> tuple[int, str]:
            return rank.get(thing.kind, len(kinds)), thing.name

        things = tuple(sorted(_things(facts, kinds), key=order))

        # The map without things checks their places before they are written into its
        # cells.
        ground = cls(kinds=kinds, codes=_ground(facts, kinds), things=things)
        codes = ground.codes.copy()
        # In reverse, so that the first thing of a cell is written last.
        for thing in reversed(things):
            if thing.kind:
                codes[thing.place] = rank[thing.kind]
        return cls(kinds=kinds, codes=codes, things=things)

    @property
    def height(self) -> int:
        return int(self.codes.shape[0])

    @property
    def width(self) -> int:
        return int(self.codes.shape[1])

    def padded(self, size: int) -> Ints:
        """(size, size) index into `decoded_classes`, padded to the right and below.

        Raises:
            ValueError: the map is larger.
        """
        if max(self.height, self.width) > size:
            raise ValueError(
                f"a {self.height}x{self.width} map does not fit into {size}x{size}"
            )
        pad = len(self.kinds)
        cells = np.full((size, size), pad, dtype=np.int64)
        cells[: self.height, : self.width] = self.codes
        return cells

    def where(self, kind: str) -> Bools:
        """(height, width) True where a cell is of this kind.

        Raises:
            ValueError: there is no such kind.
        """
        code = _index(kind, self.kinds, "of a map")
        here: Bools = self.codes == code
        return here

    def place_of(self, name: str) -> Position:
        """The place of the thing of this name.

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
    fact = world.facts.get("kinds", KINDS)
    kinds = _read(_TEXTS, fact, "`kinds` of a map: wanted a list of names")
    return tuple(kinds)


def decoded_classes(kinds: Sequence[str]) -> tuple[str, ...]:
    """The classes that a decoder of maps of these kinds tells apart, in this order."""
    return (*kinds, PAD)


def position(facts: Mapping[str, Json], name: str) -> Position:
    """A fact that is a cell, [row, column].

    Raises:
        ValueError: there is no such fact, or it is something else.
    """
    return _read(_PAIR, facts.get(name), f"{name!r}: wanted [row, column]")


def _ground(facts: Mapping[str, Json], kinds: tuple[str, ...]) -> Ints:
    """(height, width) index into `kinds`, without things."""
    rows = _read(
        _TEXTS,
        facts.get("rows"),
        "`rows` of a map: wanted a list of equally long texts",
    )
    lengths = [len(row) for row in rows]
    if len(set(lengths)) != 1 or not rows[0]:
        raise ValueError(
            f"`rows` of a map: wanted equally long texts, got lengths {lengths}"
        )

    cells = _read(
        _CELLS, facts.get("cells", CELLS), "`cells` of a map: wanted symbol to kind"
    )
    codes = {}
    for symbol, kind in cells.items():
        codes[symbol] = _index(kind, kinds, f"for the symbol {symbol!r}")
    symbols = list("".join(rows))
    unknown = sorted(set(symbols) - codes.keys())
    if unknown:
        raise ValueError(
            f"`rows` of a map: wanted the symbols {', '.join(sorted(codes))}, got {unknown}"
        )
    ground = np.array([codes[symbol] for symbol in symbols], dtype=np.int64)
    return ground.reshape(len(rows), -1)


class _Looks(BaseModel):
    """An entry of the fact `things`."""

    kind: str = ""
    letter: str | None = None
    color: str = ""
    shape: str = ""


class _Placed(BaseModel):
    """A fact by the name of a thing."""

    place: tuple[StrictInt, StrictInt]
    direction: tuple[StrictInt, StrictInt] | None = None
    note: str = ""
    shape: str = ""
    holds: str | None = None


_TEXTS = TypeAdapter(Annotated[list[str], MinLen(1)])
_CELLS = TypeAdapter(dict[str, str])
_PAIR = TypeAdapter(tuple[StrictInt, StrictInt])
_THINGS = TypeAdapter(dict[str, _Looks])
_PLACED = TypeAdapter(_Placed)
ValueT = TypeVar("ValueT")


def _read(reader: TypeAdapter[ValueT], value: Json, wanted: str) -> ValueT:
    try:
        return reader.validate_python(value)
    except ValidationError as error:
        raise ValueError(f"{wanted}, got {value!r}") from error


def _things(facts: Mapping[str, Json], kinds: tuple[str, ...]) -> list[Thing]:
    """The things that are there, in the order of the fact `things`."""
    # Malformed looks are an error even while the thing is not there.
    looks = _read(
        _THINGS,
        facts.get("things", THINGS),
        '`things` of a map: wanted name to {"kind": ..., "letter": ..., "color": ...}',
    )
    found = []
    for name, look in looks.items():
        fact = facts.get(name)
        if fact is None:
            continue
        if look.kind:
            _index(look.kind, kinds, f"of {name!r}")
        if not isinstance(fact, Mapping):
            fact = {"place": fact}
        at = _read(
            _PLACED,
            fact,
            f'{name!r}: wanted [row, column], or {{"place": ..., "direction": ..., "note": ...}}',
        )
        thing = _thing(name, at.place, look)
        holds = None
        if at.holds is not None:
            if at.holds not in looks:
                raise ValueError(
                    f"{name!r} holds {at.holds!r}: wanted a name of the fact `things`"
                )
            holds = _thing(at.holds, at.place, looks[at.holds])
        found.append(
            replace(
                thing,
                direction=at.direction,
                note=at.note,
                shape=at.shape or look.shape,
                holds=holds,
            )
        )
    return found


def _thing(name: str, place: Position, look: _Looks) -> Thing:
    return Thing(
        name=name,
        place=place,
        kind=look.kind,
        letter=name[:1].upper() if look.letter is None else look.letter,
        color=look.color,
        shape=look.shape,
    )


def _index(kind: str, kinds: tuple[str, ...], whose: str) -> int:
    if kind not in kinds:
        raise ValueError(
            f"kind {whose}: wanted one of {', '.join(kinds)}, got {kind!r}"
        )
    return kinds.index(kind)
