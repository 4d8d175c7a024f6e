"""Agents, which choose actions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from typing import Protocol, runtime_checkable

from gde.data.observation import Observation, Task
from gde.data.trajectory import Decision
from gde.parts.environment import Environment
from gde.parts.simulator import Simulator


@dataclass(frozen=True, kw_only=True)
class Brief:
    """What an agent is given before its episode."""

    task: Task
    seed: int
    """The seed of the agent's own randomness in this episode."""
    environment: Environment | None = None
    """The environment itself, for agents whose offer needs one of its capabilities (an
    oracle, a planner); None for all others. An agent that tries actions in it puts it
    back, see `gde.parts.snapshots`.
    """
    simulator: Simulator | None = None
    """A private copy of the world, for agents whose offer needs SIMULATOR; None for all
    others.
    """


@runtime_checkable
class Agent(Protocol):
    """One agent object belongs to one episode."""

    def begin(self, brief: Brief) -> None:
        """Prepare for the episode."""

    async def act(self, observation: Observation) -> Decision:
        """Choose an action, or say why none could be chosen."""


@runtime_checkable
class HasActionProbabilities(Agent, Protocol):
    """Capability ACTION_PROBS: the agent gives the probability of each action.

    It does so instead of choosing one.
    """

    async def action_probabilities(
        self, observation: Observation, least: float
    ) -> Mapping[str, float]:
        """The probability of each action that `act` could choose now.

        The call leaves no trace in the agent.

        The rest to a sum of 1 are answers that name no action, and actions that are
        each less probable than `least`.

        Raises:
            GdeError: the agent's language model does not tell.
        """


@dataclass
class FunctionAgent:
    """A plain function from observation to action, as an agent.

    The agent is called like the function.
    """

    choose: Callable[[Observation], str]

    def __post_init__(self) -> None:
        # For the name alone, by which a run calls the agent.
        update_wrapper(self, self.choose)  # type: ignore[arg-type]

    def begin(self, brief: Brief) -> None:
        """A function has nothing to prepare."""

    async def act(self, observation: Observation) -> Decision:
        return Decision.act(self.choose(observation))
