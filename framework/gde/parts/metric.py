"""Metrics, which turn evidence into numbers."""

from collections.abc import Mapping, Sequence
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


@runtime_checkable
class RemarksTurns(Metric, Protocol):
    """A metric that says something of single turns, which the player shows."""

    def remarks(self, evidence: Evidence) -> Mapping[tuple[str, int], str]:
        """One line by episode key and turn index."""
