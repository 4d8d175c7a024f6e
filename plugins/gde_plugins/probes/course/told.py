"""What a reasoning says, beside what is true and what the agent does."""

from collections.abc import Iterator
from dataclasses import dataclass

from gde.data.cell_map import Position
from gde.data.trajectory import Trajectory, Turn
from gde.data.view import moves
from gde_plugins.probes.course.events import Found
from gde_plugins.probes.errors.attribution import first_step, placed_map
from gde_plugins.probes.written import NUMBER


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is said at one event."""

    event: str
    said: str
    """A cell, or for the move an action."""
    real: str
    """The true cell, or the action taken."""

    @property
    def agrees(self) -> bool:
        """Whether it is so."""
        return self.said == self.real


def told(trajectory: Trajectory, turn: Turn, found: Found) -> Iterator[Told]:
    """Compare what is said of agent, goal and move; what cannot be read is left out.

    A cell is a row and a column. A move is an action's name, or the cell that it leads to.
    """
    true = placed_map(trajectory, turn)
    if true is None:
        return
    for thing in ("agent", "goal"):
        cell = _cell(found.said.get(thing, ""))
        if cell is not None:
            real = _text(true.place_of(thing))
            yield Told(event=thing, said=_text(cell), real=real)

    said = found.said.get("move", "")
    cell = _cell(said)
    if cell is not None:
        steps = (true.place_of("agent"), cell)
        said = first_step(steps, moves(trajectory.world))
    action = turn.decision.action
    if action is not None and said in (turn.observation.actions or ()):
        yield Told(event="move", said=said, real=action)


def _cell(said: str) -> Position | None:
    numbers = [int(number) for number in NUMBER.findall(said)]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def _text(cell: Position) -> str:
    return ",".join(map(str, cell))
