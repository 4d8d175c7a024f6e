"""Offers the reward model of factorised states, and the triplet metric of its
embedders.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, Offer

if TYPE_CHECKING:
    from gde_plugins.statefactory.config import StateFactoryConfig


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """Rewards from factorised states."""
    from gde_plugins.statefactory.config import StateFactoryConfig

    return (
        Offer(
            name="statefactory",
            summary="share of the goal fulfilled by the objects and attributes of a state (Shen et al. 2026)",
            config=StateFactoryConfig,
            make="gde_plugins.statefactory.model:statefactory",
            version=5,
            needs_for=_needs,
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer the accuracy of an embedder on paraphrases and contradictions."""
    from gde.data.measure import Measure
    from gde_plugins.statefactory.config import TripletsConfig

    return (
        MetricOffer(
            name="triplets",
            summary="triplet accuracy: is a state's paraphrase closer than its contradiction? (eq. 14)",
            config=TripletsConfig,
            make="gde_plugins.statefactory.triplets:TripletAccuracy",
            measures=(
                Measure(
                    "triplets",
                    "Triplet accuracy",
                    "share",
                    "more",
                    group="Reward models",
                    question="judges",
                ),
            ),
        ),
    )


def _needs(config: "StateFactoryConfig") -> frozenset[str]:
    is_shown = config.goal == "oracle"
    return frozenset({Capability.SHOWN_SUCCESS}) if is_shown else frozenset()
