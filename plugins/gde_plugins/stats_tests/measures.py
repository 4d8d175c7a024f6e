"""Measurements of single worlds, by the metrics of any plugin."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gde.data.evidence import Evidence
from gde.numerics.by_world import measured
from gde.parts.metric import Metric
from gde.request.catalogue import Catalogue
from gde.request.settings import build

PlaceT = TypeVar("PlaceT", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Measure(Generic[PlaceT]):
    """One measurement, wherever it has a value."""

    name: str
    unit: str
    """Empty where it has none."""
    values: Mapping[PlaceT, float]
    """Part of the evidence to value."""


def measure(names: Sequence[str], parts: Mapping[PlaceT, Evidence]) -> list[Measure[PlaceT]]:
    """The named measurements of each part, with no restriction of their own.

    Raises:
        UnknownName: no plugin offers the metric of a name.
        GdeError: a metric raises.
    """
    found = {
        quantity.name: Measure(name=quantity.name, unit=quantity.unit, values=values)
        for quantity, values in measured(_metrics(names), parts).items()
        if not quantity.restricted
    }
    return [found.get(name, Measure(name=name, unit="", values={})) for name in names]


def _metrics(names: Sequence[str]) -> list[tuple[str, Metric]]:
    catalogue = Catalogue.default()
    known = catalogue.names("metric")
    wanted = dict.fromkeys(metric_of(one, known) for one in names)
    offers = {name: catalogue.find("metric", name).offer for name in wanted}
    return [(name, offer.make(build(offer.config, {}, name))) for name, offer in offers.items()]


def metric_of(measurement: str, known: Sequence[str]) -> str:
    """Which metric gives it: "policy" gives "policy.jsd", and "meg-known" "meg.known", since no metric has dots."""
    givers = [name for name in known if f"{measurement}.".startswith(f"{name.replace('-', '.')}.")]
    return max(givers, key=len, default=measurement.split(".")[0])
