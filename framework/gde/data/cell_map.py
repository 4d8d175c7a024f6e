"""A world as a map of named kinds of cells with things in them, read from what was recorded of it and nothing else.

These facts are read; all but `kinds` may be told by a state, which then overrides its world:

- `rows`: equally long texts, one symbol a cell.
- `cells`: symbol to kind of cell; without it {"#": "wall", "_": "empty"}.
- `kinds`: every kind of cell that the environment has, the same in all its worlds; without it `KINDS`. A decoder's
  classes are these, in this order, and `PAD`.
- `things`: fact to {"kind": ..., "letter": ..., "color": ...}: which facts are places of things, what kind of cell a
  thing makes of its place (none where it is not told: then it is drawn and not decoded), by what it is drawn (the first
  letter of the fact where it is not told) and in which of `COLORS` (in that of its kind where it is not told). Without
  it, `agent` and `goal` are things.
- each of these facts: [row, column], or for a thing that faces some way or has more to tell {"place": [row, column],
  "direction": [rows, columns], "note": text}; null, or no such fact, while the thing is not there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

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
        if len({*self.kinds, PAD}) != len(self.kinds) + 1:
            raise ValueError(f"`kinds` of a map: wanted distinct names other than {PAD!r}, got {list(self.kinds)}")
        if self.codes.ndim != 2 or not self.codes.size or not np.isin(self.codes, range(len(self.kinds))).all():
            raise ValueError(f"codes of a map: wanted (height, width) indices of {len(self.kinds)} kinds")
        height, width = self.codes.shape
        for thing in self.things:
            if not (0 <= thing.place[0] < height and 0 <= thing.place[1] < width):
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
        things = sorted(_things(facts, kinds), key=lambda one: (_rank(one, kinds), one.name))
        ground = cls(kinds=kinds, codes=_ground(facts, kinds), things=tuple(things))
        codes = ground.codes.copy()
        for thing in reversed(things):
            if thing.kind:
                codes[thing.place] = kinds.index(thing.kind)
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
        raise ValueError(f"wanted a map with {name!r} on it, got one with {[thing.name for thing in self.things]}")


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
    if len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ValueError(f"`rows` of a map: wanted equally long texts, got lengths {[len(row) for row in rows]}")
    told = facts.get("cells", CELLS)
    if not isinstance(told, Mapping):
        raise ValueError(f"`cells` of a map: wanted symbol to kind, got {told!r}")
    codes = {symbol: _index(kind, kinds, f"for the symbol {symbol!r}") for symbol, kind in told.items()}
    if unknown := {*"".join(rows)} - codes.keys():
        raise ValueError(f"`rows` of a map: wanted the symbols {', '.join(sorted(codes))}, got {sorted(unknown)}")
    return np.array([[codes[symbol] for symbol in row] for row in rows], dtype=np.int64)


def _things(facts: Mapping[str, Json], kinds: tuple[str, ...]) -> Iterator[Thing]:
    told = facts.get("things", THINGS)
    if not isinstance(told, Mapping):
        raise ValueError(f"`things` of a map: wanted fact to kind and letter, got {told!r}")
    for name, looks in told.items():
        if not isinstance(looks, Mapping):
            raise ValueError(f'`things` of a map: wanted {{"kind": ..., "letter": ...}} for {name!r}, got {looks!r}')
        if (fact := facts.get(name)) is not None:
            kind = _index_name(looks.get("kind", ""), kinds, name)
            letter = _text(looks.get("letter", name[:1].upper()), f"letter of {name!r}")
            color = _text(looks.get("color", ""), f"color of {name!r}")
            yield _placed(Thing(name=name, kind=kind, letter=letter, color=color, place=(0, 0)), fact)


def _placed(thing: Thing, fact: Json) -> Thing:
    name = thing.name
    if not isinstance(fact, Mapping):
        return replace(thing, place=_pair(fact, f"{name!r}: wanted [row, column]"))
    direction = fact.get("direction")
    return replace(
        thing,
        place=_pair(fact.get("place"), f"place of {name!r}: wanted [row, column]"),
        direction=None if direction is None else _pair(direction, f"direction of {name!r}: wanted [rows, columns]"),
        note=_text(fact.get("note", ""), f"note of {name!r}"),
    )


def _rank(thing: Thing, kinds: tuple[str, ...]) -> int:
    """A record keeps no order of facts, so that of the kinds says which of two things in a cell is seen."""
    return kinds.index(thing.kind) if thing.kind else len(kinds)


def _index(kind: Json, kinds: tuple[str, ...], whose: str) -> int:
    if kind not in kinds:
        raise ValueError(f"kind {whose}: wanted one of {', '.join(kinds)}, got {kind!r}")
    return kinds.index(str(kind))


def _index_name(kind: Json, kinds: tuple[str, ...], name: str) -> str:
    return kinds[_index(kind, kinds, f"of {name!r}")] if kind != "" else ""


def _pair(value: Json, wanted: str) -> Position:
    match value:
        case [int(first), int(second)] if bool not in {type(first), type(second)}:
            return first, second
    raise ValueError(f"{wanted}, got {value!r}")


def _text(value: Json, whose: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{whose}: wanted a text, got {value!r}")
    return value


def _texts(value: Json, wanted: str) -> list[str]:
    if not _is_list(value) or not value or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{wanted}, got {value!r}")
    return [str(one) for one in value]


def _is_list(value: Json) -> TypeGuard[list[Json] | tuple[Json, ...]]:
    return isinstance(value, list | tuple)
