"""Does a variation of a world change what the agent does in it?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.by_world import split
from gde.numerics.stats import (
    Difference,
    Finding,
    adjusted,
    benjamini_hochberg,
    exchange_replicates,
    holm,
    paired_difference,
)
from gde.parts.context import Context
from gde.seeding import generator
from gde_plugins.stats_tests.by_world import Measured, measure
from gde_plugins.stats_tests.config import PairsConfig

UNVARIED = "none"
"""The value of a label that marks the world which others are variations of."""
Value = str | int | float | bool
Labels = tuple[tuple[str, Value], ...]
Twin = tuple[str, Labels]
"""What a world and its variation have in common: the cluster and all other labels."""
NAMES = ("difference", "p_wilcoxon", "p_permutation", "p_holm", "q", "rank_biserial", "effect_paper", "mde")
NO_PAIR = "not measured: 0 pairs of worlds in which it has a value"


class Place(NamedTuple):
    """A world under the labels of an episode: one world can be met under several."""

    world: str
    cluster: str
    labels: Labels
    """All but the numbers that the world tells of itself, such as its distance, sorted."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "Place":
        """Where the episode took place."""
        own = {name for name, value in trajectory.world.labels.items() if not isinstance(value, str)}
        labels = tuple(sorted((name, value) for name, value in trajectory.labels.items() if name not in own))
        return cls(trajectory.world.id, trajectory.world.cluster, labels)

    def twin(self, label: str) -> Twin:
        """What the place has in common with its variations by `label`."""
        return self.cluster, tuple(pair for pair in self.labels if pair[0] != label)


def _episode_of(trajectory: Trajectory) -> tuple[Place, str]:
    return Place.of(trajectory), str(trajectory.key)


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """One measurement under one variation against no variation."""

    measure: Measured[Place]
    label: str
    variation: Value
    difference: Difference | None
    """None where no cluster has both."""


