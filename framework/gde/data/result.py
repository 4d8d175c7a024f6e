"""Numbers with their intervals and counts, and the result of a whole run."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

from gde.data.frame import beside, frame
from gde.data.json import Json, Labels
from gde.data.measure import Measure, Measures

if TYPE_CHECKING:
    import pandas

SCHEMA = 1
COLUMNS = ("name", "title", "value", "low", "high", "unit", "n", "source", "reason")
FEW_WORLDS = 10
"""Fewest worlds for a reliable interval."""
Identity = tuple[str, frozenset[tuple[str, str | int | float | bool]]]
"""Name and labels of a measurement."""
TELL_APART = "tell them apart by name or by `where`"
"""Advice about two measurements with the same identity."""
RunStatus = Literal["ok", "partial", "failed"]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number, or the reason why there is none. Scalars of NumPy become Python's
    own.

    Raises:
        ValueError: a field has a value of another kind.
    """

    name: str
    value: float | None
    unit: str
    """"share", "cells", "bits", "count", "nats" ..."""
    n: int
    """The number of observations."""
    interval: tuple[float, float] | None = None
    """95 % interval; None where none is defined."""
    where: Labels = field(default_factory=dict)
    """Labels of the part of the run that it is about, e.g. {"size": 9}; empty for the
    whole run.
    """
    reason: str = ""
    """The reason why value is None; empty otherwise."""
    source: str = ""
    """The metric or probe that measured it. The run fills it in."""

    def __post_init__(self) -> None:
        for name, wanted, read in _READ:
            given = getattr(self, name)
            try:
                own = read(given)
            except (AttributeError, TypeError, ValueError, OverflowError):
                # Arrays print on several lines; a message is one line.
                words = repr(given).split()
                got = " ".join(words)[:80]
                advice = "; give None and a reason" if name == "value" else ""
                raise ValueError(
                    f"{self.name}: {name}: wanted {wanted}, got {got}{advice}"
                ) from None
            object.__setattr__(self, name, own)

        is_missing = self.value is None
        has_reason = bool(self.reason)
        if is_missing != has_reason:
            got = f"{self.value}, {self.reason!r}"
            raise ValueError(
                f"{self.name}: a measurement has either a value or a reason, got {got}"
            )

    @property
    def identity(self) -> Identity:
        """Name and labels, which no two measurements of a run share."""
        return self.name, frozenset(self.where.items())

    @property
    def label(self) -> str:
        """Name and labels as text."""
        return labelled(self.name, self.where)


def labelled(name: str, where: Labels) -> str:
    """A name with labels as text."""
    words = [name]
    for key, value in where.items():
        words.append(f"{key}={value}")
    return " ".join(words)


def repeated(measurements: Iterable[Measurement]) -> str | None:
    """The label of the first measurement whose identity an earlier one has; None where
    all differ.
    """
    seen = set()
    for each in measurements:
        if each.identity in seen:
            return each.label
        seen.add(each.identity)
    return None


def _own(value: Any) -> Any:
    """A scalar of NumPy as one of Python."""
    # The name of the module spares the import of NumPy.
    is_scalar = type(value).__module__ == "numpy" and value.ndim == 0
    if is_scalar:
        return value.item()
    return value


def _text(value: Any) -> str:
    value = _own(value)

    # Half a character (a lone surrogate) cannot be written to any file.
    value.encode()
    return str.__str__(value)


def _real_or_none(value: Any) -> float | None:
    if value is None:
        return None
    return _real(value)


def _real(value: Any) -> float:
    value = _own(value)
    if not isinstance(value, Real):
        raise ValueError
    real = float(value)

    # A whole number of more than 53 bits would be rounded in silence.
    if not isfinite(real) or real != value:
        raise ValueError
    return real


def _count(value: Any) -> int:
    value = _own(value)
    whole = int(_real(value))
    if whole != value or not 0 <= whole < 2**63:
        raise ValueError
    return whole


def _interval(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = map(_real, value)
    if low > high:
        raise ValueError
    return low, high


def _labels(value: Any) -> Labels:
    labels = {}
    for name, each in value.items():
        labels[_text(name)] = _label(each)
    return labels


def _label(value: Any) -> str | int | float | bool:
    value = _own(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _real(value)
    return _text(value)


_READ: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("name", "text", _text),
    ("value", "a finite number as of 64 bits", _real_or_none),
    ("unit", "text", _text),
    ("n", "a whole number from 0 on", _count),
    ("interval", "two finite numbers, the lower one first", _interval),
    ("where", "texts, finite numbers or truth values by name", _labels),
    ("reason", "text", _text),
    ("source", "text", _text),
)
"""The fields of a measurement, with the description of valid values and the function
that reads them.
"""


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
class Subject:
    """The agent and environment of a run, and the size of its record."""

    agent: str = ""
    environment: str = ""
    model: str = ""
    """The agent's language model as named in the plan; empty where it has none."""
    worlds: int = 0
    """Worlds of the episodes that did not fail."""
    episodes: int = 0
    failed: int = 0
    """Episodes that failed."""
    retried: int = 0
    """Episodes that failed and were run again."""
    turns: int = 0
    """Turns of the episodes that did not fail."""
    unusable: int = 0
    """Turns whose answer was no action."""


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

    @property
    def meanings(self) -> Measures:
        """The measures by the names of measurements."""
        return Measures(self.measures)

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each measurement, as a frame.

        The columns are `COLUMNS`, with `low` and `high` for the interval, and then one
        for each label, e.g. `size`. A label with the name of another column is in
        `where.NAME`. Absent values are missing.

        Raises:
            MissingExtra: pandas is not installed.
        """
        meanings = self.meanings
        rows = []
        for one in self.measurements:
            title, _ = meanings[one.name].titled(one.where)
            rows.append(_row(one, title))
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
