"""Measurements of parts of a run, e.g. of single worlds, by the metrics of any
plugin.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gde.data.evidence import Evidence
from gde.numerics.by_world import measured
from gde.parts.context import Context

PlaceT = TypeVar("PlaceT", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Measured(Generic[PlaceT]):
    """One measurement in every part in which it has a value."""

    name: str
    unit: str
    """Empty if no part has a value."""
    values: Mapping[PlaceT, float]
    """Part of the evidence to value."""


def measure(
    context: Context, names: Sequence[str], parts: Mapping[PlaceT, Evidence]
) -> list[Measured[PlaceT]]:
    """Measure each part by name; measurements that are restricted, e.g. to one size,
    are left out.

    Raises:
        UnknownName: no plugin offers the metric of a name.
        GdeError: a metric raises.
    """
    # Several names may belong to one metric, which is asked once.
    metrics = {}
    for name in names:
        metric = context.metric(name)
        metrics[id(metric)] = name, metric

    found: dict[str, Measured[PlaceT]] = {}
    for quantity, values in measured([*metrics.values()], parts).items():
        if not quantity.restricted:
            found[quantity.name] = Measured(
                name=quantity.name, unit=quantity.unit, values=values
            )
    return [found.get(name, Measured(name=name, unit="", values={})) for name in names]
