"""Worlds whose facts are a map with an agent and a goal, such as the grid: the lines
around each thing.
"""

from gde.data.cell_map import CellMap, Position
from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.rules.given import Given, Rules
from gde_plugins.statefactory.state import Item, Items

AGENT, GOAL = "agent", "goal"


def _read(trajectory: Trajectory, _: str) -> Given | None:
    """The agent is to be where the goal of the same turn is."""
    states: list[Items] = []
    goals: list[Items] = []
    for turn in trajectory.turns:
        try:
            now = (
                CellMap.from_record(trajectory.world, turn.state)
                if turn.state
                else None
            )
        except ValueError:
            return None
        if now is None or not {AGENT, GOAL} <= {thing.name for thing in now.things}:
            return None

        states.append(
            [
                Item(thing.name, _lines(now, thing.place))
                for thing in now.things
                if thing.name != GOAL
            ]
        )
        goals.append([Item(AGENT, _lines(now, now.place_of(GOAL)))])
    return Given(states, goals) if states else None


def _lines(now: CellMap, place: Position) -> dict[str, str]:
    return lines(*place, now.height, now.width)


def lines(row: int, column: int, height: int, width: int) -> dict[str, str]:
    """A place as the lines on each side of it, so that places that are closer have more
    words in common.
    """
    return {
        "rows above": _numbers(0, row),
        "rows below": _numbers(row + 1, height),
        "columns to the left": _numbers(0, column),
        "columns to the right": _numbers(column + 1, width),
    }


def _numbers(first: int, end: int) -> str:
    return " ".join(map(str, range(first, end))) or "none"


RULES = Rules("maps", _read)
