"""Numbers with their intervals and counts, and the result of a whole run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Interval
from pydantic import (
    AfterValidator,
    AllowInfNan,
    BeforeValidator,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from typing_extensions import TypedDict

from gde.data.frame import Table, beside
from gde.data.json import Json, Labels
from gde.data.measure import Measure, Measures
from gde.data.model_use import ModelUse
from gde.data.trajectory import Status
from gde.data.verdict import Verdict
from gde.errors import GdeError

if TYPE_CHECKING:
    import pandas

SCHEMA = 2
COLUMNS = (
    "name",
    "title",
    "value",
    "low",
    "high",
    "unit",
    "n",
    "clusters",
    "source",
    "reason",
)
REASON = 160
"""The most characters of a reason in a line about the whole result."""
READABLE = 0.95
"""The share of readable answers below which a claim begins with it."""
NAMED = 3
"""The most runs that a claim names with their share of readable answers."""
FEW_WORLDS = 10
"""Fewest worlds for a reliable interval."""
Identity = tuple[str, frozenset[tuple[str, str | int | float | bool]]]
"""Name and labels of a measurement."""
TELL_APART = "tell them apart by name or by `where`"
"""Advice about two measurements with the same identity."""
RunStatus = Literal["ok", "partial", "failed"]


def _python(value: Any) -> Any:
    """Scalars and arrays of NumPy as Python's own."""
    # The name of the module spares the import of NumPy.
    return value.tolist() if type(value).__module__ == "numpy" else value


def _number(value: Any) -> Any:
    if isinstance(value, str | bytes):
        raise ValueError("wanted a number, got text")
    return _python(value)


def _writable(text: str) -> str:
    # Half a character (a lone surrogate) cannot be written to any file.
    text.encode()
    return text


def _in_order(interval: tuple[float, float]) -> tuple[float, float]:
    if interval[0] > interval[1]:
        raise ValueError("wanted the lower number first")
    return interval


_Text = Annotated[StrictStr, BeforeValidator(_python), AfterValidator(_writable)]
_Real = Annotated[float, BeforeValidator(_number), AllowInfNan(False)]
_Count = Annotated[int, BeforeValidator(_number), Interval(ge=0, lt=2**63)]
_Label = Annotated[
    StrictBool | StrictInt | Annotated[StrictFloat, AllowInfNan(False)] | _Text,
    BeforeValidator(_python),
]


class _Fields(TypedDict):
    """The values that the fields of a measurement take."""

    name: _Text
    value: _Real | None
    unit: _Text
    n: _Count
    clusters: _Count | None
    interval: (
        Annotated[
            tuple[_Real, _Real], BeforeValidator(_python), AfterValidator(_in_order)
        ]
        | None
    )
    where: dict[_Text, _Label]
    reason: _Text
    source: _Text


_FIELDS = TypeAdapter(_Fields)
_WANTED = {
    "value": "a finite number",
    "n": "a whole number from 0 on",
    "clusters": "a whole number from 0 on",
    "interval": "two finite numbers, the lower one first",
    "where": "texts, finite numbers or truth values by name",
}
"""What the fields take, for messages; the others take text."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number, or the reason why there is none.

    Scalars of NumPy become Python's own.

    Raises:
        ValueError: a field has a value of another kind.
    """

    name: str
    value: float | None
    unit: str = ""
    """"share", "cells", "bits", "count", "nats" ... The run fills in the unit of the
    number's `Measure`; a part gives one only where that names none.
    """
    n: int
    """The number of observations."""
    clusters: int | None = None
    """The number of independent clusters of worlds that the observations come from;
    None where observations are independent, or where it is not known.
    """
    interval: tuple[float, float] | None = None
    """95 % interval; None where none is defined."""
    where: Labels = field(default_factory=dict)
    """Labels of the part of the run that it is about, e.g. {"size": 9}; empty for the
    whole run.
    """
    reason: str = ""
    """Why value is None, or why it has no interval; empty otherwise."""
    source: str = ""
    """The metric or probe that measured it. The run fills it in."""
    verdict: Verdict | None = None
    """For a headline of a probe, its comparison with its strongest control; for that of
    a control, the probe's comparison with it. The run fills it in.
    """

    def __post_init__(self) -> None:
        try:
            fields = _FIELDS.validate_python(vars(self))
        except ValidationError as error:
            first = error.errors()[0]["loc"][0]
            # Arrays print on several lines; a message is one line.
            got = " ".join(repr(getattr(self, str(first))).split())[:80]
            advice = "; give None and a reason" if first == "value" else ""
            raise ValueError(
                f"{self.name}: {first}: wanted {_WANTED.get(str(first), 'text')}, got {got}{advice}"
            ) from None
        vars(self).update(fields)

        if self.value is None and not self.reason:
            raise ValueError(f"{self.name}: a measurement without a value has a reason")
        if self.interval is not None and self.reason:
            raise ValueError(
                f"{self.name}: a measurement with an interval has no reason, got {self.reason!r}"
            )

    def __str__(self) -> str:
        """Name, labels, value, interval and unit, or the reason why there is none."""
        if self.value is None:
            return f"{self.label}: {self.reason}"
        ends = (
            "" if self.interval is None else " [{:.4g}, {:.4g}]".format(*self.interval)
        )
        return f"{self.label} {self.value:.4g}{ends} {self.unit}".rstrip()

    @property
    def identity(self) -> Identity:
        """Name and labels, which no two measurements of a run share."""
        return self.name, frozenset(self.where.items())

    @property
    def label(self) -> str:
        """Name and labels as text."""
        return labelled(self.name, self.where)


