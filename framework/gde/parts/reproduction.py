"""A published table that a run can be held against."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gde.data.plan import Plan
from gde.data.result import Measurement, Result


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One printed number beside ours."""

    quantity: str
    paper: float
    """As printed, in `unit`."""
    ours: Measurement
    source: str
    """Where it is printed, e.g. "paper 000, Fig. 6"."""


@runtime_checkable
class Reproduction(Protocol):
    """Knows which plan a publication ran and which of its numbers are printed."""

    def plan(self, scale: float, model: str) -> Plan:
        """The published plan with the number of worlds scaled, for the language model of that reference."""

    def compare(self, result: Result) -> Sequence[Comparison]:
        """The printed numbers beside those of the result."""
