"""From evidence to measurements: every metric, on the run and its conditions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from gde.data.episode_table import EpisodeTable
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import (
    TELL_APART,
    Failure,
    Identity,
    Measurement,
    labelled,
    repeated,
)
from gde.errors import GdeError
from gde.numerics.episode_metric import EpisodeMetric
from gde.parts.metric import Declared, RemarksTurns
from gde.stages.deadlines import interrupting
from gde.stages.evidence import restricted
from gde.stages.facts import facts_of
from gde.stages.failing import failure_of, pass_on
from gde.stages.progress import Progress, Watch, ignore

Maker = Callable[[], Declared]


class _Part(NamedTuple):
    """The whole run, or a condition."""

    labels: Labels
    evidence: Evidence
    condition: int | None


def score(
    metrics: Sequence[tuple[str, Maker]],
    evidence: Evidence,
    conditions: Sequence[Labels],
    known: Sequence[Measurement] = (),
    seconds: float | None = None,
    watch: Watch = ignore,
) -> tuple[tuple[Measurement, ...], tuple[Failure, ...]]:
    """Compute the metrics, in order of metric and condition; collect failures.

    A sweep of one condition has no breakdown: it would repeat the whole. A metric that
    raises, or takes more than `seconds`, on one part is still measured on the others,
    and one whose facts of an episode fail on the other episodes. A measurement that is
    given twice makes a failure of the metric that gives it last.

    Args:
        metrics: name and maker of each.
        evidence: of the whole run.
        conditions: the labels of each condition.
        known: measurements that others have given before.
        seconds: the time that a metric may take on one part, or for the facts of one
            episode; None for no limit.
        watch: receives the progress.
    """
    parts = [_Part({}, evidence, None)]
    if len(conditions) > 1:
        for i, labels in enumerate(conditions):
            parts.append(_Part(labels, restricted(evidence, labels, i), i))
    made, failures = _made(metrics)
    of_episodes = {
        name: one.metric
        for name, one in made.items()
        if isinstance(one.metric, EpisodeMetric)
    }
    tables, factless = facts_of(of_episodes, evidence, seconds)
    failures += factless

    measurements: list[Measurement] = []
    owners = {each.identity: each.source for each in known}
    total = len(made) * len(parts)
    for place, (name, metric) in enumerate(made.items()):
        for step, part in enumerate(parts, start=place * len(parts)):
            watch(Progress("metrics", step, total, name))
            try:
                with interrupting(seconds, f"more than run.part_seconds={seconds}"):
                    found = list(_measured(name, metric, part, tables.get(name)))
                _claim(owners, found, name)
            except BaseException as error:
                pass_on(error)
                subject = labelled(name, part.labels)
                failures.append(failure_of("metric", subject, error))
            else:
                measurements.extend(found)
    watch(Progress("metrics", total, total))
    return tuple(measurements), tuple(failures)


def remarked(
    evidence: Evidence, metrics: Sequence[tuple[str, Maker]]
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


def _made(
    metrics: Sequence[tuple[str, Maker]],
) -> tuple[dict[str, Declared], list[Failure]]:
    made = {}
    failures = []
    for name, make in metrics:
        try:
            made[name] = make()
        except BaseException as error:
            pass_on(error)
            failures.append(failure_of("metric", name, error))
    return made, failures


def _measured(
    name: str, declared: Declared, part: _Part, table: EpisodeTable | None
) -> Iterator[Measurement]:
    metric = declared.metric
    if not isinstance(metric, EpisodeMetric):
        found = declared(part.evidence)
    elif table is None:
        # No episode has facts, which is a failure already.
        return
    else:
        if part.condition is not None:
            table = table.where(table.conditions == part.condition)
        found = declared.with_units(metric.measured(table, part.evidence.seed))
    for one in found:
        yield replace(one, where={**one.where, **part.labels}, source=name)


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
