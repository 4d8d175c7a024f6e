"""Metrics taken part by part, world by world: what comparisons of runs and of variations rest on."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.metric import Metric

PlaceT = TypeVar("PlaceT", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """What is measured, whatever the value."""

    name: str
    unit: str
    restricted: tuple[tuple[str, str | int | float | bool], ...] = ()
    """`Measurement.where` as pairs, sorted."""

    @classmethod
    def of(cls, measurement: Measurement) -> "Quantity":
        """What `measurement` is a measurement of."""
        where = tuple(sorted(measurement.where.items()))
        return cls(name=measurement.name, unit=measurement.unit, restricted=where)

    @property
    def where(self) -> Labels:
        return dict(self.restricted)


def split(evidence: Evidence, place: Callable[[Trajectory], PlaceT]) -> dict[PlaceT, Evidence]:
    """The evidence of each place that an episode can have, in the order of first episodes.

    Probes are fitted to whole runs, so their reports are left out. A part is marked as one, so that metrics that
    compare worlds have nothing to say on it.
    """
    trajectories: dict[PlaceT, list[Trajectory]] = {}
    for one in evidence.trajectories:
        trajectories.setdefault(place(one), []).append(one)
    traces: dict[str, list[RewardTrace]] = {}
    for trace in evidence.reward_traces:
        traces.setdefault(trace.episode, []).append(trace)
    return {
        where: replace(
            evidence,
            trajectories=tuple(group),
            reward_traces=tuple(trace for one in group for trace in traces.get(str(one.key), ())),
            probe_reports=(),
            part={"world": group[0].world.id},
        )
        for where, group in trajectories.items()
    }


def measured(
    metrics: Sequence[tuple[str, Metric]], parts: Mapping[PlaceT, Evidence]
) -> dict[Quantity, dict[PlaceT, float]]:
    """Every number that the named metrics give, by quantity and part; what a part cannot give is left out.

    Raises:
        GdeError: a metric raises; metric and world are named.
    """
    found: dict[Quantity, dict[PlaceT, float]] = {}
    for place, part in parts.items():
        for name, metric in metrics:
            for measurement in _measure(name, metric, part):
                if measurement.value is not None:
                    found.setdefault(Quantity.of(measurement), {})[place] = measurement.value
    return found


def _measure(name: str, metric: Metric, part: Evidence) -> Sequence[Measurement]:
    try:
        return metric(part)
    except Exception as error:
        raise GdeError(f"metric {name!r} fails on world {part.part['world']}: {error!r}") from error
