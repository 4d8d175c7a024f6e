"""Measurements of single worlds, by the metrics of any plugin."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gde.data.evidence import Evidence
from gde.numerics.by_world import measured
from gde.parts.context import Context
from gde.parts.metric import Metric

PlaceT = TypeVar("PlaceT", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Measured(Generic[PlaceT]):
    """One measurement, wherever it has a value."""

    name: str
    unit: str
    """Empty where it has none."""
    values: Mapping[PlaceT, float]
    """Part of the evidence to value."""


def measure(context: Context, names: Sequence[str], parts: Mapping[PlaceT, Evidence]) -> list[Measured[PlaceT]]:
    """The named measurements of each part, with no restriction of their own, by metrics that the context gives.

    Raises:
        UnknownName: no plugin offers the metric of a name.
        GdeError: a metric raises.
    """
    found = {
        quantity.name: Measured(name=quantity.name, unit=quantity.unit, values=values)
        for quantity, values in measured(_metrics(context, names), parts).items()
        if not quantity.restricted
    }
    return [found.get(name, Measured(name=name, unit="", values={})) for name in names]


def _metrics(context: Context, names: Sequence[str]) -> list[tuple[str, Metric]]:
    """The metrics that give the named measurements, each once."""
    found = {name: context.metric(name) for name in names}
    return [*{id(metric): (name, metric) for name, metric in found.items()}.values()]
