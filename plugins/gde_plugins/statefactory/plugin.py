"""Offers the reward model of factorised states."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer
from gde_plugins.statefactory.config import StateFactoryConfig

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.reward_model import RewardModel


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """Rewards from factorised states."""
    return (
        Offer(
            name="statefactory",
            summary="how much of the goal the objects and attributes of a state fulfil (Shen et al. 2026), by rules",
            config=StateFactoryConfig,
            make=_make,
        ),
    )


def _make(config: StateFactoryConfig, _: "Context") -> "RewardModel":
    from gde_plugins.statefactory.embedding import embedder
    from gde_plugins.statefactory.model import StateFactory

    return StateFactory(embedder(config.embedder), config.extractor == "rules", config.decimals)
