"""A recorded trajectory: actions, observations, and the true reward of every step."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gde.data.json import Json

Side = Literal["positive", "negative"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action and its consequences."""

    action: str
    observation: str
    """After the action."""
    raw: float
    """The environment's own measure of success, 0 to 1."""
    shaped: float
    """True reward: interpolated along the expert's steps, raw elsewhere."""
    is_expert: bool
    admissible: tuple[str, ...] = ()
    """Admissible actions before the action; empty where none were recorded."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One trajectory."""

    goal: str
    steps: tuple[Step, ...]
    start: str = ""
    """Observation before the first step; empty where none was recorded."""
    world: Mapping[str, Json] = field(default_factory=dict)
    """Labels of the world."""

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(step.action for step in self.steps)

    @property
    def success(self) -> float:
        """The greatest success of any step."""
        return max((step.raw for step in self.steps), default=0.0)

    @property
    def expert_actions(self) -> tuple[str, ...]:
        return tuple(step.action for step in self.steps if step.is_expert)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A success and a failure at the same task."""

    domain: str
    index: int
    positive: Record
    negative: Record

    @property
    def name(self) -> str:
        """The folder of the task."""
        return task_name(self.domain, self.index)


def task_name(domain: str, index: int) -> str:
    """The name of a task of a domain."""
    return f"{domain}-{index:04d}"
