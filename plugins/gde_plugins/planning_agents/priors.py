"""Prior weights of actions, before any is tried."""

from collections.abc import Mapping, Sequence
from functools import partial

from gde.data.completion import Completion
from gde.data.observation import Observation
from gde_plugins.planning_agents.answers import Rejected, several_actions
from gde_plugins.planning_agents.asking import Asker
from gde_plugins.planning_agents.conversation import Conversation
from gde_plugins.planning_agents.effort import Effort

OPEN = 0.1
"""Share of the prior that is spread over all admissible actions, whatever the language
model proposes.
"""


def uniform(actions: Sequence[str]) -> dict[str, float]:
    """Equal weights."""
    return dict.fromkeys(actions, 1 / len(actions)) if actions else {}


def ranked(proposed: Sequence[str], actions: Sequence[str] | None) -> dict[str, float]:
    """Proposed actions by their rank: the first has twice the weight of the second,
    three times that of the third.
    """
    weights = {action: 1 / (rank + 1) for rank, action in enumerate(proposed)}
    listed = uniform(actions or ())
    share = 1 - OPEN if listed else 1.0
    scale = share / sum(weights.values())

    prior = {}
    for action in (*proposed, *listed):
        prior[action] = scale * weights.get(action, 0.0) + OPEN * listed.get(
            action, 0.0
        )
    return prior


class Proposer:
    """Asks a language model for a prior, once a turn."""

    def __init__(self, asker: Asker, conversation: Conversation, most: int) -> None:
        self._asker = asker
        self._conversation = conversation
        self._most = most

    async def prior(
        self, observation: Observation, effort: Effort
    ) -> tuple[Mapping[str, float] | Rejected, Completion | None]:
        """The weights of actions and the model's answer.

        Where no answer can be used, the listed actions have equal weights.
        """
        read = partial(several_actions, actions=observation.actions, most=self._most)
        messages = self._conversation.several(observation, self._most)
        found, completion = await self._asker.ask(messages, read, effort)
        if isinstance(found, Rejected):
            return (
                uniform(observation.actions) if observation.actions else found
            ), completion
        proposed, others = found
        effort.inadmissible += others
        return ranked(proposed, observation.actions), completion
