"""The drawing of one moment of a world, from its record alone: its plugin need not be installed."""

from collections.abc import Mapping

from gde.data.cell_map import CellMap, Position, position
from gde.data.observation import State, World


def view_of(world: World, state: State) -> CellMap | str | None:
    """The text in the fact `view`; without it, where there is a fact `rows`, the map that the facts tell.

    None where the record says of neither: then what the agent was shown is all that can be shown.

    Raises:
        ValueError: there is such a fact, and it is not what it should be.
    """
    facts = {**world.facts, **state.facts}
    if "view" in facts:
        if not isinstance(text := facts["view"], str):
            raise ValueError(f"the fact `view`: wanted a text, got {text!r}")
        return text
    return CellMap.from_record(world, state) if "rows" in facts else None


def moves(world: World) -> Mapping[str, Position]:
    """(rows, columns) that each action moves the agent by: the fact `moves`; no action where it is not told.

    Raises:
        ValueError: the fact is there, and is something else.
    """
    told = world.facts.get("moves", {})
    if not isinstance(told, Mapping):
        raise ValueError(f"the fact `moves`: wanted action to [rows, columns], got {told!r}")
    return {action: position(told, action) for action in told}
