"""Offers the grid world, the key worlds, and their metrics."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer, MetricOffer, NoConfig

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.environment import Environment
    from gde.parts.metric import Metric
    from gde_plugins.grid.config import GridConfig
    from gde_plugins.grid.keyed.config import (
        KeyDoorConfig,
        KeyNoDoorConfig,
        TwoPathKeyConfig,
    )

TABULATED = frozenset(
    {
        Capability.STATE,
        Capability.MDP,
        Capability.SNAPSHOT,
        Capability.SIMULATOR,
        Capability.MAP,
    }
)
KEYS = "keys"
"""The capability of worlds with an object to be taken."""


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """The grid world and the key worlds."""
    from gde_plugins.grid.config import GridConfig
    from gde_plugins.grid.keyed.config import (
        KeyDoorConfig,
        KeyNoDoorConfig,
        TwoPathKeyConfig,
    )

    return (
        EnvironmentOffer(
            name="grid",
            summary="a text grid between maze and open room: reach the goal by the shortest way",
            config=GridConfig,
            make=_make,
            version=2,
            gives=TABULATED | {Capability.WORLDS},
        ),
        EnvironmentOffer(
            name="key-door",
            summary="rooms with a locked door: take the key, open the door, reach the goal",
            config=KeyDoorConfig,
            make=_make_key_door,
            version=2,
            gives=TABULATED | {KEYS},
        ),
        EnvironmentOffer(
            name="key-no-door",
            summary="the rooms of key-door without the door: the key, or another object, is good for nothing",
            config=KeyNoDoorConfig,
            make=_make_key_no_door,
            version=2,
            gives=TABULATED | {KEYS},
        ),
        EnvironmentOffer(
            name="two-path-key",
            summary="two equally short ways to the goal, a useless key or other object on one of them",
            config=TwoPathKeyConfig,
            make=_make_two_path_key,
            version=2,
            gives=TABULATED | {KEYS},
        ),
    )


def _make(config: "GridConfig", _: "Context") -> "Environment":
    from gde_plugins.grid.composition import compose

    return compose(config)


def _make_key_door(config: "KeyDoorConfig", _: "Context") -> "Environment":
    from gde_plugins.grid.keyed.environment import key_door

    return key_door(config)


def _make_key_no_door(config: "KeyNoDoorConfig", _: "Context") -> "Environment":
    from gde_plugins.grid.keyed.environment import key_no_door

    return key_no_door(config)


def _make_two_path_key(config: "TwoPathKeyConfig", _: "Context") -> "Environment":
    from gde_plugins.grid.keyed.environment import two_path_key

    return two_path_key(config)


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Effects of keys, fog and perturbations."""
    from gde_plugins.grid import measures

    optimum = frozenset({Capability.OPTIMUM})
    return (
        MetricOffer(
            name="keys",
            summary="in key worlds: accuracy by phase, how often a key is taken, and whether a useless one attracts",
            config=NoConfig,
            make=_keys,
            measures=measures.KEYS,
            needs=frozenset({Capability.OPTIMUM, Capability.MAP, KEYS}),
            default=True,
        ),
        MetricOffer(
            name="exploration",
            summary="in fog: accuracy by what can be known, backtracking, known walls and dead ends, length of the way",
            config=NoConfig,
            make=_exploration,
            measures=measures.EXPLORATION,
            needs=optimum,
            default=True,
        ),
        MetricOffer(
            name="recovery",
            summary="after a perturbation: success, accuracy before and after, delay and excess turns",
            config=NoConfig,
            make=_recovery,
            measures=measures.RECOVERY,
            needs=optimum,
            default=True,
        ),
        MetricOffer(
            name="equivariance",
            summary="on transformed grids: whether the policy is that of the base grid, transformed",
            config=NoConfig,
            make=_equivariance,
            measures=measures.EQUIVARIANCE,
            needs=frozenset({Capability.STATE}),
        ),
    )


def _keys(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.grid.metrics.keys import keys

    return keys


def _exploration(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.grid.metrics.exploration import exploration

    return exploration


def _recovery(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.grid.metrics.recovery import recovery

    return recovery


def _equivariance(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.grid.metrics.equivariance import equivariance

    return equivariance
