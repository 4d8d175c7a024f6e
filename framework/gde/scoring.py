"""From evidence to measurements: every metric on the whole run and on each stratum of its sweep."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Failure, Measurement
from gde.errors import GdeError
from gde.parts.metric import Metric

Identity = tuple[str, frozenset[tuple[str, object]]]


def score(
    metrics: Sequence[tuple[str, Metric]], evidence: Evidence, strata: Sequence[Labels]
) -> tuple[tuple[Measurement, ...], tuple[Failure, ...]]:
    """All measurements, in the order of metrics and strata, and the metrics that raised.

    A sweep of one stratum has no breakdown: it would repeat the whole. A metric that raises in one place is measured
    in the others.

    Raises:
        GdeError: two metrics give a measurement of the same name and restriction.
    """
    parts = [({}, evidence), *((labels, restricted(evidence, labels)) for labels in strata if len(strata) > 1)]
    measurements: list[Measurement] = []
    failures: list[Failure] = []
    owners: dict[Identity, str] = {}
    for name, metric in metrics:
        for labels, part in parts:
            try:
                found = list(_measured(metric, part, labels))
            except Exception as error:
                failures.append(Failure(stage="metric", subject=_subject(name, labels), reason=_reason(error)))
                continue
            for measurement in found:
                _claim(owners, measurement, name)
            measurements.extend(found)
    return tuple(measurements), tuple(failures)


def restricted(evidence: Evidence, labels: Labels) -> Evidence:
    """The evidence of one stratum. Probes are fitted to the whole run and break their own numbers down."""
    chosen = tuple(one for one in evidence.trajectories if labels.items() <= one.labels.items())
    episodes = {str(trajectory.key) for trajectory in chosen}
    traces = tuple(trace for trace in evidence.reward_traces if trace.episode in episodes)
    return replace(evidence, trajectories=chosen, reward_traces=traces, probe_reports=())


def _measured(metric: Metric, part: Evidence, labels: Labels) -> Iterator[Measurement]:
    for measurement in metric(part):
        yield replace(measurement, where={**measurement.where, **labels})


def _claim(owners: dict[Identity, str], measurement: Measurement, name: str) -> None:
    identity = measurement.name, frozenset(measurement.where.items())
    if identity in owners:
        raise GdeError(
            f"metrics {owners[identity]!r} and {name!r} both give {_subject(measurement.name, measurement.where)!r}: "
            "leave one of them out, or rename what one of them gives"
        )
    owners[identity] = name


def _subject(name: str, labels: Labels) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in labels.items())])


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
