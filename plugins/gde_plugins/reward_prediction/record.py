"""A recorded trajectory: what was done, what was seen, and the true reward of every step."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gde.data.json import Json

Side = Literal["positive", "negative"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action and what followed."""

    action: str
    observation: str
    """After the action."""
    raw: float
    """How much of the goal the environment says is reached, 0 to 1."""
    shaped: float
    """True reward: interpolated along the expert's steps, raw elsewhere."""
    is_expert: bool
    admissible: tuple[str, ...] = ()
    """What could be done before the action; empty where nothing was recorded."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One trajectory."""

    goal: str
    steps: tuple[Step, ...]
    start: str = ""
    """What was to be seen before the first step; empty where nothing was recorded."""
    world: Mapping[str, Json] = field(default_factory=dict)
    """Labels of the world."""

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(step.action for step in self.steps)

    @property
    def success(self) -> float:
        """The most of the goal that was reached at any time."""
        return max((step.raw for step in self.steps), default=0.0)

    @property
    def expert_actions(self) -> tuple[str, ...]:
        return tuple(step.action for step in self.steps if step.is_expert)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A task: a success, and a failure at the same."""

    domain: str
    index: int
    positive: Record
    negative: Record

    @property
    def name(self) -> str:
        """The folder of the task."""
        return task_name(self.domain, self.index)


def task_name(domain: str, index: int) -> str:
    """What a task of a domain is called."""
    return f"{domain}-{index:04d}"
