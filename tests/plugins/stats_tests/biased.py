"""An agent with a preference, offered by name: this module is loaded as a plugin by the
tests.
"""

from collections.abc import Sequence
from typing import Any

from gde import Brief, Decision, NoConfig, Observation, Offer, hookimpl
from gde.seeding import generator


class LeftBiased:
    """Goes LEFT in most turns, anywhere else at random."""

    def begin(self, brief: Brief) -> None:
        self._rng = generator(brief.seed, "left-biased")

    async def act(self, observation: Observation) -> Decision:
        return Decision.act(
            str(
                self._rng.choice(
                    ["LEFT", "RIGHT", "UP", "DOWN"], p=[0.7, 0.1, 0.1, 0.1]
                )
            )
        )


@hookimpl
def gde_agents() -> Sequence[Offer[Any, Any]]:
    return (
        Offer(
            name="left-biased",
            summary="goes left",
            config=NoConfig,
            make=lambda _, __: LeftBiased(),
        ),
    )
