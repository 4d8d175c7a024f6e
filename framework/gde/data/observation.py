"""Messages between environment and agent, and the truth recorded beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from gde.data.json import Json

OBJECTIVE = "objective"
"""The fact of a world with its objective in words. A run records it for every world
without it.
"""
IMPOSSIBLE = "impossible"
"""The fact of a world with the proof that nothing reaches its goal. Where optimal
actions are known, the optimum of its first moment says so too.
"""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The text that the agent is shown."""

    text: str
    actions: tuple[str, ...] | None = None
    """The admissible actions, or None where any text may be tried."""
    raw: Any = field(default=None, compare=False, repr=False)
    """The observation in the form of the world's own library, e.g. an array of
    Gymnasium. It is shown to agents and never recorded; None where there is none.
    """


@dataclass(frozen=True, kw_only=True)
class State:
    """The truth at one moment: written to the record, never shown to the agent."""

    facts: Mapping[str, Json]
    """What changes from turn to turn, e.g. {"agent": [row, col]}."""
    index: int | None = None
    """The state's row in the environment's `mdp()`, where there is one."""


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """The optimal actions at one moment."""

    actions: tuple[str, ...]
    """All optimal actions; empty where no action leads to the goal any longer."""
    value: float | None = None
    """Optimal expected return from here on; None where it is not known, -inf where the
    goal is proved to be out of reach.
    """
    means: str = ""
    """The method that found it, e.g. "exact search" or "the expert's path"."""

    @classmethod
    def out_of_reach(cls, means: str) -> "Optimum":
        """No action leads to the goal; `means` is the method of the proof."""
        return cls(actions=(), value=-inf, means=means)


@dataclass(frozen=True, kw_only=True)
class Task:
    """The objective of an episode, in words that an agent may read."""

    objective: str
    horizon: int
    """Turns after which the episode is over, including those with unusable answers."""
    rules: str = ""
    actions: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class World:
    """The fixed truth of one episode: recorded, never shown to the agent."""

    id: str
    """Equal for equal worlds, even of different seeds. Averages "over worlds" give each
    id the same weight.
    """
    facts: Mapping[str, Json] = field(default_factory=dict)
    """Constant facts, e.g. the map; enough for a reporter to draw the world and for a
    probe to label it.
    """
    labels: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Short values to break results down by, e.g. size or optimal length."""
    base: str = ""
    """Equal for variations of one world (a rotated grid, a counterfactual without its
    key), which are no independent observations; empty for a world without
    variations.
    """

    @property
    def cluster(self) -> str:
        """Worlds of one cluster are resampled, permuted and held out together."""
        return self.base or self.id

    @property
    def objective(self) -> str:
        """The objective in words; empty where the world does not tell it."""
        objective = self.facts.get(OBJECTIVE)
        if not isinstance(objective, str) or not objective.strip():
            return ""
        return objective

    def asking(self, task: Task) -> "World":
        """The world as recorded: with the task's objective unless it has its own."""
        if OBJECTIVE in self.facts:
            return self
        facts = {**self.facts, OBJECTIVE: task.objective}
        return replace(self, facts=facts)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The consequences of an action. Made by one of the three constructors."""

    observation: Observation
    reward: float
    terminated: bool
    """The world is in a terminal state."""
    truncated: bool
    """The episode was cut off; the world could go on."""
    success: float | None
    """The share of the goal reached so far, 0 to 1. An episode's success is that of its
    last outcome. None where the world has no goal that can be reached.
    """
    unread: str = ""
    """Why the world could read nothing in the action, where any text is one: it is then
    recorded as an unusable answer, with this reason.
    """
    read: str = ""
    """What it read in such an action otherwise, in its own words."""

    def __post_init__(self) -> None:
        if self.success is not None and not 0 <= self.success <= 1:
            raise ValueError(
                f"success must be between 0 and 1, or None, got {self.success}"
            )

    @classmethod
    def running(
        cls,
        observation: Observation,
        reward: float = 0.0,
        success: float | None = 0.0,
    ) -> "Outcome":
        """The episode goes on."""
        return cls(
            observation=observation,
            reward=reward,
            terminated=False,
            truncated=False,
            success=success,
        )

    @classmethod
    def terminal(
        cls,
        observation: Observation,
        reward: float,
        *,
        success: float | None,
        unread: str = "",
        read: str = "",
    ) -> "Outcome":
        """The episode has ended by the rules of the world."""
        going = cls.running(observation, reward, success)
        return replace(going, terminated=True, unread=unread, read=read)

    @classmethod
    def cut_off(
        cls,
        observation: Observation,
        reward: float = 0.0,
        success: float | None = 0.0,
    ) -> "Outcome":
        """The environment stops the episode though the world could go on."""
        return replace(cls.running(observation, reward, success), truncated=True)
