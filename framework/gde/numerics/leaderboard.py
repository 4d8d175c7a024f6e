"""Contenders at the same tasks in order, each beside the best baseline."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot

import numpy as np

from gde.data.episode_table import heads_of
from gde.data.evidence import Evidence
from gde.data.measure import Measure
from gde.data.result import Measurement
from gde.data.verdict import Verdict
from gde.numerics.by_world import measured
from gde.numerics.stats import (
    MINIMUM_CLUSTERS,
    Difference,
    Interval,
    cluster_mean,
    paired_difference,
    sign_flip,
)
from gde.numerics.verdicts import judged
from gde.parts.metric import Metric
from gde.seeding import generator

OVERALL = ""
"""The condition of the mean over all conditions, each with the same weight."""
Numbers = Mapping[str, float]
"""Task to number; a task is a cluster of worlds."""
Scores = dict[str, dict[str, dict[str, float]]]
"""Contender to condition to task to number."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One contender in one condition, or over all."""

    contender: str
    condition: str
    """As the caller names it, e.g. a domain; empty over all."""
    value: float
    interval: Interval | None
    """95 %; None with fewer than six tasks, and where all values are equal."""
    reason: str
    """Why it has no interval although tasks suffice; empty otherwise."""
    tasks: int
    baseline: bool
    """Whether it reads nothing."""
    verdict: Verdict | None
    """Against the best baseline of the condition at the same tasks; None for that
    baseline, and without one. p values are Holm's over the whole leaderboard.
    """

    def difference(self, measure: Measure) -> Measurement | None:
        """The verdict as a number of a measure; None without one."""
        verdict = self.verdict
        if verdict is None:
            return None
        return Measurement(
            name=measure.name,
            value=verdict.difference if verdict.worlds else None,
            unit=measure.unit,
            n=verdict.worlds,
            interval=verdict.interval,
            where={measure.contender: self.contender, "against": verdict.control},
            reason="" if verdict.worlds else verdict.reason,
            verdict=verdict,
        )


def task_scores(
    evidence: Evidence,
    metric: Metric,
    measure: Measure,
    conditions: Sequence[str],
) -> Scores:
    """The number of each contender at each task.

    Args:
        evidence: of a run of N episodes.
        metric: gives the number.
        measure: its `contender` is the label that names the contenders.
        conditions: (N,) name of the condition of each episode.
    """
    heads = heads_of(evidence.trajectories)
    places = list(zip(conditions, (head.cluster for head in heads), strict=True))
    found: Scores = {}
    numbers = measured([(measure.name, metric)], evidence, places)
    for quantity, values in numbers.items():
        contender = quantity.where.get(measure.contender)
        if quantity.name != measure.name or contender is None:
            continue
        for (condition, task), value in values.items():
            of_contender = found.setdefault(str(contender), {})
            of_contender.setdefault(condition, {})[task] = value
    return found


def leaderboard(
    scores: Scores, baselines: Collection[str], measure: Measure
) -> tuple[Standing, ...]:
    """Rank contenders in each condition and over all, the best first.

    The best baseline is chosen by the numbers that are compared, which favours it. A
    contender without a number in some condition has none over all.

    Args:
        scores: of all contenders.
        baselines: contenders that read nothing.
        measure: of the numbers; it has a better direction.
    """
    conditions = dict.fromkeys(each for one in scores.values() for each in one)
    found: list[Standing] = []
    for condition in conditions:
        own = {
            name: {condition: by_condition[condition]}
            for name, by_condition in scores.items()
            if condition in by_condition
        }
        found += _ranked(condition, own, baselines, measure)
    if len(conditions) > 1:
        whole = {
            name: by_condition
            for name, by_condition in scores.items()
            if by_condition.keys() == conditions.keys()
        }
        found += _ranked(OVERALL, whole, baselines, measure)
    # p values are Holm's over the whole leaderboard.
    made = {i: one.verdict for i, one in enumerate(found) if one.verdict}
    for i, verdict in judged(made, lambda _: measure.better).items():
        found[i] = replace(found[i], verdict=verdict)
    return tuple(found)


def _ranked(
    condition: str, scores: Scores, baselines: Collection[str], measure: Measure
) -> list[Standing]:
    def worth(contender: str) -> float:
        means = [np.mean([*each.values()]) for each in scores[contender].values()]
        mean = float(np.mean(means))
        return mean if measure.better == "less" else -mean

    order = sorted(scores, key=worth)
    best = next((name for name in order if name in baselines), None)
    standings = []
    for name in order:
        # The same draws for all, so that equal numbers have equal intervals.
        rng = generator(0, "leaderboard", condition)
        estimates = []
        for values in scores[name].values():
            numbers = [*values.values()]
            estimates.append(cluster_mean(numbers, np.arange(len(numbers)), rng))
        means = [one.value for one in estimates]
        verdict = None
        if best is not None and name != best:
            verdict = _verdict(best, scores[name], scores[best], rng)
        standing = Standing(
            contender=name,
            condition=condition,
            value=float(np.mean(means)),
            interval=mean_interval(means, [one.interval for one in estimates]),
            reason=next((one.reason for one in estimates if one.reason), ""),
            tasks=sum(map(len, scores[name].values())),
            baseline=name in baselines,
            verdict=verdict,
        )
        standings.append(standing)
    return standings


def _verdict(
    rival: str,
    ours: Mapping[str, Numbers],
    theirs: Mapping[str, Numbers],
    rng: np.random.Generator,
) -> Verdict:
    """The difference at the tasks of both, without correction."""
    compared: list[Difference] = []
    weighted: list[np.ndarray] = []
    for condition, own in ours.items():
        other = theirs[condition]
        tasks = [task for task in own if task in other]
        if not tasks:
            return Verdict(
                control=rival, difference=0.0, worlds=0, reason="no task in common"
            )
        a = np.array([own[task] for task in tasks])
        b = np.array([other[task] for task in tasks])
        compared.append(paired_difference(a, b, np.arange(len(tasks)), rng))
        weighted.append((a - b) / len(tasks))

    # The sum of all is the sum of the means: every condition has the same weight.
    test = sign_flip(np.concatenate(weighted), rng)
    differences = [one.estimate.value for one in compared]
    n_tasks = sum(map(len, weighted))
    reason = test.reason.removeprefix("not measured: ")
    if n_tasks < MINIMUM_CLUSTERS:
        reason = f"{n_tasks} tasks; a test needs {MINIMUM_CLUSTERS}"
    return Verdict(
        control=rival,
        difference=float(np.mean(differences)),
        interval=mean_interval(
            differences, [one.estimate.interval for one in compared]
        ),
        p=None if reason else test.p_value,
        worlds=n_tasks,
        reason=reason,
    )


def mean_interval(
    values: Sequence[float], intervals: Sequence[Interval | None]
) -> Interval | None:
    """The interval of a mean of independent numbers; None if one has none.

    The squared distances of the bounds from the numbers are added up (Zou and Donner
    2008).
    """
    below: list[float] = []
    above: list[float] = []
    for value, interval in zip(values, intervals, strict=True):
        if interval is None:
            return None
        low, high = interval
        below.append(value - low)
        above.append(high - value)
    mean = sum(values) / len(values)
    return mean - hypot(*below) / len(values), mean + hypot(*above) / len(values)