@dataclass(frozen=True)
class Pairs:
    """Every variation of a world against the unvaried one (as Arghal et al. 2026, section 4.2 and table 3).

    A label is a variation where it is "none" in one world of a cluster and something else in another. A varied world
    is paired with the unvaried world of its cluster whose other labels are the same; numbers that a world tells of
    itself need not be. All differences are variation less unvaried, tests are two-sided, and the unit is the cluster.
    ".p_holm" (Holm 1979) and ".q" (Benjamini and Hochberg 1995) correct Wilcoxon's test over a family: all variations
    by one label times all measures; tests that could not be made do not count. A run without variations has no pairs.

    Preferences, e.g. for going left, help in some grids what they hurt in others, so that a mean difference does not
    show them. ".p_any" tests whether a variation changes anything in any world, by exchanging episodes within pairs;
    ".p_any_holm" is corrected over its own family.
    """

    config: PairsConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Give the tests of the whole run; a part of it is no place to compare parts."""
        places = {Place.of(trajectory) for trajectory in evidence.trajectories}
        labels = [] if evidence.part else variations(places)
        if not labels:
            return ()
        measures = measure(self.context, self.config.measures, split(evidence, Place.of))
        episodes = measure(self.context, self.config.each_episode, split(evidence, _episode_of))
        return [
            found
            for label in labels
            for found in (
                *_family(label, measures, places, evidence.seed),
                *_replicates(label, episodes, places, evidence.seed),
            )
        ]


def variations(places: set[Place]) -> list[str]:
    """Names of the labels by which some cluster holds an unvaried world and a variation of it, sorted."""
    values: dict[tuple[str, str], set[Value]] = {}
    for place in places:
        for label, value in place.labels:
            values.setdefault((label, place.cluster), set()).add(value)
    return sorted({label for (label, _), found in values.items() if UNVARIED in found and len(found) > 1})


def _family(label: str, measures: Sequence[Measured[Place]], places: set[Place], seed: int) -> Iterator[Measurement]:
    contrasts = [_contrast(one, label, value, seed) for value in _values(label, places) for one in measures]
    raw = [contrast.difference.signed_rank.p_value if contrast.difference else None for contrast in contrasts]
    for contrast, p_holm, q in zip(contrasts, adjusted(raw, holm), adjusted(raw, benjamini_hochberg), strict=True):
        for found in _described(contrast, p_holm, q):
            name = f"pairs.{contrast.measure.name}.{found.name}"
            yield replace(found, name=name, where={label: contrast.variation})


def _values(label: str, places: set[Place]) -> list[Value]:
    """The variations by a label."""
    return sorted({dict(place.labels).get(label, UNVARIED) for place in places} - {UNVARIED}, key=str)


def _replicates(
    label: str, episodes: Sequence[Measured[tuple[Place, str]]], places: set[Place], seed: int
) -> Iterator[Measurement]:
    tests = [(value, one, _exchanged(one, label, value, seed)) for value in _values(label, places) for one in episodes]
    corrected = adjusted([found.p_value for *_, (found, _) in tests], holm)
    for (value, one, (found, n)), p_holm in zip(tests, corrected, strict=True):
        for name, p in (("p_any", found.p_value), ("p_any_holm", p_holm)):
            yield replace(replace(found, p_value=p).significance(f"pairs.{one.name}.{name}", n), where={label: value})


def _exchanged(one: Measured[tuple[Place, str]], label: str, variation: Value, seed: int) -> tuple[Finding, int]:
    """The test, and of how many episodes."""
    pair = (label, UNVARIED), (label, variation)
    rows = [
        (value, pair[1] in place.labels, str(place.twin(label)))
        for (place, _), value in one.values.items()
        if not set(pair).isdisjoint(place.labels)
    ]
    if not rows:
        return Finding(reason=NO_PAIR), 0
    values, varied, twins = zip(*rows, strict=True)
    rng = generator(seed, "metric", "pairs", "any", one.name, label, str(variation))
    return exchange_replicates(values, varied, twins, rng), len(rows)


def _contrast(one: Measured[Place], label: str, variation: Value, seed: int) -> Contrast:
    varied, unvaried = (_twins(one, (label, value)) for value in (variation, UNVARIED))
    common = sorted(varied.keys() & unvaried.keys(), key=str)
    if not common:
        return Contrast(measure=one, label=label, variation=variation, difference=None)
    rng = generator(seed, "metric", "pairs", one.name, label, str(variation))
    pairs = [varied[twin] for twin in common], [unvaried[twin] for twin in common]
    difference = paired_difference(*pairs, [cluster for cluster, _ in common], rng)
    return Contrast(measure=one, label=label, variation=variation, difference=difference)


def _twins(one: Measured[Place], varied: tuple[str, Value]) -> dict[Twin, float]:
    """The mean over the worlds that have the label in question, by what they have in common with their twins."""
    twins: dict[Twin, list[float]] = {}
    for place, value in one.values.items():
        if varied in place.labels:
            twins.setdefault(place.twin(varied[0]), []).append(value)
    return {twin: fmean(values) for twin, values in twins.items()}


def _described(contrast: Contrast, p_holm: float | None, q: float | None) -> Iterator[Measurement]:
    found, unit = contrast.difference, contrast.measure.unit
    if found is None:
        yield from (Measurement(name=name, value=None, unit="", n=0, reason=NO_PAIR) for name in NAMES)
        return
    n, wilcoxon = found.estimate.n_clusters, found.signed_rank
    yield replace(found.estimate.measurement("difference", unit), n=n)
    yield wilcoxon.significance("p_wilcoxon", n)
    yield found.permutation.significance("p_permutation", n)
    yield replace(wilcoxon, p_value=p_holm).significance("p_holm", n)
    yield replace(wilcoxon, p_value=q).significance("q", n)
    yield found.rank_biserial.statistic("rank_biserial", "correlation", n)
    yield found.effect_paper.statistic("effect_paper", "correlation", n)
    yield found.mde.statistic("mde", unit, n)
