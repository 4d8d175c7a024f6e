"""The drawing of one moment of a world, from its record alone.

The world's plugin need not be installed.
"""

from collections.abc import Mapping

from gde.data.cell_map import CellMap, Position, position
from gde.data.observation import State, World


def view_of(world: World, state: State) -> CellMap | str | None:
    """The text in the fact `view`, or the map of a world with the fact `rows`.

    None where the record has neither: only the agent's observation can be shown then.

    Raises:
        ValueError: such a fact is malformed.
    """
    facts = {**world.facts, **state.facts}
    if "view" in facts:
        text = facts["view"]
        if not isinstance(text, str):
            raise ValueError(f"the fact `view`: wanted a text, got {text!r}")
        return text

    if "rows" in facts:
        return CellMap.from_record(world, state)
    return None


def moves(world: World) -> Mapping[str, Position]:
    """The (rows, columns) that each action moves the agent by.

    They come from the fact `moves`; empty without it.

    Raises:
        ValueError: the fact is malformed.
    """
    given = world.facts.get("moves", {})
    if not isinstance(given, Mapping):
        raise ValueError(
            f"the fact `moves`: wanted action to [rows, columns], got {given!r}"
        )

    found = {}
    for action in given:
        found[action] = position(given, action)
    return found
