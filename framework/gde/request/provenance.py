"""Where a run's numbers come from: versions of everything that made them."""

import platform
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gde.data.json import Json
from gde.request.planfile import plan_hash, plan_tables
from gde.request.resolve import Chosen, Ready

PACKAGES = ("gde-eval", "numpy", "scipy", "torch", "transformers", "scikit-learn", "pydantic")


def provenance(ready: Ready, model: Mapping[str, Any] | None) -> dict[str, Json]:
    """What has to be known to repeat a run; `model` is the journal's note of the model that answered."""
    return {
        "plan": plan_tables(ready.plan),
        "plan_hash": plan_hash(ready.plan),
        "parts": {chosen.name: f"{chosen.entry.qualified} v{chosen.entry.offer.version}" for chosen in _parts(ready)},
        "model": dict(model) if model else None,
        "notice": str(model["notice"]) if model else "",
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def listed_worlds(ready: Ready) -> str:
    """A digest of all worlds that the environment lists; empty where it lists none.

    Raises:
        GdeError: a list of worlds cannot be had.
    """
    names = "\n\n".join("\n".join(stratum) for stratum in ready.worlds)
    return sha256(names.encode()).hexdigest()[:16] if any(ready.worlds) else ""


def _parts(ready: Ready) -> list[Chosen]:
    model = [ready.language_model] if ready.language_model else []
    return [ready.strata[0].environment, ready.agent, *model, *ready.probes, *ready.rewards, *ready.metrics]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
