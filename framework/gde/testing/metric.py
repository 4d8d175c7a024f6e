"""The check of metrics (`gde.parts.metric`)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episode_metric import EpisodeMetric, undeclared
from gde.numerics.episodes import finished
from gde.parts.metric import Metric
from gde.testing.measurements import check_measurements
from gde.testing.promises import calling, promise, promise_equal
from gde.testing.samples import sample_evidence


def check_metric(make: Callable[[], Metric], evidence: Evidence | None = None) -> None:
    """Check every promise of `Metric`, also on little and empty evidence.

    Args:
        make: gives the metric.
        evidence: evidence that the metric must measure. By default episodes in a
            corridor, for which it may give nothing.

    Raises:
        AssertionError: a promise is broken.
    """
    must_measure = evidence is not None
    evidence = evidence or sample_evidence()
    metric = make()

    first = _measured(metric, evidence, "evidence")
    promise(
        first or not must_measure,
        "a metric must measure something, or give a Measurement with a reason",
    )
    single = replace(evidence, trajectories=evidence.trajectories[:1])
    _measured(metric, single, "a single trajectory")
    empty = Evidence(trajectories=(), seed=evidence.seed)
    _measured(metric, empty, "evidence without trajectories")

    promise_equal(
        first,
        _measured(metric, evidence, "evidence"),
        "a metric must be a pure function of the evidence",
    )
    promise_equal(
        first,
        _measured(make(), evidence, "evidence"),
        "another object of the metric must measure the same",
    )


def check_facts(metric: Metric, declared: str) -> None:
    """Check what the offer of a metric says of its facts.

    Args:
        metric: is offered.
        declared: `MetricOffer.facts`.

    Raises:
        AssertionError: a promise is broken.
    """
    if not isinstance(metric, EpisodeMetric):
        promise(not declared, f"facts={declared!r} is of an EpisodeMetric alone")
        return
    promise(declared, 'the offer of an EpisodeMetric says facts="turns" or "world"')
    if declared == "turns":
        for one in finished(sample_evidence()):
            calling(
                partial(metric.row, one, undeclared),
                "a metric must tell the facts of an episode without its process",
            )


def _measured(metric: Metric, evidence: Evidence, what: str) -> Sequence[Measurement]:
    measurements = tuple(
        calling(lambda: metric(evidence), f"a metric must not raise on {what}")
    )
    check_measurements(measurements)
    return measurements
