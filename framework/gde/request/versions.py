"""What makes results: who offers each part, and the version of its results."""

import json
from collections.abc import Iterable, Mapping
from socket import gethostname

from gde.errors import GdeError
from gde.request.catalogue import FRAMEWORK
from gde.request.kinds import KINDS
from gde.request.ready import Chosen, Ready
from gde.request.settings import dump_what

VERSION_OF_STAGES = 4
"""Of gde's own stages and numerics: raised whenever the same plan gives other results,
which the plans of `tests/framework/runs/recorded_runs.json` tell.
"""
ABSENT = "not installed here"
Versions = Mapping[str, str]
"""Parts, e.g. "agent random", each as DISTRIBUTION:NAME vVERSION; "gde" for the stages."""


def versions(parts: Iterable[Chosen]) -> dict[str, str]:
    """The versions of gde's stages and of some parts."""
    found = {"gde": f"{FRAMEWORK}:stages v{VERSION_OF_STAGES}"}
    for part in parts:
        entry = part.entry
        offered = f"{entry.distribution or entry.plugin}:{entry.offer.name}"
        found[f"{KINDS[part.kind].title} {part.label}"] = (
            f"{offered} v{entry.offer.version}" if entry.plugin else ABSENT
        )
    return found


def made_by(environment: Chosen, metric: Chosen) -> str:
    """What the facts of a metric are made by, or nothing where that is an object."""
    if not (environment.entry.plugin and metric.entry.plugin):
        return ""
    parts = [*versions((environment, metric)).values()]
    return json.dumps([*parts, dump_what(metric.config)])


def playing(ready: Ready) -> dict[str, str]:
    """The versions of all that plays the episodes of a run."""
    judges = ready.judges.values()
    return versions((ready.environment, ready.agent, *ready.models.values(), *judges))


def check_worker(run: Versions, here: Versions) -> None:
    """Check that what works here, wherever that is, gives the results of the run.

    Raises:
        GdeError: a version is another one.
    """
    for name, now in here.items():
        if now != run[name]:
            raise GdeError(
                f"{name}: the run has {run[name]}, its worker on {gethostname()} has {now}: install the same there"
            )


def check_same(
    made: str, by: Versions, here: Versions, packages: Mapping[str, str]
) -> None:
    """Check that unfinished work goes on with the versions that it began with.

    Args:
        made: what was made, in words.
        by: the versions that it was made by.
        here: those that would go on.
        packages: the versions of distributions that it was made by.

    Raises:
        GdeError: a version is another one.
    """
    for name, now in here.items():
        before = by.get(name, now)
        if before not in (now, ABSENT):
            distribution = before.partition(":")[0]
            known = f"{distribution} {packages.get(distribution, '')}".strip()
            raise GdeError(
                f"{name}: {made} of this run were made by {before}, here is {now}:"
                f" restore it ({known}), or start a new run"
            )
