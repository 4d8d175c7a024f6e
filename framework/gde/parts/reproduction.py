"""A published table that runs can be held against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement, Result


@dataclass(frozen=True, kw_only=True)
class Run:
    """One of the study's plans, finished."""

    result: Result
    evidence: Evidence


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One number of the study: what is printed, and ours."""

    quantity: str
    paper: float | None
    """As printed, in the unit of `ours`; None where the publication shows no number."""
    ours: Measurement
    source: str
    """Where it is printed, e.g. "Arghal et al. (2026), fig. 6"."""
    table: str = ""
    """The heading under which the row stands; rows of a table follow one another."""
    others: Mapping[str, Measurement] = field(default_factory=dict)
    """The same quantity by other rules, by the name of the rule, e.g. "paper-compatible": a column each."""

    @property
    def difference(self) -> float | None:
        """Ours less the printed; None where there is none, or none that means anything: p values are no quantities."""
        if self.paper is None or self.ours.value is None or self.ours.unit == "probability":
            return None
        return self.ours.value - self.paper


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What one part of a plan will ask of language models, before it is run."""

    plan: str
    part: str
    episodes: int
    calls: int | None = None
    """None where it cannot be told."""
    prompt_tokens: int | None = None
    """About so many."""
    answer_tokens: int | None = None
    """At most."""
    cost: float | None = None
    """At most, in the currency of the prices that were named; None where none were."""
    note: str = ""


@runtime_checkable
class Foresees(Protocol):
    """What a reproduction may do besides: tell what it will ask, without running anything."""

    def estimate(self, plans: Mapping[str, Plan]) -> Sequence[Estimate]:
        """Of every part that asks language models, by the plans as they would be run."""


@runtime_checkable
class Agentless(Protocol):
    """What a reproduction may say besides: that nobody can take part, for it has agents of its own or none."""

    agentless: bool


@runtime_checkable
class Reproduction(Protocol):
    """Knows which plans a publication ran and which of its numbers are printed."""

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The published plans by name, their size scaled, with the agent in the place of the published one.

        Empty where everything is computed without an agent.
        """

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """The printed numbers beside those of the runs, by the names of their plans."""

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        """The figures of the publication, drawn from the runs; empty where it has none."""
