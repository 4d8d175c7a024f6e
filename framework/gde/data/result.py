"""Numbers with what is needed to trust them, and the result of a whole run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from gde.data.frame import beside, frame
from gde.data.json import Json, Labels
from gde.data.measure import Measure, Measures

if TYPE_CHECKING:
    import pandas

SCHEMA = 1
COLUMNS = ("name", "title", "value", "low", "high", "unit", "n", "source", "reason")
FEW_WORLDS = 10
"""With fewer, an interval over worlds says little."""
RunStatus = Literal["ok", "partial", "failed"]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number, or the reason why there is none."""

    name: str
    value: float | None
    unit: str
    """"share", "cells", "bits", "count", "nats" ..."""
    n: int
    """How many observations it rests on."""
    interval: tuple[float, float] | None = None
    """95 % interval; None where none is defined."""
    where: Labels = field(default_factory=dict)
    """What it is restricted to, e.g. {"size": 9}; empty for the whole run."""
    reason: str = ""
    """Why value is None; empty otherwise."""
    source: str = ""
    """The metric or probe that measured it; the run fills it in."""

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.reason):
            raise ValueError(
                f"{self.name}: a measurement has either a value or a reason, got {self.value}, {self.reason!r}"
            )
        numbers = (*(() if self.value is None else (self.value,)), *(self.interval or ()))
        if not all(map(isfinite, numbers)):
            raise ValueError(f"{self.name}: wanted finite numbers, got {numbers}; give None and a reason")


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Something that went wrong inside a run and was recorded instead of raised."""

    stage: str
    """"rollout", "reward", "probe", "metric", "report"."""
    subject: str
    """Which episode, probe or metric."""
    reason: str
    traceback: str = ""
    """Where it was raised, as Python tells it; empty where the reason says all, and where an earlier failure has the
    same reason and says it."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Who was evaluated where, and how much of it there is to judge by."""

    agent: str = ""
    environment: str = ""
    model: str = ""
    """The agent's language model as the plan names it; empty where it has none."""
    worlds: int = 0
    """Of episodes that did not fail."""
    episodes: int = 0
    failed: int = 0
    """Of the episodes."""
    retried: int = 0
    """Of the episodes: those that failed and were begun anew."""
    turns: int = 0
    """Of episodes that did not fail."""
    unusable: int = 0
    """Of the turns: those whose answer was no action."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a run found."""

    run: str
    """The run folder."""
    status: RunStatus
    plan_hash: str
    measurements: tuple[Measurement, ...]
    failures: tuple[Failure, ...]
    provenance: Mapping[str, Json] = field(default_factory=dict)
    """Versions of parts and packages, and the models' notices."""
    subject: Subject = field(default_factory=Subject)
    measures: tuple[Measure, ...] = ()
    """What the measurements mean, as the parts that gave them declare it."""

    @property
    def meanings(self) -> Measures:
        """The measures by the names of measurements."""
        return Measures(self.measures)

    def to_frame(self) -> "pandas.DataFrame":
        """One row a measurement: `name`, `title`, `value`, `low` and `high` (of the interval), `unit`, `n`, `source`,
        `reason`, then one column for each thing that a measurement can be restricted to, e.g. `size`; one that is
        called like one of the others is `where.NAME`. What a measurement does not have is missing.

        Raises:
            MissingExtra: pandas is not installed.
        """
        meanings = self.meanings
        rows = (_row(one, meanings[one.name].titled(one.where)[0]) for one in self.measurements)
        return frame(rows, COLUMNS, "Result.to_frame")


def _row(one: Measurement, title: str) -> Mapping[str, Any]:
    low, high = one.interval or (None, None)
    return {
        "name": one.name,
        "title": title,
        "value": one.value,
        "low": low,
        "high": high,
        "unit": one.unit,
        "n": one.n,
        "source": one.source,
        "reason": one.reason,
        **beside(one.where, COLUMNS, "where"),
    }
