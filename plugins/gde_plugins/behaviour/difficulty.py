"""Accuracy, success and policy by size, density and distance to the goal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite, nan
from statistics import fmean
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.json import is_number
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import (
    CERTIFIED,
    Place,
    finished,
    is_optimal,
    lacking,
    over_worlds,
    unmeasured,
)
from gde.numerics.stats import Estimate, cluster_mean, cluster_share
from gde_plugins.behaviour.visits import IDENTIFIED, VisitedState, visited

KINDS = ("size", "density")
"""Labels by which worlds are broken down if they are numbers and vary."""
DISTANCE = "distance"
"""Steps from the current state to the goal by the shortest way: minus its optimal
value.
"""
BAND = 5
"""Number of distances in a band, if distance is crossed with a kind. The last distance
names the band.
"""
FEWEST = 3
"""Number of worlds that a cell at one distance needs."""
MARGINS = (
    ("size",),
    ("density",),
    (DISTANCE,),
    ("size", "density"),
    ("size", DISTANCE),
    ("density", DISTANCE),
)
PANELS = ("size", "density", DISTANCE)
"""The heat maps of Arghal et al. (2026), fig. 4."""
NOTHING_VARIES = "size and density do not vary, and the optimal values are no distances"


class Sample(NamedTuple):
    """One value and the cell to which it belongs."""

    place: Place
    group: str
    """Values are averaged within a group, groups within a world, worlds within a
    cell.
    """
    kinds: dict[str, float]
    distance: int | None
    """None if the goal is out of reach."""
    value: float


@dataclass(frozen=True)
class Breakdown:
    """How one number is broken down."""

    samples: Callable[[Iterable[Trajectory]], Iterable[Sample]]
    unit: str = "share"
    estimate: Callable[..., Estimate] = cluster_share
    margins: tuple[tuple[str, ...], ...] = MARGINS


def difficulty(evidence: Evidence) -> Sequence[Measurement]:
    """Accuracy, success, divergence and entropy by size, density and distance to the
    goal (Arghal et al. 2026, fig. 4).

    Each number is the one of its name without "difficulty" ("policy.jsd" and
    "policy.entropy" for states), restricted to a cell; n counts the worlds of the cell.
    Accuracy belongs to the distance from which a step is taken, divergence and entropy
    to that of the state, success to that at which the episode begins. A breakdown by
    distance alone is exact. Crossed with size or density, distances form bands of five:
    5 stands for 1 to 5. A distance met in fewer than three worlds has no value, with
    that reason. Parts of a run are not broken down further.
    """
    if evidence.part:
        return []
    trajectories = finished(evidence)
    reason = lacking(trajectories, IDENTIFIED, CERTIFIED)
    axes: set[str] = set()
    if not reason:
        axes = _axes(trajectories)
        if not axes:
            reason = NOTHING_VARIES
    if reason:
        return [
            unmeasured(name, breakdown.unit, reason)
            for name, breakdown in BREAKDOWNS.items()
        ]

    measured: list[Measurement] = []
    for name, breakdown in BREAKDOWNS.items():
        samples = list(breakdown.samples(trajectories))
        for margin in breakdown.margins:
            if axes.issuperset(margin):
                measured += _measured(evidence, name, samples, margin)
    return measured


def _axes(trajectories: Iterable[Trajectory]) -> set[str]:
    """Return the kinds by which the run can be broken down."""
    axes = set()
    labels = [_kinds(trajectory) for trajectory in trajectories]
    for kind in KINDS:
        values = {each.get(kind) for each in labels}
        if None not in values and len(values) > 1:
            axes.add(kind)

    distances = []
    for trajectory in trajectories:
        for turn in trajectory.turns:
            if turn.value is not None and isfinite(turn.value):
                distances.append(-turn.value)
    # Other rewards than one per step give values that are no distances.
    are_whole = all(distance >= 0 and distance.is_integer() for distance in distances)
    if distances and are_whole:
        axes.add(DISTANCE)
    return axes


def _measured(
    evidence: Evidence, name: str, samples: Sequence[Sample], margin: tuple[str, ...]
) -> Iterator[Measurement]:
    """Measure every cell of one margin."""
    unit = BREAKDOWNS[name].unit
    for cell, worlds in _cells(samples, margin).items():
        if DISTANCE in margin and len(worlds) < FEWEST:
            reason = f"{len(worlds)} of the {FEWEST} worlds that it needs"
            measurement = unmeasured(name, unit, reason)
        else:
            measurement = over_worlds(
                evidence, name, unit, worlds, BREAKDOWNS[name].estimate
            )
        where = dict(zip(margin, cell, strict=True))
        yield replace(measurement, where=where)


def _cells(
    samples: Sequence[Sample], margin: tuple[str, ...]
) -> dict[tuple[float, ...], dict[Place, float]]:
    """Return the value of each world in each cell, sorted by the coordinates of the
    cells.
    """
    cells: dict[tuple[float, ...], dict[Place, dict[str, list[float]]]] = {}
    for sample in samples:
        if DISTANCE in margin and sample.distance is None:
            continue
        worlds = cells.setdefault(_cell(sample, margin), {})
        groups = worlds.setdefault(sample.place, {})
        groups.setdefault(sample.group, []).append(sample.value)

    # Means of means: a long episode or a world with many episodes weighs no more than
    # another.
    averaged: dict[tuple[float, ...], dict[Place, float]] = {}
    for cell in sorted(cells):
        averaged[cell] = {}
        for place, groups in cells[cell].items():
            averaged[cell][place] = fmean(map(fmean, groups.values()))
    return averaged


def _cell(sample: Sample, margin: tuple[str, ...]) -> tuple[float, ...]:
    distance = sample.distance or 0
    # Crossed cells hold few worlds, so their distances are pooled.
    if margin != (DISTANCE,):
        distance = BAND * ceil(distance / BAND)
    coordinates = {**sample.kinds, DISTANCE: distance}
    return tuple(coordinates[axis] for axis in margin)


def _steps(trajectories: Iterable[Trajectory]) -> Iterator[Sample]:
    for one in trajectories:
        place = Place.of(one)
        group = str(one.key)
        kinds = _kinds(one)
        for turn in one.turns:
            yield Sample(place, group, kinds, _distance(turn.value), is_optimal(turn))


def _episodes(trajectories: Iterable[Trajectory]) -> Iterator[Sample]:
    for one in trajectories:
        distance = None
        if one.turns:
            distance = _distance(one.turns[0].value)
        yield Sample(Place.of(one), str(one.key), _kinds(one), distance, one.succeeded)


def _divergences(trajectories: Iterable[Trajectory]) -> Iterator[Sample]:
    for sample, state in _states(trajectories):
        # Without an optimal action there is no policy to diverge from.
        if state.optimal:
            yield sample._replace(value=state.divergence)


def _entropies(trajectories: Iterable[Trajectory]) -> Iterator[Sample]:
    for sample, state in _states(trajectories):
        yield sample._replace(value=state.entropy)


def _states(
    trajectories: Iterable[Trajectory],
) -> Iterator[tuple[Sample, VisitedState]]:
    """Yield the states with a usable answer, each with a sample that still lacks its
    value.
    """
    kinds: dict[Place, dict[str, float]] = {}
    for one in trajectories:
        kinds.setdefault(Place.of(one), _kinds(one))
    for place, states in visited(trajectories).items():
        for state in states:
            if state.actions:
                yield (
                    Sample(place, "", kinds[place], _distance(state.value), nan),
                    state,
                )


def _kinds(trajectory: Trajectory) -> dict[str, float]:
    """Return those labels of the world that are numbers."""
    kinds: dict[str, float] = {}
    for kind in KINDS:
        value = trajectory.labels.get(kind)
        if is_number(value):
            kinds[kind] = value
    return kinds


def _distance(value: float | None) -> int | None:
    if value is None or not isfinite(value):
        return None
    return round(-value)


BREAKDOWNS = {
    "difficulty.accuracy": Breakdown(_steps, margins=(*MARGINS, PANELS)),
    "difficulty.success": Breakdown(_episodes),
    "difficulty.jsd": Breakdown(_divergences, unit="bits"),
    "difficulty.entropy": Breakdown(_entropies, unit="bits", estimate=cluster_mean),
}
