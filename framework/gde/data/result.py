"""Numbers with what is needed to trust them, and the result of a whole run."""

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
"""With fewer, an interval over worlds says little."""
Identity = tuple[str, frozenset[tuple[str, str | int | float | bool]]]
"""Of a measurement: its name and what it is restricted to."""
TELL_APART = "tell them apart by name or by `where`"
"""What to do about measurements that share it."""
RunStatus = Literal["ok", "partial", "failed"]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number, or the reason why there is none. What NumPy gives is taken as Python's own.

    Raises:
        ValueError: a field holds what it does not say.
    """

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
        for name, wanted, read in _READ:
            given = getattr(self, name)
            try:
                object.__setattr__(self, name, read(given))
            except (AttributeError, TypeError, ValueError, OverflowError):
                got = " ".join(repr(given).split())[:80]
                advice = "; give None and a reason" if name == "value" else ""
                raise ValueError(f"{self.name}: {name}: wanted {wanted}, got {got}{advice}") from None
        if (self.value is None) != bool(self.reason):
            got = f"{self.value}, {self.reason!r}"
            raise ValueError(f"{self.name}: a measurement has either a value or a reason, got {got}")

    @property
    def identity(self) -> Identity:
        """What no two measurements of a run share."""
        return self.name, frozenset(self.where.items())

    @property
    def label(self) -> str:
        """Its name and what it is restricted to, in words."""
        return labelled(self.name, self.where)


def labelled(name: str, where: Labels) -> str:
    """A name with what it is restricted to."""
    return " ".join([name, *(f"{key}={value}" for key, value in where.items())])


def repeated(measurements: Iterable[Measurement]) -> str | None:
    """The label of the first measurement whose identity an earlier one has; None where all differ."""
    seen = set()
    for each in measurements:
        if each.identity in seen:
            return each.label
        seen.add(each.identity)
    return None


def _own(value: Any) -> Any:
    """A scalar of NumPy as one of Python."""
    is_scalar = type(value).__module__ == "numpy" and value.ndim == 0
    return value.item() if is_scalar else value


def _text(value: Any) -> str:
    value = _own(value)

    # Half a character (a lone surrogate) cannot be written to any file.
    value.encode()
    return str.__str__(value)


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
    return {_text(name): _label(each) for name, each in value.items()}


def _label(value: Any) -> str | int | float | bool:
    value = _own(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return _real(value) if isinstance(value, Real) else _text(value)


_READ: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("name", "text", _text),
    ("value", "a finite number as of 64 bits", lambda value: None if value is None else _real(value)),
    ("unit", "text", _text),
    ("n", "a whole number from 0 on", _count),
    ("interval", "two finite numbers, the lower one first", _interval),
    ("where", "texts, finite numbers or truth values by name", _labels),
    ("reason", "text", _text),
    ("source", "text", _text),
)
"""The fields of a measurement with what is wanted of each and what reads it."""


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
    """The agent and environment of a run, and how much was recorded."""

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
