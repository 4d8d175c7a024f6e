"""From evidence to measurements: every metric, on the run and its conditions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from gde.data.episode_table import Head
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.model_use import SERVED
from gde.data.result import (
    TELL_APART,
    Failure,
    Identity,
    Measurement,
    labelled,
    repeated,
)
from gde.errors import GdeError
from gde.parts.metric import Declared, Metric, RemarksTurns
from gde.stages.baselines import with_verdicts
from gde.stages.deadlines import interrupting
from gde.stages.evidence import restricted
from gde.stages.failing import failure_of, pass_on
from gde.stages.progress import Progress, Watch, ignore

Maker = Callable[[], Metric]


def score(
    metrics: Sequence[tuple[str, Maker]],
    evidence: Evidence,
    conditions: Sequence[Labels],
    known: Sequence[Measurement] = (),
    seconds: float | None = None,
    watch: Watch = ignore,
) -> tuple[tuple[Measurement, ...], tuple[Failure, ...]]:
    """Compute the metrics, in order of metric and condition, and test the whole run's
    numbers against their baselines; collect failures.

    A sweep of one condition has no breakdown: it would repeat the whole. Where several
    served models have answered, their episodes are parts as well. A metric that
    raises, or takes more than `seconds`, on one part is still measured on the others. A
    measurement that is given twice makes a failure of the metric that gives it last.

    Args:
        metrics: name and maker of each.
        evidence: of the whole run.
        conditions: the labels of each condition.
        known: measurements that others have given before.
        seconds: the time that a metric may take on one part; None for no limit.
        watch: receives the progress.
    """
    parts = [({}, evidence), *_parts(evidence, conditions)]
    measurements: list[Measurement] = []
    failures: list[Failure] = []
    owners = {each.identity: each.source for each in known}
    total = len(metrics) * len(parts)
    made: list[Metric] = []
    for place, (name, make) in enumerate(metrics):
        try:
            metric = make()
        except BaseException as error:
            pass_on(error)
            failures.append(failure_of("metric", name, error))
            continue
        made.append(metric)
        for step, (labels, part) in enumerate(parts, start=place * len(parts)):
            watch(Progress("metrics", step, total, name))
            try:
                with interrupting(seconds, f"more than run.part_seconds={seconds}"):
                    found = list(_measured(name, metric, part, labels))
                _claim(owners, found, name)
            except BaseException as error:
                pass_on(error)
                failures.append(failure_of("metric", labelled(name, labels), error))
            else:
                measurements.extend(found)
    watch(Progress("metrics", total, total))
    judged = with_verdicts(measurements, made, evidence, conditions)
    return tuple(judged), tuple(failures)


def remarked(
    evidence: Evidence, metrics: Sequence[tuple[str, Callable[[], Declared]]]
) -> tuple[Evidence, tuple[Failure, ...]]:
    """Add what the metrics say of single turns; collect failures to say it."""
    remarks: dict[tuple[str, int], str] = {}
    failures = []
    for name, make in metrics:
        try:
            metric = make().metric
            if isinstance(metric, RemarksTurns):
                remarks.update(metric.remarks(evidence))
        except BaseException as error:
            pass_on(error)
            failures.append(failure_of("metric", name, error))
    return replace(evidence, remarks=remarks), tuple(failures)


def _parts(
    evidence: Evidence, conditions: Sequence[Labels]
) -> Iterator[tuple[Labels, Evidence]]:
    """The parts of a run that differ in their condition or in the model that answered."""

    def in_condition(i: int, head: Head) -> bool:
        return head.condition == i

    def answered_by(name: str, head: Head) -> bool:
        return evidence.served.get(head.episode) == name

    if len(conditions) > 1:
        for i, labels in enumerate(conditions):
            yield labels, restricted(evidence, labels, partial(in_condition, i))
    names = sorted({*evidence.served.values()})
    if len(names) > 1:
        for name in names:
            labels = {SERVED: name}
            yield labels, restricted(evidence, labels, partial(answered_by, name))


def _measured(
    name: str, metric: Metric, part: Evidence, labels: Labels
) -> Iterator[Measurement]:
    for measurement in metric(part):
        yield replace(measurement, where={**measurement.where, **labels}, source=name)


def _claim(
    owners: dict[Identity, str], found: Sequence[Measurement], name: str
) -> None:
    """Note whose the measurements are.

    Raises:
        GdeError: one is given twice, by this metric or by another before it.
    """
    again = repeated(found)
    if again:
        raise GdeError(f"metric {name!r} gives {again!r} twice: {TELL_APART}")
    for each in found:
        if each.identity in owners:
            owner = owners[each.identity]
            advice = "leave one out, or rename what it gives"
            raise GdeError(
                f"metrics {owner!r} and {name!r} both give {each.label!r}: {advice}"
            )
    owners.update((each.identity, name) for each in found)
