"""The check of maps and drawings in an environment's record.

Reporters draw them and probes decode them (`gde.data.view`).
"""

from collections.abc import Collection, Sequence
from functools import partial

from gde.data.cell_map import CellMap, kinds_of
from gde.data.observation import State, World
from gde.data.view import moves, view_of
from gde.offers import Capability
from gde.testing.promises import calling, promise


def check_view(
    world: World, states: Sequence[State], gives: Collection[str]
) -> set[tuple[str, ...]]:
    """Read every state as a reporter and as a probe.

    Returns:
        The kinds of cells of the world's maps as the only element; empty without the
        capability MAP.

    Raises:
        AssertionError: a promise is broken.
    """
    calling(lambda: moves(world), "the fact `moves` must be action to [rows, columns]")
    for state in states:
        view = calling(
            partial(view_of, world, state),
            "`rows` and `view` must be as gde.data.view reads them",
        )
        drawn = view is not None or Capability.VIEW not in gives
        promise(
            drawn,
            "an environment that gives VIEW must record `view`, or `rows`, in its facts",
        )

    if Capability.MAP not in gives:
        return set()
    promise(states, "an environment that gives MAP must give STATE")
    for state in states:
        calling(
            partial(CellMap.from_record, world, state),
            "what gives MAP must record a map in its facts",
        )
    return {kinds_of(world)}
