"""The provenance of a run's numbers: versions of everything that made them."""

import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from subprocess import SubprocessError, run
from typing import Any

from gde.data.how import How
from gde.data.json import Json
from gde.data.plan import NOTHING
from gde.offers import Capability
from gde.request.howfile import PARTS, how_tables
from gde.request.names import reward_names
from gde.request.planfile import plan_hash, plan_tables
from gde.request.ready import Ready
from gde.request.versions import versions

PACKAGES = (
    "gde-eval",
    "numpy",
    "scipy",
    "torch",
    "transformers",
    "scikit-learn",
    "pydantic",
)


def provenance(ready: Ready, models: Mapping[str, Any] = NOTHING) -> dict[str, Json]:
    """All that is needed to repeat a run.

    Args:
        ready: the plan.
        models: the journal's notes of the models that answered, by name.
    """
    packages: dict[str, Json] = {}
    offering = {part.entry.distribution for part in ready.parts}
    for name in (*PACKAGES, *sorted(offering.difference(PACKAGES))):
        if found := version_of(name):
            packages[name] = found
    noted: dict[str, Json] = {}
    notices = dict.fromkeys(_advantages(ready))
    for name, model in sorted(models.items()):
        noted[name] = dict(model)
        notices[str(model["notice"])] = None
    return {
        "plan": plan_tables(ready.plan),
        "plan_hash": plan_hash(ready.plan),
        "how": noted_how(ready.how),
        "parts": {**versions(ready.parts)},
        "notice": " ".join(filter(None, notices)),
        "python": platform.python_version(),
        "packages": packages,
        "commit": commit(),
        "models": noted,
        "exact": _exactness(ready.how, models),
    }


def _exactness(how: How, models: Mapping[str, Mapping[str, Any]]) -> str:
    """Whether the same plan gives the same bytes however it is run: "yes" or why not."""
    for name, note in sorted(models.items()):
        dtype = str(note["versions"].get("dtype", "")).removeprefix("torch.")
        settings = how.settings.get(name, {})
        if dtype not in ("", "float64") and settings.get("batch_size") != 1:
            return f"no: {name} computes in {dtype}, where other requests of a batch can change a token"
    return "yes"


def noted_how(how: How) -> dict[str, Json]:
    """A `How` for information: of tables in it, the names alone."""
    noted = how_tables(how)
    for values in noted[PARTS].values():
        for name, value in values.items():
            # Headers may be keys.
            if isinstance(value, Mapping):
                values[name] = list(value)
    return noted


def _advantages(ready: Ready) -> Iterator[str]:
    """Sentences on advantages of the agent over others, for every report to tell."""
    agent = ready.agent
    if Capability.SIMULATOR in agent.needs:
        yield f"Agent {agent.label} planned with a simulator, a private copy of the world."
    for name in reward_names(agent.config).values():
        if Capability.TRUE_REWARD in ready.judges[name].needs:
            yield f"Reward model {name}, which agent {agent.label} used, reads the true rewards."


@cache
def version_of(distribution: str) -> str:
    """The version of a distribution; empty where it is none."""
    # Cached, since a package's metadata are read and parsed whole.
    try:
        return version(distribution)
    except (PackageNotFoundError, ValueError):
        return ""


@cache
def commit() -> str:
    """The commit of gde's source, "-dirty" behind it where files were changed since;
    empty where it has none.
    """
    root = Path(__file__).parents[1]
    with suppress(OSError):
        return (root / "COMMIT").read_text().strip()
    # A repository around an installed gde is not its own.
    if not (root.parents[1] / ".git").exists():
        return ""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = run(
            git, check=False, cwd=root, capture_output=True, text=True, timeout=10
        )
    except (OSError, SubprocessError):
        return ""
    return found.stdout.strip()
