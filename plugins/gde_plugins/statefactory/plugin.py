"""Offers the reward model of factorised states, and the triplet metric of its
embedders.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.metric import Metric
    from gde.parts.reward_model import RewardModel
    from gde_plugins.statefactory.config import StateFactoryConfig, TripletsConfig
    from gde_plugins.statefactory.state import Extractor


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """Rewards from factorised states."""
    from gde_plugins.statefactory.config import StateFactoryConfig

    return (
        Offer(
            name="statefactory",
            summary="share of the goal fulfilled by the objects and attributes of a state (Shen et al. 2026)",
            config=StateFactoryConfig,
            make=_make,
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
            make=_triplets,
            measures=(
                Measure(
                    "triplets",
                    "Triplet accuracy",
                    "share",
                    "more",
                    group="Reward models",
                ),
            ),
        ),
    )


def _needs(config: "StateFactoryConfig") -> frozenset[str]:
    is_shown = config.goal == "oracle"
    return frozenset({Capability.SHOWN_SUCCESS}) if is_shown else frozenset()


def _make(config: "StateFactoryConfig", context: "Context") -> "RewardModel":
    from gde_plugins.statefactory.embedding import embedder
    from gde_plugins.statefactory.language_model.extractor import ModelExtractor
    from gde_plugins.statefactory.model import StateFactory
    from gde_plugins.statefactory.oracle import OracleGoals
    from gde_plugins.statefactory.rules.extractor import RulesExtractor

    embed = embedder(config.embedder)
    states: Extractor = RulesExtractor(config.level)
    # Level 1 is the observation itself, which no language model has to read.
    if config.model and config.level > 1:
        model = context.model(config.model)
        states = ModelExtractor(config, model)
    if config.goal == "oracle":
        states = OracleGoals(states, embed)
    return StateFactory(states, embed, config.embedder, config.decimals)


def _triplets(config: "TripletsConfig", _: "Context") -> "Metric":
    from gde_plugins.statefactory.embedding import embedder
    from gde_plugins.statefactory.triplets import TripletAccuracy

    return TripletAccuracy(config.embedder, embedder(config.embedder), config.most)
