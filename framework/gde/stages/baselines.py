"""Verdicts of behaviour: the agent against its baselines, paired in the same worlds."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gde.data.evidence import Evidence
from gde.data.measure import Measure
from gde.data.result import Measurement
from gde.data.verdict import Verdict, outcome_of
from gde.numerics.controls import compare_with_control
from gde.numerics.episode_metric import EpisodeMetric, tabulate
from gde.numerics.numbers import Number
from gde.numerics.stats import Floats, adjusted, holm
from gde.parts.metric import Declared, Metric
from gde.seeding import generator


def with_verdicts(
    measured: Sequence[Measurement], metrics: Sequence[Metric], evidence: Evidence
) -> list[Measurement]:
    """Give each baseline, and the number that it is of, the test of their difference.

    What no agent can exceed is tested against nothing. The tests of one run are
    corrected together (Holm 1979).

    Args:
        measured: the numbers of the metrics.
        metrics: those that declare what their numbers mean.
        evidence: of the whole run.
    """
    numbers: dict[str, tuple[EpisodeMetric, Number, Measure]] = {}
    for each in metrics:
        if isinstance(each, Declared) and isinstance(each.metric, EpisodeMetric):
            for number in each.metric.numbers:
                measure = each.measures[number.name]
                numbers[number.name] = each.metric, number, measure

    known = {one.name for one in measured if one.value is not None and not one.where}
    tested: dict[tuple[str, str], Verdict] = {}
    for name, (_, _, measure) in numbers.items():
        of = measure.beside
        if not measure.bound and of in numbers and known >= {name, of}:
            ours = _by_cluster(*numbers[of][:2], evidence)
            rival = _by_cluster(*numbers[name][:2], evidence)
            both = np.isfinite(ours) & np.isfinite(rival)
            tested[of, name] = compare_with_control(
                measure.title,
                ours[both],
                rival[None, both],
                generator(evidence.seed, "verdict", name),
            )

    found: dict[str, Verdict] = {}
    p_values = adjusted([one.p for one in tested.values()], holm)
    for ((of, name), one), p in zip(tested.items(), p_values, strict=True):
        outcome = outcome_of(one.difference, p, numbers[of][2].better)
        found[name] = replace(one, p=p, outcome=outcome)
        found.setdefault(of, found[name])
    return [
        one if one.where else replace(one, verdict=found.get(one.name))
        for one in measured
    ]


def _by_cluster(metric: EpisodeMetric, number: Number, evidence: Evidence) -> Floats:
    """(G,) the number in each cluster of worlds; nan where it has none."""
    table = tabulate(metric, evidence)
    n_clusters = int(table.clusters.max(initial=-1)) + 1
    return number.each(table, table.clusters, n_clusters)
