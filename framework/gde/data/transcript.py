"""What a reward model is shown of an episode: as much as its agent saw, and no truth.

The types have slots, so that nothing else can be attached to them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from gde.data.json import Json
from gde.data.trajectory import Trajectory

DOMAIN = "domain"
"""The fact of a world with the name of its domain."""
START = "initial"
"""The fact of a recorded world with the observation before its first action."""
DEMONSTRATION = "demonstration"
"""The fact of a world that shows one way to its goal: [[action, observation], ...]."""


@dataclass(frozen=True, slots=True)
class Step:
    """An action and the observation after it."""

    action: str
    """Empty at the start of an episode, and after an unusable answer."""
    observation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcript:
    """An episode as its agent saw it.

    It holds no reward, success, optimum, state, label or identity of the world, and no
    decision that follows the last observation.
    """

    objective: str
    """In words; empty where the world does not tell it."""
    steps: tuple[Step, ...]
    """One for each turn; the reward of a turn values its observation."""
    start: str = ""
    """The observation before the first action, where a record begins after it."""
    domain: str = ""
    demonstration: tuple[Step, ...] = ()
    """One way to the goal. Empty unless the reward model declares the need SHOWN_SUCCESS
    and the plan asks the environment for it.
    """

    @classmethod
    def of(cls, trajectory: Trajectory, *, shows_success: bool = False) -> Self:
        """The transcript of an episode, with the demonstration if it is to be shown."""
        actions = trajectory.actions_before
        turns = trajectory.turns
        facts = trajectory.world.facts
        return cls(
            objective=trajectory.world.objective,
            steps=tuple(
                Step(action, turn.observation.text)
                for action, turn in zip(actions, turns, strict=True)
            ),
            start=_text(facts, START),
            domain=_text(facts, DOMAIN),
            demonstration=_steps(facts.get(DEMONSTRATION)) if shows_success else (),
        )

    def until(self, n_steps: int) -> Self:
        """The transcript as it was after so many steps."""
        return replace(self, steps=self.steps[:n_steps])


def _text(facts: Mapping[str, Json], name: str) -> str:
    fact = facts.get(name)
    return fact if isinstance(fact, str) else ""


def _steps(fact: Json) -> tuple[Step, ...]:
    """The steps of a demonstration; none where the fact is of another form."""
    if isinstance(fact, str) or not isinstance(fact, Sequence):
        return ()
    steps: list[Step] = []
    for each in fact:
        match each:
            case [str(action), str(observation)]:
                steps.append(Step(action, observation))
            case _:
                return ()
    return tuple(steps)
