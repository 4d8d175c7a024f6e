"""Metrics, which turn evidence into numbers."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gde.data.evidence import Evidence
from gde.data.result import Measurement


@runtime_checkable
class Metric(Protocol):
    """A pure function of the evidence.

    Called once on all of it and once on each condition.
    """

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """The metric's numbers; a missing number is a Measurement with a reason."""
