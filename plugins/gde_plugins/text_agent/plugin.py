"""Offers the agent gpt-oss."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gde.hookspecs import hookimpl
from gde.offers import Capability, Offer

if TYPE_CHECKING:
    from gde.parts.agent import Agent
    from gde_plugins.text_agent.config import TextAgentConfig


def _needs(config: "TextAgentConfig") -> frozenset[str]:
    is_enforced = config.actions in {"schema", "tools"}
    return frozenset({Capability.ANSWER_FORMS}) if is_enforced else frozenset()


@hookimpl
def gde_agents() -> "Sequence[Offer[Any, Agent]]":
    """Offer the agent gpt-oss."""
    from gde_plugins.text_agent.config import TextAgentConfig

    return (
        Offer(
            name="gpt-oss",
            summary="a language model that reads the world as text and answers with one action (Arghal et al. 2026)",
            config=TextAgentConfig,
            make="gde_plugins.text_agent.agent:TextAgent",
            version=5,
            needs_for=_needs,
            gives={
                Capability.ACTIVATIONS,
                Capability.ACTION_PROBS,
                Capability.INTERVENTIONS,
            },
            default=True,
        ),
    )
