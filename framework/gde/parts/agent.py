"""Agents, which choose actions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import Any, Protocol, runtime_checkable

from gde.data.observation import Observation, Task
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.awaiting import settled
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
    """A function from observation to action, sync or async, as an agent.

    It gives the name of an action, or a `Decision`. The agent is called like the
    function.
    """

    choose: Callable[[Observation], object]
    prepare: Callable[[Brief], object] | None = None
    """Called before the episode; None for nothing to prepare."""

    def __post_init__(self) -> None:
        # For the name alone, by which a run calls the agent.
        update_wrapper(self, self.choose)  # type: ignore[arg-type]

    def begin(self, brief: Brief) -> None:
        """Prepare as the function does."""
        if self.prepare is not None:
            self.prepare(brief)

    async def act(self, observation: Observation) -> Decision:
        """The function's choice.

        Raises:
            GdeError: it fails, or gives neither the name of an action nor a decision.
        """
        name = getattr(self.choose, "__qualname__", type(self.choose).__name__)
        try:
            chosen = await settled(self.choose(observation))
        except GdeError:
            raise
        except Exception as error:
            raise GdeError(f"{name}: {type(error).__name__}: {error}") from error
        if isinstance(chosen, Decision):
            return chosen
        if isinstance(chosen, str):
            return Decision.act(chosen)
        names = f" ({', '.join(observation.actions)})" if observation.actions else ""
        raise GdeError(
            f"{name} must give the name of an action{names} or a Decision, got {chosen!r}"
        )


class HasPredict(Protocol):
    """A policy in the form of Stable-Baselines3."""

    def predict(self, observation: Any) -> Any:
        """The number of an action, or its name; perhaps in a tuple with a state."""


@dataclass
class PolicyAgent:
    """An object with `predict(observation)`, as an agent.

    It is given the observation in its library's own form, where there is one.
    """

    policy: HasPredict
    _actions: tuple[str, ...] = field(default=(), init=False)

    def begin(self, brief: Brief) -> None:
        """Note the names of the actions."""
        self._actions = brief.task.actions or ()

    async def act(self, observation: Observation) -> Decision:
        """The predicted action, by its number among those of the task or by its name.

        Raises:
            GdeError: it is neither.
        """
        seen = observation if observation.raw is None else observation.raw
        found = await settled(self.policy.predict(seen))
        action = found[0] if isinstance(found, tuple) else found
        if isinstance(action, str):
            return Decision.act(action)

        # Numbers come as Python's, NumPy's, or arrays of one of them.
        number = action.item() if getattr(action, "size", 0) == 1 else action
        if type(number) is int and 0 <= number < len(self._actions):
            return Decision.act(self._actions[number])
        name = f"{type(self.policy).__qualname__}.predict"
        last = len(self._actions) - 1
        raise GdeError(
            f"{name} must give a number from 0 to {last} or the name of an action, got {action!r}"
        )
