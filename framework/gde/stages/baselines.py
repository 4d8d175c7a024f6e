"""Verdicts of behaviour: the agent against what chance gives in the same worlds."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from gde.data.arrays import Doubles
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.measure import Better, Measure
from gde.data.result import Identity, Measurement
from gde.data.verdict import Verdict
from gde.numerics.episode_metric import EpisodeMetric, tabulate
from gde.numerics.expectations import compare_with_expected
from gde.numerics.numbers import Number
from gde.numerics.verdicts import judged
from gde.parts.metric import Declared, Metric

Both = tuple[Identity, Identity]
"""A number and its baseline."""


def with_verdicts(
    measured: Sequence[Measurement],
    metrics: Sequence[Metric],
    evidence: Evidence,
    conditions: Sequence[Labels] = (),
) -> list[Measurement]:
    """Give each baseline, and the number that it is of, the test of their difference.

    What no agent can exceed is tested against nothing. The tests of the whole run are
    one family, those of its conditions another (Holm 1979).

    Args:
        measured: the numbers of the metrics.
        metrics: those that declare what their numbers mean.
        evidence: of the whole run.
        conditions: the labels of each condition; one alone is the whole run.
    """
    numbers = {}
    for metric in metrics:
        if isinstance(metric, Declared) and isinstance(metric.metric, EpisodeMetric):
            for number in metric.metric.numbers:
                measure = metric.measures[number.name]
                numbers[number.name] = _Number(metric.metric, number, measure)

    def direction(both: Both) -> Better:
        (of, _), _ = both
        return numbers[of].measure.better

    parts = [*enumerate(conditions)] if len(conditions) > 1 else []
    known = {one.identity for one in measured if one.value is not None}
    found: dict[Identity, Verdict] = {}
    whole: list[tuple[int | None, Labels]] = [(None, {})]
    for family in (whole, parts):
        tested = {}
        for (condition, labels), (name, one) in product(family, numbers.items()):
            of = one.measure.beside
            both = _identity(of, labels), _identity(name, labels)
            if of in numbers and not one.measure.bound and known >= {*both}:
                tested[both] = _tested(numbers[of], one, evidence, condition)
        for both, verdict in judged(tested, direction).items():
            for identity in both:
                found.setdefault(identity, verdict)
    return [
        replace(one, verdict=found.get(one.identity, one.verdict)) for one in measured
    ]


def _tested(
    ours: "_Number", rival: "_Number", evidence: Evidence, condition: int | None
) -> Verdict:
    """The test of a number against a baseline, without correction."""
    a = ours.by_cluster(evidence, condition)
    b = rival.by_cluster(evidence, condition)
    both = np.isfinite(a) & np.isfinite(b)
    return compare_with_expected(rival.measure.title, a[both], b[both])


class _Number(NamedTuple):
    metric: EpisodeMetric
    number: Number
    measure: Measure

    def by_cluster(self, evidence: Evidence, condition: int | None) -> Doubles:
        """(G,) the number in each cluster of worlds; nan where it has none."""
        table = tabulate(self.metric, evidence)
        n_clusters = int(table.clusters.max(initial=-1)) + 1
        if condition is not None:
            table = table.where(table.conditions == condition)
        return self.number.each(table, table.clusters, n_clusters)


def _identity(name: str, labels: Labels) -> Identity:
    return name, frozenset(labels.items())
