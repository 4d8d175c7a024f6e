"""Metrics, which turn evidence into numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gde.data.completion import ModelInfo
from gde.data.evidence import Evidence
from gde.data.measure import Measures
from gde.data.result import Measurement, with_unit
from gde.errors import GdeError


@runtime_checkable
class Metric(Protocol):
    """A pure function of the evidence.

    Called once on all of it and once on each condition.
    """

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """The metric's numbers; a missing number is a Measurement with a reason."""


@dataclass(frozen=True)
class Declared:
    """A metric whose numbers have the units that its measures declare."""

    metric: Metric
    measures: Measures
    made_by: str = ""
    """Identifies what its facts of an episode are made by; empty for a metric given as
    an object.
    """

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """A number that no measure declares, or none with a unit, keeps its own.

        Raises:
            GdeError: the metric gives anything else, or a number has another unit than
                its measure.
        """
        found = self.metric(evidence)
        listed = list(found) if isinstance(found, Iterable) else [found]
        if not all(isinstance(one, Measurement) for one in listed):
            raise GdeError(f"wanted a list of gde.Measurement, got {found!r}")
        return [with_unit(one, self.measures[one.name]) for one in listed]


@runtime_checkable
class FitsModel(Protocol):
    """The configuration of a metric that reads or changes activations."""

    def check_model(self, model: ModelInfo) -> None:
        """Refuse a model that lacks what the metric would read or change.

        Called before a run, or before the metric is added to one.

        Raises:
            GdeError: it does.
        """


@runtime_checkable
class RemarksTurns(Metric, Protocol):
    """A metric that says something of single turns, which the player shows."""

    def remarks(self, evidence: Evidence) -> Mapping[tuple[str, int], str]:
        """One line by episode key and turn index."""
