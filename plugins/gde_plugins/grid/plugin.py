"""Offers the grid world and the key worlds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, Offer
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.keyed.config import KeyDoorConfig, KeyNoDoorConfig, TwoPathKeyConfig

if TYPE_CHECKING:
    from gde.parts.environment import Environment

TABULATED = frozenset({Facet.STATE, Facet.MODEL, Facet.GRID})


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """The grid world and the key worlds."""
    return (
        Offer(
            name="grid",
            summary="a text grid between maze and open room: reach the goal by the shortest way",
            config=GridConfig,
            make=_make,
            version=2,
            gives=TABULATED | {Facet.WORLDS},
        ),
        Offer(
            name="key-door",
            summary="rooms with a locked door: take the key, open the door, reach the goal",
            config=KeyDoorConfig,
            make=_make_key_door,
            gives=TABULATED,
        ),
        Offer(
            name="key-no-door",
            summary="the rooms of key-door without the door: the key, or another object, is good for nothing",
            config=KeyNoDoorConfig,
            make=_make_key_no_door,
            gives=TABULATED,
        ),
        Offer(
            name="two-path-key",
            summary="two equally short ways to the goal, a useless key or other object on one of them",
            config=TwoPathKeyConfig,
            make=_make_two_path_key,
            gives=TABULATED,
        ),
    )


def _make(config: GridConfig) -> "Environment":
    from gde_plugins.grid.composition import compose

    return compose(config)


def _make_key_door(config: KeyDoorConfig) -> "Environment":
    from gde_plugins.grid.keyed.worlds import key_door

    return key_door(config)


def _make_key_no_door(config: KeyNoDoorConfig) -> "Environment":
    from gde_plugins.grid.keyed.worlds import key_no_door

    return key_no_door(config)


def _make_two_path_key(config: TwoPathKeyConfig) -> "Environment":
    from gde_plugins.grid.keyed.worlds import two_path_key

    return two_path_key(config)
