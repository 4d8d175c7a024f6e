"""Offers the grid world, the key worlds, and their metrics."""

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any, Literal

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer, MetricOffer, NoConfig

if TYPE_CHECKING:
    from gde.data.measure import Measure

TABULATED = frozenset(
    {
        Capability.STATE,
        Capability.MDP,
        Capability.GOALS,
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
            summary="text grid, from maze to open room: reach the goal by the shortest path",
            config=GridConfig,
            make="gde_plugins.grid.composition:compose",
            version=3,
            gives=TABULATED | {Capability.WORLDS},
        ),
        _key_world(
            "key-door",
            "key_door",
            "rooms with a locked door: take the key, open the door, reach the goal",
            KeyDoorConfig,
        ),
        _key_world(
            "key-no-door",
            "key_no_door",
            "the rooms of key-door without the door: the key, or another object, is useless",
            KeyNoDoorConfig,
        ),
        _key_world(
            "two-path-key",
            "two_path_key",
            "two equally short paths to the goal, with a useless key or other object on one of them",
            TwoPathKeyConfig,
        ),
    )


def _key_world(name: str, maker: str, summary: str, config: type[Any]) -> AnyOffer:
    return EnvironmentOffer(
        name=name,
        summary=summary,
        config=config,
        make=f"gde_plugins.grid.keyed.environment:{maker}",
        version=2,
        gives=TABULATED | {KEYS},
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Effects of keys, fog and perturbations."""
    from gde_plugins.grid import measures
    from gde_plugins.grid.config import GridTokensConfig

    optimum = Capability.OPTIMUM
    return (
        _metric(
            "keys",
            "in key worlds: accuracy by phase, pickup rate, attraction to a useless object",
            measures.KEYS,
            {optimum, Capability.MAP, KEYS},
        ),
        _metric(
            "exploration",
            "in fog: accuracy given the seen cells, backtracking, known walls and dead ends, path length",
            measures.EXPLORATION,
            {optimum},
            facts="turns",
        ),
        _metric(
            "recovery",
            "after a perturbation: success, accuracy before and after, delay and excess turns",
            measures.RECOVERY,
            {optimum},
            facts="turns",
        ),
        _metric(
            "equivariance",
            "on transformed grids: is the policy equivariant?",
            measures.EQUIVARIANCE,
            {Capability.STATE},
            default=False,
        ),
        MetricOffer(
            name="grid-tokens",
            summary="is each cell of the grids shown one token of the model?",
            config=GridTokensConfig,
            make="gde_plugins.grid.metrics.tokens:GridTokens",
            measures=measures.TOKENS,
            default=False,
        ),
    )


def _metric(
    name: str,
    summary: str,
    measures: "tuple[Measure, ...]",
    needs: Set[str],
    facts: Literal["", "turns"] = "",
    default: bool = True,
) -> AnyOffer:
    return MetricOffer(
        name=name,
        summary=summary,
        config=NoConfig,
        part=f"gde_plugins.grid.metrics.{name}:{name}",
        measures=measures,
        needs=needs,
        facts=facts,
        default=default,
    )
