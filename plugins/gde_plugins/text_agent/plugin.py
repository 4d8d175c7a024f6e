"""The offer of the gpt-oss agent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gde.hookspecs import hookimpl
from gde.offers import Facet, Offer
from gde_plugins.text_agent.config import GptOssConfig

if TYPE_CHECKING:
    from gde.parts.agent import Agent


def make_gpt_oss(config: GptOssConfig) -> "Agent":
    """An agent for one episode."""
    from gde_plugins.text_agent.agent import GptOssAgent

    return GptOssAgent(config)


@hookimpl
def gde_agents() -> "Sequence[Offer[Any, Agent]]":
    """gpt-oss."""
    return (
        Offer(
            name="gpt-oss",
            summary="a language model reads the world as text, reasons and answers with one action "
            "(Arghal et al. 2026)",
            config=GptOssConfig,
            make=make_gpt_oss,
            version=2,
            gives=frozenset({Facet.ACTIVATIONS}),
        ),
    )
