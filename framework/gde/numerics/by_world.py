"""Metrics computed world by world, as comparisons of runs and of variations need
them.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isnan
from typing import TypeVar

import numpy as np

from gde.data.evidence import Evidence
from gde.data.grouping import grouped
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
    evidence: Evidence, place: Callable[[Trajectory], PlaceT]
) -> dict[PlaceT, Evidence]:
    """Split the evidence by the place of its episodes, in the order of first episodes.

    Probe reports are left out, because probes are fitted to whole runs. Each part is
    marked as a part, so that metrics that compare worlds give nothing for it.
    """
    trajectories = grouped(evidence.trajectories, place)
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
    metrics: Sequence[tuple[str, Metric]], parts: Mapping[PlaceT, Evidence]
) -> dict[Quantity, dict[PlaceT, float]]:
    """The numbers of the named metrics, by quantity and part. Measurements without a
    value are left out.

    Raises:
        GdeError: a metric raises. The message names metric and world.
    """
    found: dict[str, dict[Quantity, dict[PlaceT, float]]] = {}
    asked = []
    for name, given in metrics:
        declared = given if isinstance(given, Declared) else Declared(given, Measures())
        found[name] = {}
        if parts and isinstance(declared.metric, EpisodeMetric):
            numbers = _from_facts(name, declared, declared.metric, parts)
            for number, values in numbers.items():
                unit = declared.measures[number].unit
                found[name][Quantity(name=number, unit=unit)] = values
        else:
            asked.append((name, declared))

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


def _from_facts(
    name: str,
    declared: Declared,
    metric: EpisodeMetric,
    parts: Mapping[PlaceT, Evidence],
) -> dict[str, dict[PlaceT, float]]:
    """The numbers of all parts at once, where they follow from facts of episodes."""
    episodes: list[Trajectory] = []
    groups: list[int] = []
    for i, part in enumerate(parts.values()):
        episodes += part.trajectories
        groups += [i] * len(part.trajectories)
    evidence = replace(next(iter(parts.values())), trajectories=episodes)

    def ask(one: Trajectory, row: Row) -> tuple[float, ...]:
        with _naming(name, f" on world {one.world.id}"):
            return row()

    table = tabulate(metric, evidence, ask)
    found = {}
    for number in metric.numbers:
        # What other agents would reach in a world says nothing about this one.
        if declared.measures[number.name].beside:
            continue
        with _naming(name):
            values = number.each(table, np.array(groups), len(parts)).tolist()
        known = {
            place: value
            for place, value in zip(parts, values, strict=True)
            if not isnan(value)
        }
        if known:
            found[number.name] = known
    return found


@contextmanager
def _naming(metric: str, where: str = "") -> Iterator[None]:
    """Say the metric and the world in an error: a metric is a plugin's."""
    try:
        yield
    except Exception as error:
        reason = str(error) if isinstance(error, GdeError) else repr(error)
        raise GdeError(f"metric {metric!r} fails{where}: {reason}") from error
