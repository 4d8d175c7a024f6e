"""A gde plugin in one module: an agent that prefers LEFT."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from gde import Agent, Brief, Decision, Observation, Offer, hookimpl
from gde.seeding import generator


@dataclass(frozen=True, kw_only=True)
class LeftistConfig:
    """Settings of the agent."""

    p: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Probability of LEFT; otherwise any admissible action."""


@dataclass
class Leftist:
    """Goes left with probability p."""

    config: LeftistConfig

    def begin(self, brief: Brief) -> None:
        self._rng = generator(brief.seed, "leftist")

    async def act(self, observation: Observation) -> Decision:
        actions = observation.actions or ("LEFT",)
        prefers = "LEFT" in actions and self._rng.random() < self.config.p
        return Decision.act("LEFT" if prefers else str(self._rng.choice(actions)))


@hookimpl
def gde_agents() -> Sequence[Offer[LeftistConfig, Agent]]:
    """Offer the agent."""
    return (
        Offer(
            name="leftist",
            summary="prefers LEFT",
            config=LeftistConfig,
            make="gde_leftist:Leftist",
        ),
    )
