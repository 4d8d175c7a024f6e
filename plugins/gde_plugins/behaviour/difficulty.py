"""Where does the agent fail? The same numbers, restricted to worlds of one kind and to one distance from the goal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.json import is_number
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import CERTIFIED, Place, finished, is_optimal, lacking, over_worlds, unmeasured
from gde.numerics.stats import Estimate, cluster_mean, cluster_share
from gde_plugins.behaviour.visits import IDENTIFIED, VisitedState, visited

KINDS = ("size", "density")
"""Labels that worlds are broken down by, where they are numbers and vary."""
DISTANCE = "distance"
"""Steps from the current state to the goal by the shortest way: minus its optimal value."""
BAND = 5
"""Distances in one band where distance is crossed with a kind; a band is named by its last distance."""
FEWEST = 3
"""Worlds that a cell at one distance needs."""
MARGINS = (("size",), ("density",), (DISTANCE,), ("size", "density"), ("size", DISTANCE), ("density", DISTANCE))
PANELS = ("size", "density", DISTANCE)
"""The heat maps of Arghal et al. (2026), fig. 4."""
NOTHING_VARIES = "size and density do not vary, and the optimal values are no distances"


class Sample(NamedTuple):
    """One value and where it belongs."""

    place: Place
    group: str
    """Values are averaged within a group, groups within a world, worlds within a cell."""
    kinds: dict[str, float]
    distance: int | None
    """None where the goal is out of reach."""
    value: float


@dataclass(frozen=True)
class Breakdown:
    """What is broken down, and by what."""

    samples: Callable[[Iterable[Trajectory]], Iterable[Sample]]
    unit: str = "share"
    estimate: Callable[..., Estimate] = cluster_share
    margins: tuple[tuple[str, ...], ...] = MARGINS


def difficulty(evidence: Evidence) -> Sequence[Measurement]:
    """Accuracy, success, divergence and entropy by size, density and distance to the goal (Arghal et al. 2026, fig. 4).

    Each is the number of its name without "difficulty" ("policy.jsd" and "policy.entropy" for states), restricted to
    a cell: n counts the worlds in it. Accuracy belongs to the distance from which a step is taken, divergence and
    entropy to that of the state, success to that at which the episode begins. Distances alone are exact; crossed with
    size or density they are bands of five, 5 standing for 1 to 5. A distance met in fewer than three worlds is given
    with that reason. Only the whole run is broken down, since its conditions are the breakdown.
    """
    if evidence.part:
        return []
    trajectories = finished(evidence)
    if reason := lacking(trajectories, IDENTIFIED, CERTIFIED):
        return [unmeasured(name, breakdown.unit, reason) for name, breakdown in BREAKDOWNS.items()]
    axes = _axes(trajectories)
    if not axes:
        return [unmeasured(name, breakdown.unit, NOTHING_VARIES) for name, breakdown in BREAKDOWNS.items()]
    return [
        measurement
        for name, breakdown in BREAKDOWNS.items()
        for measurement in _measured(evidence, name, breakdown, axes)
    ]


def _axes(trajectories: Iterable[Trajectory]) -> set[str]:
    """What the run can be broken down by."""
    kinds = [_kinds(trajectory) for trajectory in trajectories]
    varied = {kind for kind in KINDS if all(kind in one for one in kinds) and len({one[kind] for one in kinds}) > 1}
    values = [turn.value for trajectory in trajectories for turn in trajectory.turns if turn.value is not None]
    return varied | ({DISTANCE} if _are_distances([value for value in values if isfinite(value)]) else set())


def _are_distances(values: Sequence[float]) -> bool:
    return bool(values) and all(value <= 0 and value.is_integer() for value in values)


def _measured(evidence: Evidence, name: str, breakdown: Breakdown, axes: set[str]) -> Iterator[Measurement]:
    samples = list(breakdown.samples(finished(evidence)))
    for margin in filter(axes.issuperset, breakdown.margins):
        for cell, worlds in _cells(samples, margin).items():
            if DISTANCE in margin and len(worlds) < FEWEST:
                measurement = unmeasured(name, breakdown.unit, f"{len(worlds)} of the {FEWEST} worlds that it needs")
            else:
                measurement = over_worlds(evidence, name, breakdown.unit, worlds, breakdown.estimate)
            yield replace(measurement, where=dict(zip(margin, cell, strict=True)))


def _cells(samples: Sequence[Sample], margin: tuple[str, ...]) -> dict[tuple[float, ...], dict[Place, float]]:
    """Coordinates of each cell, in order, to the value of each world in it."""
    cells: dict[tuple[float, ...], dict[Place, dict[str, list[float]]]] = {}
    for sample in samples:
        if DISTANCE not in margin or sample.distance is not None:
            worlds = cells.setdefault(_cell(sample, margin), {})
            worlds.setdefault(sample.place, {}).setdefault(sample.group, []).append(sample.value)
    return {
        cell: {place: fmean(map(fmean, groups.values())) for place, groups in cells[cell].items()}
        for cell in sorted(cells)
    }


def _cell(sample: Sample, margin: tuple[str, ...]) -> tuple[float, ...]:
    exact = sample.distance or 0
    distance = exact if margin == (DISTANCE,) else BAND * ceil(exact / BAND)
    return tuple(distance if axis == DISTANCE else sample.kinds[axis] for axis in margin)


def _steps(trajectories: Iterable[Trajectory]) -> Iterator[Sample]:
    for one in trajectories:
        place = Place.of(one)
        group = str(one.key)
        kinds = _kinds(one)
        for turn in one.turns:
            yield Sample(place, group, kinds, _distance(turn.value), is_optimal(turn))


def _episodes(trajectories: Iterable[Trajectory]) -> Iterator[Sample]:
    for one in trajectories:
        begin = one.turns[0].value if one.turns else None
        yield Sample(Place.of(one), str(one.key), _kinds(one), _distance(begin), one.succeeded)


def _states(
    number: Callable[[VisitedState], float], usable: Callable[[VisitedState], bool]
) -> Callable[[Iterable[Trajectory]], Iterator[Sample]]:
    def samples(trajectories: Iterable[Trajectory]) -> Iterator[Sample]:
        kinds: dict[Place, dict[str, float]] = {}
        for one in trajectories:
            kinds.setdefault(Place.of(one), _kinds(one))
        for place, states in visited(trajectories).items():
            for state in filter(usable, states):
                yield Sample(place, "", kinds[place], _distance(state.value), number(state))

    return samples


def _kinds(trajectory: Trajectory) -> dict[str, float]:
    """Those labels of the world that are numbers."""
    labels = {kind: trajectory.labels.get(kind) for kind in KINDS}
    return {kind: value for kind, value in labels.items() if is_number(value)}


def _distance(value: float | None) -> int | None:
    return round(-value) if value is not None and isfinite(value) else None


BREAKDOWNS = {
    "difficulty.accuracy": Breakdown(_steps, margins=(*MARGINS, PANELS)),
    "difficulty.success": Breakdown(_episodes),
    "difficulty.jsd": Breakdown(
        _states(attrgetter("divergence"), lambda state: bool(state.actions and state.optimal)), unit="bits"
    ),
    "difficulty.entropy": Breakdown(
        _states(attrgetter("entropy"), lambda state: bool(state.actions)), unit="bits", estimate=cluster_mean
    ),
}
