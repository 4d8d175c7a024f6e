"""Offers the probes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, Offer
from gde_plugins.probes import measures
from gde_plugins.probes.config import CogmapConfig, DistanceConfig

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.probe import Probe


@hookimpl
def gde_probes() -> Sequence[AnyOffer]:
    """What is decoded from the activations of an agent's model."""
    return (
        Offer(
            name="cogmap",
            summary="the map an agent holds: agent, goal, wall or empty, for every cell of the grid",
            config=CogmapConfig,
            make=_cogmap,
            measures=measures.MAP,
            needs=frozenset({Facet.ACTIVATIONS, Facet.MAP}),
            imports=("torch", "sklearn"),
            extra="probes",
        ),
        Offer(
            name="distance",
            summary="how many steps the goal is away by the shortest way",
            config=DistanceConfig,
            make=_distance,
            measures=measures.DISTANCE,
            needs=frozenset({Facet.ACTIVATIONS, Facet.MDP}),
            imports=("torch",),
            extra="probes",
        ),
    )


def _cogmap(config: CogmapConfig, _: "Context") -> "Probe":
    from gde_plugins.probes.cogmap import CogmapProbe

    return CogmapProbe(config)


def _distance(config: DistanceConfig, _: "Context") -> "Probe":
    from gde_plugins.probes.distance import DistanceProbe

    return DistanceProbe(config)
