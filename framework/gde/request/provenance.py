"""The provenance of a run's numbers: versions of everything that made them."""

import platform
from collections.abc import Iterator, Mapping
from typing import Any

from gde.data.json import Json
from gde.offers import Capability
from gde.request.names import reward_names
from gde.request.planfile import plan_hash, plan_tables
from gde.request.resolve import Ready
from gde.request.versions import commit, version_of, versions

PACKAGES = (
    "gde-eval",
    "numpy",
    "scipy",
    "torch",
    "transformers",
    "scikit-learn",
    "pydantic",
)


def provenance(
    ready: Ready, models: Mapping[str, Mapping[str, Any]]
) -> dict[str, Json]:
    """All that is needed to repeat a run.

    Args:
        ready: the run.
        models: the journal's notes of the models that answered, by name.
    """
    noted: dict[str, Json] = {}
    notices = dict.fromkeys(_advantages(ready))
    for name, model in sorted(models.items()):
        noted[name] = dict(model)
        if model["notice"]:
            notices[str(model["notice"])] = None

    packages: dict[str, Json] = {}
    offering = {part.entry.distribution for part in ready.parts}
    for name in (*PACKAGES, *sorted(offering.difference(PACKAGES))):
        if found := version_of(name):
            packages[name] = found
    return {
        "plan": plan_tables(ready.plan),
        "plan_hash": plan_hash(ready.plan),
        "parts": {**versions(ready.parts)},
        "models": noted,
        "notice": " ".join(notices),
        "python": platform.python_version(),
        "packages": packages,
        "commit": commit(),
    }


def _advantages(ready: Ready) -> Iterator[str]:
    """Sentences on advantages of the agent over others, for every report to tell."""
    agent = ready.agent
    if Capability.SIMULATOR in agent.needs:
        yield f"Agent {agent.label} planned with a simulator, a private copy of the world."
    for name in reward_names(agent.config).values():
        if Capability.TRUE_REWARD in ready.judges[name].needs:
            yield f"Reward model {name}, which agent {agent.label} used, reads the true rewards."
