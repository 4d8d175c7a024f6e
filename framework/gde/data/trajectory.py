"""The record of an episode: decisions, outcomes and the certified optimum beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gde.data.completion import Completion
from gde.data.json import Labels
from gde.data.observation import Observation, State, World

Status = Literal["ok", "invalid_action", "unparsable", "empty", "refusal", "truncated", "error"]
STATUSES: tuple[Status, ...] = ("ok", "invalid_action", "unparsable", "empty", "refusal", "truncated", "error")
Ending = Literal["terminated", "truncated", "horizon", "failed"]
FIRST_ACTION = "first"
"""The fact of a world that tells the action that led to the first turn, where there was one, as in a recording."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """An agent's answer to one observation: an action, or the reason why there is none."""

    status: Status
    action: str | None = None
    """Present exactly when status is "ok"."""
    detail: str = ""
    """For an unusable answer: what was wanted and what came. The agent may note here what the decision took."""
    completion: Completion | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """Of actions that could have been chosen, where the agent tells them; they need not add up to 1."""

    def __post_init__(self) -> None:
        if (self.status == "ok") != (self.action is not None):
            raise ValueError(
                f"a decision has an action exactly when it is ok, got {self.status!r} with {self.action!r}"
            )

    @classmethod
    def act(cls, action: str, completion: Completion | None = None) -> "Decision":
        """A usable decision."""
        return cls(status="ok", action=action, completion=completion)

    @classmethod
    def unusable(cls, status: Status, detail: str, completion: Completion | None = None) -> "Decision":
        """An answer that names no action that can be taken."""
        return cls(status=status, detail=detail, completion=completion)


@dataclass(frozen=True, kw_only=True)
class EpisodeKey:
    """Which episode of a run: everything random in it is a function of the root seed and this key."""

    condition: int
    """Index of the combination of swept environment values."""
    world: int
    """Index of the world in its condition."""
    repeat: int = 0

    def __str__(self) -> str:
        return f"{self.condition}/{self.world}/{self.repeat}"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One observation, the decision on it and what followed. An unusable decision leaves the world as it is."""

    index: int
    observation: Observation
    decision: Decision
    reward: float
    terminated: bool
    truncated: bool
    success: float | None = None
    """How much of the goal has been reached by then, 0 to 1; None where the world has none that can be reached."""
    state: State | None = None
    """Before the decision."""
    optimal: tuple[str, ...] | None = None
    """All optimal actions before the decision, where the environment knows them."""
    value: float | None = None
    """Optimal expected return before the decision, where the environment knows it."""


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """One finished episode."""

    key: EpisodeKey
    seed: int
    world: World
    labels: Labels
    """The swept values of the condition together with the world's own labels."""
    horizon: int
    turns: tuple[Turn, ...]
    ending: Ending
    failure: str = ""
    """Why the episode could not be finished; empty unless ending is "failed"."""
    final_state: State | None = None

    @property
    def actions_before(self) -> tuple[str, ...]:
        """The action that led to each turn; empty where there was none, or none that could be taken."""
        first = self.world.facts.get(FIRST_ACTION)
        led = (first if isinstance(first, str) else "", *(turn.decision.action or "" for turn in self.turns))
        return led[: len(self.turns)]

    @property
    def success(self) -> float | None:
        """How much of the goal was reached in the end, 0 to 1; None where the world has none that can be reached."""
        return self.turns[-1].success if self.turns else 0.0

    @property
    def succeeded(self) -> bool:
        """Whether all of the goal was reached."""
        return self.success == 1
