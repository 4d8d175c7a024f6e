"""Tests of the difference that a variation of a world makes to the agent's
behaviour.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Generic, NamedTuple, TypeVar

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.by_world import measured
from gde.numerics.episodes import unmeasured
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
from gde_plugins.stats_tests.config import PairsConfig

PlaceT = TypeVar("PlaceT", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Measured(Generic[PlaceT]):
    """One measurement at every place where it has a value."""

    name: str
    unit: str
    """Empty if no place has a value."""
    values: Mapping[PlaceT, float]
    """Place to value."""


def measure(
    context: Context,
    names: Sequence[str],
    evidence: Evidence,
    places: Sequence[PlaceT | None],
) -> list[Measured[PlaceT]]:
    """Measure each place by name; measurements that are restricted, e.g. to one size,
    are left out.

    Args:
        context: finds the metrics.
        names: of the numbers.
        evidence: of N episodes.
        places: (N,) place of each episode; one without a place is left out.

    Raises:
        UnknownName: no plugin offers the metric of a name.
        GdeError: a metric raises.
    """
    # Several names may belong to one metric, which is asked once.
    metrics = {}
    for name in names:
        metric = context.metric(name)
        metrics[id(metric)] = name, metric

    found: dict[str, Measured[PlaceT]] = {}
    for quantity, values in measured([*metrics.values()], evidence, places).items():
        if not quantity.restricted:
            found[quantity.name] = Measured(
                name=quantity.name, unit=quantity.unit, values=values
            )
    return [found.get(name, Measured(name=name, unit="", values={})) for name in names]


UNVARIED = "none"
"""The value of a label in an unvaried world."""
Value = str | int | float | bool
Labels = tuple[tuple[str, Value], ...]
Counterfactual = tuple[str, Labels]
"""Cluster and other labels, which are equal for a world and its variations."""
NAMES = (
    "difference",
    "p_wilcoxon",
    "p_permutation",
    "p_holm",
    "q",
    "rank_biserial",
    "effect_paper",
    "mde",
)
NO_PAIR = "not measured: 0 pairs of worlds in which it has a value"


class Place(NamedTuple):
    """A world under the labels of an episode; episodes of one world may differ in their
    labels.
    """

    world: str
    cluster: str
    labels: Labels
    """Sorted, without the numbers that describe the world itself, such as its
    distance.
    """

    @classmethod
    def of(cls, trajectory: Trajectory) -> "Place":
        """Return the place of an episode."""
        world = trajectory.world
        labels = []
        for name, value in trajectory.labels.items():
            # A number of the world itself may differ between variations, which must
            # still find each other.
            if name not in world.labels or isinstance(world.labels[name], str):
                labels.append((name, value))
        return cls(world.id, world.cluster, tuple(sorted(labels)))

    def counterfactual(self, label: str) -> Counterfactual:
        """Return the key that is equal for all variations of the place by `label`."""
        others = [(name, value) for name, value in self.labels if name != label]
        return self.cluster, tuple(others)


@dataclass(frozen=True)
class Pairs:
    """Every variation of a world against the unvaried one (as Arghal et al. 2026,
    section 4.2 and table 3).

    A label is a variation if it is "none" in one world of a cluster and has another
    value in a second one. A varied world is paired with the unvaried world of its
    cluster that has the same other labels; numbers that describe the world itself may
    differ. All differences are variation minus unvaried. All tests are two-sided, and
    the unit is the cluster. ".p_holm" (Holm 1979) and ".q" (Benjamini and Hochberg
    1995) correct Wilcoxon's test over a family: all variations by one label times all
    measures. A test without data does not count.

    A preference, e.g. for going left, helps in some grids and hurts in others, so a
    mean difference does not show it. ".p_any" tests whether a variation changes
    anything in any world: it exchanges episodes within pairs. ".p_any_holm" is
    corrected over its own family.
    """

    config: PairsConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Test the whole run; a part of it has no pairs."""
        if evidence.part:
            return ()
        of_episodes = []
        apart = []
        for one in evidence.trajectories:
            place = Place.of(one)
            of_episodes.append(place)
            apart.append((place, str(one.key)))
        places = set(of_episodes)
        labels = variations(places)
        if not labels:
            return ()

        # Differences of means need one value a world; the exchange of episodes needs
        # one value an episode.
        by_world = measure(self.context, self.config.measures, evidence, of_episodes)
        by_episode = measure(self.context, self.config.each_episode, evidence, apart)
        found: list[Measurement] = []
        for label in labels:
            found += _family(label, by_world, places, evidence.seed)
            found += _any_changes(label, by_episode, places, evidence.seed)
        return found


def variations(places: set[Place]) -> list[str]:
    """Return the labels by which some cluster holds an unvaried world and a variation
    of it, sorted.
    """
    values: dict[tuple[str, str], set[Value]] = {}
    for place in places:
        for label, value in place.labels:
            values.setdefault((label, place.cluster), set()).add(value)

    labels = set()
    for (label, _), found in values.items():
        if UNVARIED in found and len(found) > 1:
            labels.add(label)
    return sorted(labels)


