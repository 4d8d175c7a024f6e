"""What a tracker gets of a run, and the reporter that gives it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gde.data.evidence import Evidence
from gde.data.json import Json
from gde.data.measure import Measures
from gde.data.model_use import total
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement, Result
from gde.files import write_whole

PAGE = "report.html"


@dataclass(frozen=True, kw_only=True)
class Tracked:
    """A run as trackers know runs."""

    name: str
    settings: Mapping[str, Json]
    """Parts of the plan and their settings, e.g. `env.size`."""
    numbers: Mapping[str, float]
    """Numbers of the whole run by name, with `.low`, `.high` and the `.p` of verdicts,
    and what models took.
    """
    tags: Mapping[str, str]
    """Status, hash of the plan, and verdicts in a word."""
    page: Path | None
    """The report, where one was made."""


class Tracker(Protocol):
    """Keeps runs."""

    name: str

    def keep(self, run: Tracked, folder: Path) -> Mapping[str, Json]:
        """Keep a run, in `folder` where nothing else is wanted; say where it is."""


@dataclass(frozen=True)
class TrackingReporter:
    """Hands the run to a tracker, and writes down where it keeps it.

    Implements `gde.parts.reporter.Reporter`.
    """

    tracker: Tracker

    def render(
        self,
        plan: Plan,
        result: Result,
        evidence: Evidence,  # noqa: ARG002
        folder: Path,
    ) -> Path:
        kept = self.tracker.keep(tracked(plan, result, folder), folder)
        note = folder / f"{self.tracker.name}.json"
        write_whole(note, json.dumps(dict(kept), indent=1) + "\n")
        return note


def tracked(plan: Plan, result: Result, folder: Path) -> Tracked:
    """What a tracker is told of a run."""
    settings: dict[str, Json] = {"seed": plan.seed, "episodes": plan.episodes}
    settings |= _settings("env", plan.environment) | _settings("agent", plan.agent)
    for choice in (*plan.models, *plan.probes, *plan.rewards):
        settings |= _settings(choice.label, choice)

    numbers = dict(_usage(result))
    tags = {"status": result.status, "plan": result.plan_hash}
    for one in result.measurements:
        if _is_told(one, result.meanings):
            # The name with all labels: each control of a probe has a verdict of its
            # own.
            name = ".".join(
                [one.name, *(f"{key}-{value}" for key, value in one.where.items())]
            )
            numbers |= dict(_numbers(name, one))
            if one.verdict is not None:
                tags[name] = one.verdict.outcome
    page = folder / PAGE
    return Tracked(
        name=folder.resolve().name,
        settings=settings,
        numbers=numbers,
        tags=tags,
        page=page if page.is_file() else None,
    )


def _settings(prefix: str, choice: Choice) -> dict[str, Json]:
    found: dict[str, Json] = {prefix: choice.name}
    for name, value in choice.config.items():
        found[f"{prefix}.{name}"] = value
    return found


def _is_told(one: Measurement, meanings: Measures) -> bool:
    """Whether it is a headline, or a number of the whole run with a verdict."""
    is_headline = not one.where and meanings[one.name].headline
    return is_headline or one.verdict is not None


def _numbers(name: str, one: Measurement) -> Iterator[tuple[str, float]]:
    if one.value is not None:
        yield name, one.value
    if one.interval is not None:
        low, high = one.interval
        yield f"{name}.low", low
        yield f"{name}.high", high
    if one.verdict is not None and one.verdict.p is not None:
        yield f"{name}.p", one.verdict.p


def _usage(result: Result) -> Iterator[tuple[str, float]]:
    usage = total(one.usage for one in result.models)
    yield "episodes", result.subject.episodes
    yield "models.calls", usage.calls
    for name in ("tokens", "seconds", "cost"):
        value = getattr(usage, name)
        if value is not None:
            yield f"models.{name}", float(value)
