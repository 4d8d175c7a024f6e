"""Reproductions of published tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Protocol, runtime_checkable

from gde.data.estimate import Estimate
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
    """One number of the study: the printed one and ours."""

    quantity: str
    paper: float | None
    """As printed, in the unit of `ours`; None where the publication shows no number."""
    ours: Measurement
    source: str
    """Where it is printed, e.g. "Arghal et al. (2026), fig. 6"."""
    table: str = ""
    """The heading under which the row stands; rows of a table follow one another."""
    column: str = ""
    """The column of a table that is a matrix; `quantity` is then "ROW, COLUMN"."""
    differs: str = ""
    """What is other than in the publication, so that the numbers are not compared;
    empty where ours was found by the published method.
    """
    others: Mapping[str, Measurement] = field(default_factory=dict)
    """The same quantity by other rules, by the name of the rule, e.g.
    "paper-compatible": a column each.
    """

    @property
    def difference(self) -> float | None:
        """Ours minus the printed number; None where one is missing, or found by another
        method.
        """
        # A difference of p values means nothing.
        if (
            self.paper is None
            or self.ours.value is None
            or self.differs
            or self.ours.unit == "probability"
        ):
            return None
        return self.ours.value - self.paper


UNFIT = re.compile(r"[^\w.-]+")
"""Characters of a model's name that no folder should have."""


def beside(plan: str, other: str) -> str:
    """The name of a plan in which another agent or model does what `plan` does."""
    return f"{plan}-{UNFIT.sub('-', other)}"


def scaled(published: int, scale: float) -> int:
    """A share of a published sample size, rounded up, at least 1."""
    # 10 x 1.1 is a little more than 11 in floating point, and would be rounded up to
    # 12.
    wanted = round(published * scale, 9)
    return max(1, ceil(wanted))


@runtime_checkable
class Foresees(Protocol):
    """A reproduction that can estimate its language-model calls beforehand."""

    def estimate(self, plans: Mapping[str, Plan]) -> Sequence[Estimate]:
        """An estimate for every part that asks language models, given the plans."""


@runtime_checkable
class NamesAgent(Protocol):
    """A reproduction with a default agent of its own."""

    agent: str
    """The name of the agent, if the caller names none."""


@runtime_checkable
class Agentless(Protocol):
    """A reproduction that takes no other agent: it has its own or none."""

    agentless: bool


@runtime_checkable
class Reproduction(Protocol):
    """Knows which plans a publication ran and which of its numbers are printed."""

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The published plans by name, scaled, with the given agent.

        Empty where everything is computed without an agent.
        """

    def compare(self, runs: Mapping[str, Run]) -> Iterable[Comparison]:
        """The printed numbers beside those of the runs, by the names of their plans.

        Rows that take long are best given one by one: the user sees how many there are.
        """

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        """The publication's figures, drawn from the runs; empty where it has none."""


@runtime_checkable
class ProfilesAgent(Reproduction, Protocol):
    """A reproduction of no publication: one agent in many plans.

    Plans that the agent cannot run are left out, with their reasons.
    """

    def lacking(
        self, refused: Mapping[str, str], runs: Mapping[str, Run]
    ) -> Sequence[Comparison]:
        """The rows of the plans that were refused, given the reasons by name.

        Other agents may have played the same worlds, in `runs`.
        """

    def claim(self, found: Sequence[Comparison]) -> Sequence[str]:
        """What the agent was found to do, without its subject: "reached the goal in 9 %
        of grids."; then a sentence for each section.
        """
