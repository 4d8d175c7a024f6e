"""Accuracy, success and policy by size, density and distance to the goal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import ceil, isfinite
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
from gde.numerics.stats import Finding, cluster_mean, cluster_share, linear_trend
from gde_plugins.behaviour.visits import IDENTIFIED, visited

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
    ("size", "density", DISTANCE),
)
"""The last are the heat maps of Arghal et al. (2026), fig. 4."""
NAMES = (
    "difficulty.accuracy",
    "difficulty.success",
    "difficulty.jsd",
    "difficulty.entropy",
)
SPREAD = ("difficulty.accuracy", "difficulty.jsd")
"""Those whose variance is said to grow with the distance."""
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

    ".variance" is the change of the variance between worlds with one more step to the
    goal, of accuracy and divergence (section 4.1), with its p value.
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
        return [unmeasured(name, reason) for name in NAMES]

    measured: list[Measurement] = []
    for name in NAMES:
        samples = list(_samples(name, trajectories))
        for margin in MARGINS:
            # Only steps are many enough for all three axes.
            is_fine = len(margin) < 3 or name == "difficulty.accuracy"
            if is_fine and axes.issuperset(margin):
                measured += _measured(evidence, name, samples, margin)
        if DISTANCE in axes and name in SPREAD:
            measured += _spread(name, samples)
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
    estimate = cluster_mean if name == "difficulty.entropy" else cluster_share
    for cell, worlds in _cells(samples, margin).items():
        if DISTANCE in margin and len(worlds) < FEWEST:
            reason = f"{len(worlds)} of the {FEWEST} worlds that it needs"
            measurement = unmeasured(name, reason)
        else:
            measurement = over_worlds(evidence, name, worlds, estimate)
        where = dict(zip(margin, cell, strict=True))
        yield replace(measurement, where=where)


def _spread(name: str, samples: Sequence[Sample]) -> Iterator[Measurement]:
    """Fit the squared deviations of worlds from their mean at each distance."""
    distances: list[float] = []
    squares: list[float] = []
    clusters: list[str] = []
    for (distance,), worlds in _cells(samples, (DISTANCE,)).items():
        if len(worlds) < FEWEST:
            continue
        mean = fmean(worlds.values())
        # Worlds lie closer to their own mean than to the true one.
        scale = len(worlds) / (len(worlds) - 1)
        for place, value in worlds.items():
            distances.append(distance)
            squares.append(scale * (value - mean) ** 2)
            clusters.append(place.cluster)

    slope = Finding.missing("0 distances", f"one that {FEWEST} worlds have")
    if distances:
        slope = linear_trend(distances, squares, clusters)
    n_clusters = len(set(clusters))
    yield slope.statistic(f"{name}.variance", len(distances), n_clusters)
    yield slope.significance(f"{name}.variance_p", len(distances), n_clusters)


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


def _samples(name: str, trajectories: Iterable[Trajectory]) -> Iterator[Sample]:
    """Yield the values of one number."""
    kinds: dict[Place, dict[str, float]] = {}
    for one in trajectories:
        place = Place.of(one)
        group = str(one.key)
        of_episode = _kinds(one)
        kinds.setdefault(place, of_episode)
        if name == "difficulty.accuracy":
            for turn in one.turns:
                distance = _distance(turn.value)
                yield Sample(place, group, of_episode, distance, is_optimal(turn))
        elif name == "difficulty.success":
            distance = _distance(one.turns[0].value) if one.turns else None
            yield Sample(place, group, of_episode, distance, one.succeeded)

    if name not in {"difficulty.jsd", "difficulty.entropy"}:
        return
    for place, states in visited(trajectories).items():
        for state in states:
            distance = _distance(state.value)
            if state.actions and name == "difficulty.entropy":
                yield Sample(place, "", kinds[place], distance, state.entropy)
            # Without an optimal action there is no policy to diverge from.
            elif state.actions and state.optimal:
                yield Sample(place, "", kinds[place], distance, state.divergence)


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