def _variations_by(label: str, places: set[Place]) -> list[Value]:
    """Return the values of a label that are variations."""
    values: set[Value] = set()
    for place in places:
        labels = dict(place.labels)
        values.add(labels.get(label, UNVARIED))
    return sorted(values - {UNVARIED}, key=str)


def _family(
    label: str, measures: Sequence[Measured[Place]], places: set[Place], seed: int
) -> Iterator[Measurement]:
    """Test all variations by one label in all measures, corrected together."""
    contrasts: list[tuple[Measured[Place], Value, Difference | None]] = []
    p_values: list[float | None] = []
    for variation in _variations_by(label, places):
        for one in measures:
            difference = _difference(one, label, variation, seed)
            contrasts.append((one, variation, difference))
            p_values.append(difference.signed_rank.p_value if difference else None)

    # One family for all variations and measures: each is another chance of a false
    # alarm.
    by_holm = adjusted(p_values, holm)
    by_rate = adjusted(p_values, benjamini_hochberg)
    for contrast, p_holm, q in zip(contrasts, by_holm, by_rate, strict=True):
        one, variation, difference = contrast
        for found in _described(difference, one.unit, p_holm, q):
            name = f"pairs.{one.name}.{found.name}"
            yield replace(found, name=name, where={label: variation})


def _any_changes(
    label: str,
    episodes: Sequence[Measured[tuple[Place, str]]],
    places: set[Place],
    seed: int,
) -> Iterator[Measurement]:
    """Test for changes in any direction, over all variations by one label."""
    tests: list[tuple[Value, str, Finding, int]] = []
    p_values: list[float | None] = []
    for variation in _variations_by(label, places):
        for one in episodes:
            finding, n_episodes = _exchanged(one, label, variation, seed)
            tests.append((variation, one.name, finding, n_episodes))
            p_values.append(finding.p_value)

    corrected = adjusted(p_values, holm)
    for (variation, name, finding, n_episodes), p_holm in zip(
        tests, corrected, strict=True
    ):
        where = {label: variation}
        plain = finding.significance(f"pairs.{name}.p_any", n_episodes)
        by_holm = replace(finding, p_value=p_holm).significance(
            f"pairs.{name}.p_any_holm", n_episodes
        )
        yield replace(plain, where=where)
        yield replace(by_holm, where=where)


def _exchanged(
    one: Measured[tuple[Place, str]], label: str, variation: Value, seed: int
) -> tuple[Finding, int]:
    """Return the test of one variation, and its number of episodes."""
    values: list[float] = []
    varied: list[bool] = []
    counterfactuals: list[str] = []
    for (place, _), value in one.values.items():
        is_varied = (label, variation) in place.labels
        if is_varied or (label, UNVARIED) in place.labels:
            values.append(value)
            varied.append(is_varied)
            counterfactuals.append(str(place.counterfactual(label)))
    if not values:
        return Finding(reason=NO_PAIR), 0

    rng = generator(seed, "metric", "pairs", "any", one.name, label, str(variation))
    return exchange_replicates(values, varied, counterfactuals, rng), len(values)


def _difference(
    one: Measured[Place], label: str, variation: Value, seed: int
) -> Difference | None:
    """Compare one variation with no variation; None if no cluster has both."""
    varied = _means(one, label, variation)
    unvaried = _means(one, label, UNVARIED)
    # Sorted, since resampling depends on the order of the pairs.
    common = sorted(varied.keys() & unvaried.keys(), key=str)
    if not common:
        return None

    varied_values = [varied[counterfactual] for counterfactual in common]
    unvaried_values = [unvaried[counterfactual] for counterfactual in common]
    clusters = [cluster for cluster, _ in common]
    rng = generator(seed, "metric", "pairs", one.name, label, str(variation))
    return paired_difference(varied_values, unvaried_values, clusters, rng)


def _means(
    one: Measured[Place], label: str, value: Value
) -> dict[Counterfactual, float]:
    """Return the mean over the worlds with a value of the label, by counterfactual
    key.
    """
    counterfactuals: dict[Counterfactual, list[float]] = {}
    for place, number in one.values.items():
        if (label, value) in place.labels:
            key = place.counterfactual(label)
            counterfactuals.setdefault(key, []).append(number)
    return {
        counterfactual: fmean(numbers)
        for counterfactual, numbers in counterfactuals.items()
    }


def _described(
    found: Difference | None, unit: str, p_holm: float | None, q: float | None
) -> Iterator[Measurement]:
    if found is None:
        # All names appear in every run, so that tables of different runs have the same
        # rows.
        for name in NAMES:
            yield unmeasured(name, NO_PAIR)
        return

    n = found.estimate.n_clusters
    wilcoxon = found.signed_rank
    yield replace(found.estimate.measurement("difference"), unit=unit, n=n)
    yield wilcoxon.significance("p_wilcoxon", n)
    yield found.permutation.significance("p_permutation", n)
    yield replace(wilcoxon, p_value=p_holm).significance("p_holm", n)
    yield replace(wilcoxon, p_value=q).significance("q", n)
    yield found.rank_biserial.statistic("rank_biserial", n)
    yield found.effect_paper.statistic("effect_paper", n)
    yield replace(found.mde.statistic("mde", n), unit=unit)
