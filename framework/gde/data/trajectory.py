"""The record of an episode: decisions, outcomes and certified optimum."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal, get_args

from gde.data.completion import Completion
from gde.data.json import Labels
from gde.data.observation import IMPOSSIBLE, Observation, State, World

Status = Literal[
    "ok", "invalid_action", "unparsable", "empty", "refusal", "truncated", "error"
]
STATUSES: tuple[Status, ...] = get_args(Status)
Ending = Literal["terminated", "truncated", "horizon", "failed"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)
FIRST_ACTION = "first"
"""The fact of a world with the action that led to the first turn, e.g. in a
recording.
"""
READ_AS = "read as "
"""The beginning of the detail of a text that the world itself has read."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """An agent's answer to an observation: an action, or why there is none."""

    status: Status
    action: str | None = None
    """Present exactly when status is "ok"."""
    detail: str = ""
    """For an unusable answer: the expected and the actual answer. The agent may also
    note the cost of its decision.
    """
    completion: Completion | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """Probabilities of possible actions, if the agent tells them. They need not add up
    to 1.
    """

    def __post_init__(self) -> None:
        if not isinstance(self.action, str | None):
            raise TypeError(
                f"a decision wants the name of an action, got {self.action!r}"
            )
        if (self.status == "ok") != (self.action is not None):
            raise ValueError(
                f"a decision has an action exactly when it is ok, got {self.status!r} with {self.action!r}"
            )

    @property
    def read(self) -> str:
        """What was read in an answer: the action, or what its text said to the world;
        empty for nothing.
        """
        if self.detail.startswith(READ_AS):
            return self.detail.removeprefix(READ_AS)
        return self.action or ""

    @classmethod
    def act(cls, action: str, completion: Completion | None = None) -> "Decision":
        """A usable decision."""
        return cls(status="ok", action=action, completion=completion)

    @classmethod
    def unusable(
        cls, status: Status, detail: str, completion: Completion | None = None
    ) -> "Decision":
        """An answer that names no action that can be taken."""
        return cls(status=status, detail=detail, completion=completion)


@dataclass(frozen=True, kw_only=True)
class EpisodeKey:
    """The identity of an episode in a run.

    Its randomness is a function of the root seed and this key.
    """

    condition: int
    """Index of the combination of swept environment values."""
    world: int
    """Index of the world in its condition."""
    repeat: int = 0

    # Journals and probe reports hold keys in this form.
    def __str__(self) -> str:
        return f"{self.condition}/{self.world}/{self.repeat}"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One observation, the decision on it and its outcome.

    An unusable decision leaves the world as it is.
    """

    index: int
    observation: Observation
    decision: Decision
    reward: float
    terminated: bool
    truncated: bool
    success: float | None = None
    """The share of the goal reached by then, 0 to 1; None where the world has no goal
    that can be reached.
    """
    state: State | None = None
    """Before the decision."""
    optimal: tuple[str, ...] | None = None
    """All optimal actions before the decision, where the environment knows them."""
    value: float | None = None
    """Optimal expected return before the decision, where the environment knows it."""

    @property
    def out_of_reach(self) -> bool:
        """Whether the goal is proved to be out of reach before the decision."""
        return self.value == -inf


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
        """The action before each turn; empty for none, or an unusable answer."""
        first = self.world.facts.get(FIRST_ACTION)
        previous = first if isinstance(first, str) else ""

        before = []
        for turn in self.turns:
            before.append(previous)
            previous = turn.decision.action or ""
        return tuple(before)

    @property
    def impossible(self) -> bool:
        """Whether it is proved that nothing reaches the goal of this world."""
        if IMPOSSIBLE in self.world.facts:
            return True
        return bool(self.turns) and self.turns[0].out_of_reach

    @property
    def lost(self) -> bool:
        """Whether the agent is proved to have put the goal out of reach."""
        return not self.impossible and any(turn.out_of_reach for turn in self.turns)

    @property
    def success(self) -> float | None:
        """The share of the goal reached in the end, 0 to 1.

        None where the world has no goal that can be reached.
        """
        if not self.turns:
            return 0.0
        return self.turns[-1].success

    @property
    def succeeded(self) -> bool:
        """Whether all of the goal was reached."""
        return self.success == 1
