"""Offers the grid world."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, Offer
from gde_plugins.grid.config import GridConfig

if TYPE_CHECKING:
    from gde.parts.environment import Environment


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """The one environment of this plugin."""
    return (
        Offer(
            name="grid",
            summary="a text grid between maze and open room: reach the goal by the shortest way",
            config=GridConfig,
            make=_make,
            gives=frozenset({Facet.STATE, Facet.MODEL, Facet.GRID}),
        ),
    )


def _make(config: GridConfig) -> "Environment":
    from gde_plugins.grid.environment import GridEnvironment

    return GridEnvironment(config)
