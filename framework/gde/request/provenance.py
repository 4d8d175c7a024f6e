"""Where a run's numbers come from: versions of everything that made them."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gde.data.json import Json
from gde.offers import Facet
from gde.request.kinds import KINDS
from gde.request.names import reward_names
from gde.request.planfile import plan_hash, plan_tables
from gde.request.resolve import Chosen, Ready

PACKAGES = ("gde-eval", "numpy", "scipy", "torch", "transformers", "scikit-learn", "pydantic")


def provenance(ready: Ready, models: Mapping[str, Mapping[str, Any]]) -> dict[str, Json]:
    """What has to be known to repeat a run; `models` are the journal's notes of the models that answered, by name."""
    models = dict(sorted(models.items()))
    notices = dict.fromkeys(
        [*_advantages(ready), *(str(model["notice"]) for model in models.values() if model["notice"])]
    )
    return {
        "plan": plan_tables(ready.plan),
        "plan_hash": plan_hash(ready.plan),
        "parts": _versions(ready),
        "models": {name: dict(model) for name, model in models.items()},
        "notice": " ".join(notices),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _advantages(ready: Ready) -> Iterator[str]:
    """What the agent had that others have not, for every report to tell."""
    agent = ready.agent
    if Facet.SIMULATOR in agent.needs:
        yield f"Agent {agent.label} tried actions in a private copy of the world before it chose one."
    for name in reward_names(agent.config).values():
        if Facet.TRUE_REWARD in ready.judges[name].needs:
            yield f"Reward model {name}, which agent {agent.label} asked, knows the truth."


def _versions(ready: Ready) -> dict[str, Json]:
    """By the parts' names; those of parts of two kinds that are called the same begin with the kind."""
    called = Counter(part.label for part in ready.parts)
    return {
        part.label if called[part.label] == 1 else f"{KINDS[part.kind].title} {part.label}": _version_of(part)
        for part in ready.parts
    }


def _version_of(part: Chosen) -> str:
    return "not installed here" if part.absent else f"{part.entry.qualified} v{part.entry.offer.version}"


@cache
def _version(package: str) -> str | None:
    """Looked up once: a package's metadata are read and parsed whole."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
