"""What an answer says of the world: places, a path, or a whole map."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gde.data.cell_map import CellMap, Position
from gde.data.stated_map import Unstated, answer_noted, read_stated
from gde.data.trajectory import Decision
from gde_plugins.probes.arrays import Codes
from gde_plugins.probes.written import written_cells

PATH = "path"
"""The group of the pattern with the cells of a path."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Said:
    """The statements of one answer, each empty if it is not made."""

    places: Mapping[str, Position]
    """By the name of the thing."""
    path: tuple[Position, ...] = ()
    """The cells of a plan, the agent's own first."""
    cells: Codes | None = None
    """(height, width) index into the kinds of the true map."""

    @classmethod
    def of(cls, decision: Decision, pattern: str, true: CellMap) -> "Said":
        """Read the first match in the reasoning, and the answer to a question for the
        map.

        Args:
            decision: the answer.
            pattern: a group for each thing, and `path`.
            true: the map that the agent was shown.
        """
        completion = decision.completion
        reasoning = completion.reasoning if completion else None
        written = {**written_cells(pattern, reasoning or "")}
        path = written.pop(PATH, ())
        places = {name: cells[0] for name, cells in written.items() if len(cells) == 1}
        return cls(places=places, path=path, cells=_stated(decision, true))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return not self.places and not self.path and self.cells is None

    def false_places(self, true: CellMap) -> list[str]:
        """Say which things stand elsewhere, and whether walls are elsewhere."""
        found = []
        for thing in true.things:
            place = self.places.get(thing.name, thing.place)
            if place != thing.place:
                found.append(
                    f"{thing.name} at {_cell(place)}, not {_cell(thing.place)}"
                )
        for place in self.path:
            if not is_free(true, place):
                found.append(f"a path through the wall at {_cell(place)}")
                break
        if self.cells is not None and not np.array_equal(self.cells, true.codes):
            n_wrong = int((self.cells != true.codes).sum())
            found.append(f"{n_wrong} of {true.codes.size} cells otherwise")
        return found


def is_free(true: CellMap, place: Position) -> bool:
    """Whether a cell is on the map and no wall."""
    row, column = place
    is_inside = row < true.height and column < true.width
    return is_inside and not true.where("wall")[place]


def _stated(decision: Decision, true: CellMap) -> Codes | None:
    noted = answer_noted(decision.detail)
    # What was so before says nothing of this decision.
    if noted is None or noted.age:
        return None
    try:
        return read_stated(noted.answer, true.kinds, (true.height, true.width))
    except Unstated:
        return None


def _cell(place: Position) -> str:
    return f"{place[0]},{place[1]}"
