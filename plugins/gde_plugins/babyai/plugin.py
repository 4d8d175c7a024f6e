"""Offers the BabyAI worlds, the questions about them, their agents, metrics and the study of LLM-BabyBench."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, Offer
from gde_plugins.babyai.config import BabyAIConfig, OmniBotConfig

if TYPE_CHECKING:
    from gde.parts.agent import Agent
    from gde.parts.context import Context
    from gde.parts.environment import Environment

IMPORTS, EXTRA = ("gymnasium", "minigrid"), "minigrid"
BABYAI = "babyai"
"""The facet of worlds that OmniBot knows."""


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """The worlds."""
    return (
        Offer(
            name="babyai",
            summary="BabyAI's rooms in text: a mission in words, doors, keys, balls and boxes (Choukrani et al. 2025)",
            config=BabyAIConfig,
            make=_world,
            gives=frozenset({Facet.STATE, Facet.OPTIMUM, Facet.SNAPSHOT, Facet.WORLDS, Facet.MAP, BABYAI}),
            imports=IMPORTS,
            extra=EXTRA,
        ),
    )


def _world(config: BabyAIConfig, _: "Context") -> "Environment":
    from gde_plugins.babyai.environment import BabyAIEnvironment

    return BabyAIEnvironment(config)


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """The bot."""
    return (
        Offer(
            name="omnibot",
            summary="in BabyAI: an expert that sees everything and works off subgoals, as able as one likes",
            config=OmniBotConfig,
            make=_omnibot,
            needs=frozenset({Facet.SNAPSHOT, BABYAI}),
            imports=IMPORTS,
            extra=EXTRA,
        ),
    )


def _omnibot(config: OmniBotConfig, _: "Context") -> "Agent":
    from gde_plugins.babyai.answering.omnibot import OmniBotAgent

    return OmniBotAgent(config)
