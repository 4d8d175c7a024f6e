"""Metrics computed world by world, as comparisons of runs and of variations need
them.
"""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isnan
from typing import TypeVar

import numpy as np

from gde.data.episode_table import EpisodeTable
from gde.data.evidence import Evidence
from gde.data.grouping import collected, grouped
from gde.data.json import Labels
from gde.data.measure import Measures
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.episode_metric import EpisodeMetric, Row, tabulate
from gde.parts.metric import Declared, Metric

PlaceT = TypeVar("PlaceT", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """The identity of a measurement without its value."""

    name: str
    unit: str
    restricted: tuple[tuple[str, str | int | float | bool], ...] = ()
    """`Measurement.where` as pairs, sorted."""

    @classmethod
    def of(cls, measurement: Measurement) -> "Quantity":
        """The quantity of a measurement."""
        where = tuple(sorted(measurement.where.items()))
        return cls(name=measurement.name, unit=measurement.unit, restricted=where)

    @property
    def where(self) -> Labels:
        return dict(self.restricted)


def split(
    evidence: Evidence, places: Sequence[PlaceT | None]
) -> dict[PlaceT, Evidence]:
    """Split the evidence by the places of its episodes, in the order of first episodes.

    Probe reports are left out, because probes are fitted to whole runs. Each part is
    marked as a part, so that metrics that compare worlds give nothing for it.

    Args:
        evidence: of N episodes.
        places: (N,) place of each episode; one without a place is left out.
    """
    placed = zip(places, evidence.trajectories, strict=True)
    trajectories = collected((place, one) for place, one in placed if place is not None)
    traces_of = grouped(evidence.reward_traces, lambda trace: trace.episode)

    parts = {}
    for where, group in trajectories.items():
        # Traces follow their episodes, so that both stand in the same order.
        traces: list[RewardTrace] = []
        for one in group:
            key = str(one.key)
            traces += traces_of.get(key, [])

        world = group[0].world
        parts[where] = replace(
            evidence,
            trajectories=tuple(group),
            reward_traces=tuple(traces),
            probe_reports=(),
            part={"world": world.id},
        )
    return parts


def measured(
    metrics: Sequence[tuple[str, Metric]],
    evidence: Evidence,
    places: Sequence[PlaceT | None],
) -> dict[Quantity, dict[PlaceT, float]]:
    """The numbers of the named metrics at each place, by quantity. Measurements without
    a value are left out.

    Args:
        metrics: with their names.
        evidence: of N episodes.
        places: as in `split`.

    Raises:
        GdeError: a metric raises. The message names metric and world.
    """
    found: dict[str, dict[Quantity, dict[PlaceT, float]]] = {}
    asked = []
    numbered: dict[PlaceT, int] = {}
    groups = np.array(
        [
            -1 if place is None else numbered.setdefault(place, len(numbered))
            for place in places
        ],
        dtype=np.int64,
    )
    chosen = groups >= 0
    for name, given in metrics:
        declared = given if isinstance(given, Declared) else Declared(given, Measures())
        found[name] = {}
        if isinstance(declared.metric, EpisodeMetric):
            table = _table(name, declared.metric, evidence).where(chosen)
            for number in declared.metric.numbers:
                measure = declared.measures[number.name]
                # What other agents would reach in a world says nothing of this one.
                # A number that no episode has is none in any world.
                is_none = number.only and np.isnan(table[number.only]).all()
                if measure.beside or is_none:
                    continue
                with _naming(name):
                    each = number.each(table, groups[chosen], len(numbered)).tolist()
                values = {
                    place: value
                    for place, value in zip(numbered, each, strict=True)
                    if not isnan(value)
                }
                if values:
                    found[name][Quantity(name=number.name, unit=measure.unit)] = values
        else:
            asked.append((name, declared))

    parts = split(evidence, places) if asked else {}
    for place, part in parts.items():
        for name, metric in asked:
            with _naming(name, f" on world {part.part['world']}"):
                measurements = metric(part)
            for measurement in measurements:
                # A world without a number is left out of the comparison, not counted as
                # zero.
                if measurement.value is None:
                    continue
                quantity = Quantity.of(measurement)
                values = found[name].setdefault(quantity, {})
                values[place] = measurement.value
    return {quantity: one[quantity] for one in found.values() for quantity in one}


def _table(name: str, metric: EpisodeMetric, evidence: Evidence) -> EpisodeTable:
    def ask(one: Trajectory, row: Row) -> tuple[float, ...]:
        with _naming(name, f" on world {one.world.id}"):
            return row()

    return tabulate(metric, evidence, ask)


@contextmanager
def _naming(metric: str, where: str = "") -> Iterator[None]:
    """Say the metric and the world in an error: a metric is a plugin's."""
    try:
        yield
    except Exception as error:
        reason = str(error) if isinstance(error, GdeError) else repr(error)
        raise GdeError(f"metric {metric!r} fails{where}: {reason}") from error
