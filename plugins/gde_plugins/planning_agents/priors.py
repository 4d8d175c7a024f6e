"""Prior weights of actions, before any trial."""

from collections.abc import Sequence
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
    """Give all actions equal weights."""
    return dict.fromkeys(actions, 1 / len(actions)) if actions else {}


def ranked(proposed: Sequence[str], actions: Sequence[str] | None) -> dict[str, float]:
    """Weigh proposed actions by rank: the nth has 1 / n of the first's weight."""
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


async def proposed(
    asker: Asker,
    conversation: Conversation,
    most: int,
    observation: Observation,
    effort: Effort,
    *,
    strict: bool = False,
) -> tuple[tuple[str, ...] | Rejected, Completion]:
    """Ask a language model for up to `most` actions, the best one first."""
    listed = observation.actions
    read = partial(several_actions, actions=listed, most=most, strict=strict)
    messages = conversation.several(observation, most)
    found, completion = await asker.ask(messages, read, effort)
    if isinstance(found, Rejected):
        return found, completion
    actions, others = found
    effort.inadmissible += others
    return actions, completion
