"""Metrics computed world by world, as comparisons of runs and of variations need
them.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gde.data.evidence import Evidence
from gde.data.grouping import grouped
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.metric import Metric

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
    found: dict[Quantity, dict[PlaceT, float]] = {}
    for place, part in parts.items():
        for name, metric in metrics:
            for measurement in _measure(name, metric, part):
                # A world without a number is left out of the comparison, not counted as
                # zero.
                if measurement.value is None:
                    continue
                quantity = Quantity.of(measurement)
                values = found.setdefault(quantity, {})
                values[place] = measurement.value
    return found


def _measure(name: str, metric: Metric, part: Evidence) -> Sequence[Measurement]:
    # A metric is a plugin's: any error of it must say which metric and which world.
    try:
        return metric(part)
    except Exception as error:
        world = part.part["world"]
        reason = str(error) if isinstance(error, GdeError) else repr(error)
        raise GdeError(f"metric {name!r} fails on world {world}: {reason}") from error