def with_unit(one: Measurement, measure: Measure) -> Measurement:
    """A number with the unit that its measure declares, or else with its own.

    Raises:
        GdeError: the two differ.
    """
    if one.unit and measure.unit not in ("", one.unit):
        raise GdeError(
            f"{one.name}: wanted the unit {measure.unit!r} that its measure declares, or none, got {one.unit!r}"
        )
    return replace(one, unit=measure.unit or one.unit)


def labelled(name: str, where: Labels) -> str:
    """A name with labels as text."""
    return " ".join([name, *(f"{key}={value}" for key, value in where.items())])


def repeated(measurements: Iterable[Measurement]) -> str | None:
    """The label of the first repeated identity; None where all differ."""
    seen = set()
    for each in measurements:
        if each.identity in seen:
            return each.label
        seen.add(each.identity)
    return None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error inside a run that was recorded instead of raised."""

    stage: str
    """"rollout", "reward", "probe", "metric", "report"."""
    subject: str
    """The episode, probe or metric."""
    reason: str
    traceback: str = ""
    """Python's traceback; empty where the reason is enough, or where an earlier failure
    with the same reason has it.
    """


@dataclass(frozen=True, kw_only=True)
class UnusableAnswers:
    """A class of unusable answers."""

    status: Status
    """The class."""
    answers: int
    example: str
    """The reason of the first of them, shortened; where a setting would help, it ends
    with that.
    """


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The agent and environment of a run, and the size of its record."""

    agent: str = ""
    environment: str = ""
    model: str = ""
    """The agent's language model as named in the plan; empty where it has none."""
    worlds: int = 0
    """Worlds of the episodes that did not fail."""
    impossible: int = 0
    """Of these, the worlds whose goal is proved to be out of reach of everything."""
    episodes: int = 0
    failed: int = 0
    """Episodes that failed."""
    retried: int = 0
    """Episodes that failed and were run again."""
    turns: int = 0
    """Turns of the episodes that did not fail."""
    unusable: int = 0
    """Turns whose answer was no action."""
    unusable_classes: tuple[UnusableAnswers, ...] = ()
    """The most frequent classes of these answers, at most three."""

    @property
    def readable(self) -> float | None:
        """The share of turns whose answer was an action; None without turns."""
        return (self.turns - self.unusable) / self.turns if self.turns else None

    @property
    def is_readable(self) -> bool:
        """Whether so many answers were that a claim need not begin with their share."""
        return self.readable is None or self.readable >= READABLE


def readable_rates(subjects: Mapping[str, Subject]) -> str:
    """A sentence with the shares of readable answers of runs, by their names; empty where
    they limit no claim.
    """
    if all(one.is_readable for one in subjects.values()):
        return ""
    rates = {
        name: 100 * of.readable
        for name, of in subjects.items()
        if of.readable is not None
    }
    told = ", ".join(f"{name} {rate:.0f} %" for name, rate in rates.items())
    if len(rates) > NAMED:
        told = f"{min(rates.values()):.0f} to {max(rates.values()):.0f} %"
    return f"Answers that could be read: {told}."


@dataclass(frozen=True, kw_only=True)
class Result:
    """The numbers and failures of a run."""

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
    """The meanings of the measurements, as declared by their parts."""
    models: tuple[ModelUse, ...] = ()
    """The language models that answered, with what their answers took."""

    def __repr__(self) -> str:
        """As `gde.overview`, which the layers above the data know how to word."""
        import gde

        return gde.overview(self)

    @property
    def missing(self) -> str:
        """What has failed, in one line; empty for nothing."""
        of = self.subject
        lost = []
        if of.failed:
            lost.append(f"{of.failed} of {of.episodes} episodes failed")
        if of.turns and of.unusable == of.turns:
            examples = [one.example for one in of.unusable_classes[:1]]
            none = f"none of {of.turns} answers was an action"
            lost.append(": ".join([none, *examples]))

        # The first failure of each part stands for all of them.
        first: dict[str, str] = {}
        for failure in self.failures:
            part, _, _ = failure.subject.partition(" ")
            if failure.stage == "rollout":
                part = ""
            reason = shorten(failure.reason, REASON)
            first.setdefault(f"{failure.stage} {part}".strip(), reason)
        return "; ".join((*lost, *(f"{part}: {why}" for part, why in first.items())))

    @property
    def meanings(self) -> Measures:
        """The measures by the names of measurements."""
        return Measures(self.measures)

    @property
    def table(self) -> Table:
        """A row for each measurement.

        The columns are `COLUMNS`, with `low` and `high` for the interval, and then one
        for each label, e.g. `size`. A label with the name of another column is in
        `where.NAME`. Absent values are None.
        """
        meanings = self.meanings
        rows = []
        for one in self.measurements:
            title, _ = meanings[one.name].titled(one.where)
            rows.append(_row(one, title))
        return Table.of(rows, COLUMNS)

    def to_frame(self) -> "pandas.DataFrame":
        """The table as a frame.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return self.table.to_pandas("Result.to_frame")


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
        "clusters": one.clusters,
        "source": one.source,
        "reason": one.reason,
        **beside(one.where, COLUMNS, "where"),
    }
