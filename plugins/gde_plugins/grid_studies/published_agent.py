"""The agent as Arghal et al. (2026) ran it."""

from dataclasses import replace

from gde.data.json import Json
from gde.data.plan import Choice


def published(agent: Choice, **settings: Json) -> Choice:
    """The agent, of whose answers only those of the published form count.

    Args:
        agent: what it sets itself stays.
        settings: further published settings.
    """
    if agent.name != "gpt-oss":
        return agent
    return replace(agent, config={"strict": True, **settings, **agent.config})
