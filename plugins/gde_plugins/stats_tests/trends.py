"""Tests for a steady change of behaviour with the difficulty of the world."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

from gde.data.episode_table import heads_of
from gde.data.evidence import Evidence
from gde.data.json import is_number
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.stats import Finding, linear_trend, page, spearman
from gde.parts.context import Context
from gde.seeding import generator
from gde_plugins.stats_tests.config import TrendsConfig
from gde_plugins.stats_tests.pairs import UNVARIED, Measured, Place, measure, variations

LINEAR_BELOW = 20
"""Steps to the goal below which Arghal et al. (2026), section 4.1, find accuracy to
fall linearly.
"""
NO_DISTANCES = (
    "not measured: the optimal values of the unvaried worlds are no distances to a goal"
)


class Spot(NamedTuple):
    """A cluster of worlds at one difficulty."""

    cluster: str
    coordinates: tuple[float, ...]
    """The values of the labels that vary."""


@dataclass(frozen=True)
class Trends:
    """Whether measurements rise or fall with labels that are numbers, over the unvaried
    worlds of a run.

    ".spearman" is the rank correlation over clusters of worlds, ".page_l" Page's L: a
    condition is one value of the label, and a block holds the first cluster of every
    condition, the next the second, and so on, all equal in the other labels; clusters
    beyond the smallest condition are in no block. Each has its p value.
    "trends.accuracy.slope" is the change of accuracy with one more step to the goal,
    for less than 20 steps (Arghal et al. 2026, section 4.1), by a least-squares line
    over steps. Tests are two-sided and not corrected for their number. A run in which
    no label varies has no trends.
    """

    config: TrendsConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Test the whole run; a part of it has no trends."""
        if evidence.part:
            return ()
        # A variation may be harder than its counterfactual, which would look like a
        # trend.
        unvaried = _unvaried(evidence.trajectories)
        labels = []
        for label in self.config.by:
            values = {_number(one, label) for one in unvaried} - {None}
            if len(values) > 1:
                labels.append(label)
        if not labels:
            return ()

        spots = {str(one.key): _spot(one, labels) for one in unvaried}
        heads = heads_of(evidence.trajectories)
        places = [spots.get(head.episode) for head in heads]
        found: list[Measurement] = []
        for measured in measure(self.context, self.config.measures, evidence, places):
            for axis, label in enumerate(labels):
                found += _along(label, axis, measured, evidence.seed)
        found += _over_distance(unvaried)
        return found


def _unvaried(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    labels = variations({Place.of(trajectory) for trajectory in trajectories})
    unvaried = []
    for one in trajectories:
        values = {one.labels.get(label, UNVARIED) for label in labels}
        if values <= {UNVARIED}:
            unvaried.append(one)
    return unvaried


def _number(trajectory: Trajectory, label: str) -> float | None:
    value = trajectory.labels.get(label)
    return value if is_number(value) else None


def _spot(trajectory: Trajectory, labels: Sequence[str]) -> Spot | None:
    """The spot of a world that has all labels."""
    coordinates = []
    for label in labels:
        value = _number(trajectory, label)
        if value is None:
            return None
        coordinates.append(value)
    return Spot(trajectory.world.cluster, tuple(coordinates))


def _along(
    label: str, axis: int, one: Measured[Spot], seed: int
) -> Iterator[Measurement]:
    """Test one measurement along one label."""
    clusters = [spot.cluster for spot in one.values]
    # A measurement without a value has no correlation.
    if one.values:
        coordinates = [spot.coordinates[axis] for spot in one.values]
        rng = generator(seed, "metric", "trends", one.name, label)
        correlation = spearman(coordinates, [*one.values.values()], clusters, rng)
    else:
        correlation = Finding(reason="not measured: it has no value in any world")

    blocks = _blocks(one, axis)
    ordered = page(blocks) if blocks else Finding.missing("0 complete blocks", "3")
    found = [
        *_both(correlation, "spearman", len(set(clusters))),
        *_both(ordered, "page_l", len(blocks)),
    ]
    for each in found:
        yield replace(each, name=f"trends.{one.name}.{each.name}", where={"by": label})


def _blocks(one: Measured[Spot], axis: int) -> list[tuple[float, ...]]:
    """Return (blocks, conditions) values; conditions rise along the axis, and within a
    block all else is equal.
    """
    conditions = sorted({spot.coordinates[axis] for spot in one.values})
    groups: dict[tuple[float, ...], dict[float, list[float]]] = {}
    for spot, value in one.values.items():
        others = spot.coordinates[:axis] + spot.coordinates[axis + 1 :]
        group = groups.setdefault(others, {})
        group.setdefault(spot.coordinates[axis], []).append(value)

    blocks: list[tuple[float, ...]] = []
    for group in groups.values():
        columns = [group.get(condition, []) for condition in conditions]
        # The smallest condition limits the number of complete blocks.
        blocks += zip(*columns, strict=False)
    return blocks


def _over_distance(trajectories: Sequence[Trajectory]) -> Iterator[Measurement]:
    """Fit the accuracy of steps by their distance to the goal, which is minus the
    optimal value.
    """
    are_distances = True
    distances: list[float] = []
    hits: list[bool] = []
    clusters: list[str] = []
    for trajectory in trajectories:
        # A failed episode says nothing about the agent.
        if trajectory.ending == "failed":
            continue
        for turn in trajectory.turns:
            if turn.value is None or not isfinite(turn.value):
                continue
            distance = -turn.value
            if distance < 0 or not distance.is_integer():
                are_distances = False
            if distance < LINEAR_BELOW:
                distances.append(distance)
                hits.append(
                    turn.optimal is not None and turn.decision.action in turn.optimal
                )
                clusters.append(trajectory.world.cluster)

    slope = Finding(reason=NO_DISTANCES)
    if distances and are_distances:
        slope = linear_trend(distances, hits, clusters)
    n_clusters = len(set(clusters))
    for each in _both(slope, "slope", len(distances), n_clusters):
        yield replace(
            each, name=f"trends.accuracy.{each.name}", where={"by": "distance"}
        )


def _both(
    finding: Finding, name: str, n: int, clusters: int | None = None
) -> tuple[Measurement, Measurement]:
    statistic = finding.statistic(name, n, clusters)
    return statistic, finding.significance(f"{name}_p", n, clusters)
