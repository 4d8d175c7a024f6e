"""What every metric promises (`gde.parts.metric`)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.parts.metric import Metric
from gde.testing.measurements import check_measurements
from gde.testing.promises import calling, promise, promise_equal
from gde.testing.samples import sample_evidence


def check_metric(make: Callable[[], Metric], evidence: Evidence | None = None) -> None:
    """Measure evidence, again, and parts of it, and check every promise of `Metric`.

    Args:
        make: gives the metric.
        evidence: what to measure. Without any, episodes in a corridor, about which a metric may have nothing to say.

    Raises:
        AssertionError: a promise is broken.
    """
    concerned = evidence is not None
    evidence = evidence or sample_evidence()
    metric = make()
    promise(callable(metric), f"a metric must be callable, got {metric!r}")
    first = _measured(metric, evidence, "evidence")
    promise(first or not concerned, "a metric must measure something, or give a Measurement with a reason")
    _measured(metric, replace(evidence, trajectories=evidence.trajectories[:1]), "a single trajectory")
    _measured(metric, Evidence(trajectories=(), seed=evidence.seed), "evidence without trajectories")
    promise_equal(first, _measured(metric, evidence, "evidence"), "a metric must be a pure function of the evidence")
    promise_equal(first, _measured(make(), evidence, "evidence"), "another object of the metric must measure the same")


def _measured(metric: Metric, evidence: Evidence, what: str) -> Sequence[Measurement]:
    measurements = tuple(calling(lambda: metric(evidence), f"a metric must not raise on {what}"))
    check_measurements(measurements)
    return measurements
