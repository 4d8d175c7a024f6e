"""Gymnasium's environments as environments of gde."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import EnumMeta
from functools import cached_property
from hashlib import sha256
from itertools import compress
from numbers import Real
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces

from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Optimum, Outcome, State, Task, World
from gde.data.ranges import Count, PositiveShare
from gde.errors import GdeError
from gde.foreign import shown
from gde.numerics.tabular import Solution, solve
from gde.parts.snapshots import Played, replay
from gde_plugins.gymnasium.tables import digest, ends_that_earn

Gym = gymnasium.Env[Any, Any]
Info = Mapping[str, Any]
Text = Callable[[Any, Gym], str]
Success = Callable[[float, bool, Info], float | None]
Reading = Literal["rewarded_end", "end", "survival", "none"]
READINGS: Mapping[Reading, Success] = {
    "rewarded_end": lambda reward, terminated, _: float(terminated and reward > 0),
    "end": lambda _, terminated, __: float(terminated),
    "survival": lambda _, terminated, __: float(not terminated),
    "none": lambda *_: None,
}
"""What counts as success: an episode that terminates with a positive reward, one that
terminates, one that does not, or nothing.
"""
GUESSED: Reading = "rewarded_end"
HORIZON = 100
"""The horizon where neither the caller nor the environment gives one."""


@dataclass(frozen=True, kw_only=True)
class GymnasiumConfig:
    """The configuration of a Gymnasium environment, as a plan writes it down."""

    options: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of `gymnasium.make`."""
    actions: tuple[str, ...] = ()
    """Names of the actions in their order; empty for those of the environment, else
    their numbers.
    """
    objective: str = ""
    """The objective in words; empty for "earn as much reward as you can"."""
    rules: str = ""
    """Rules shown to the agent."""
    success: Reading | None = None
    """Success is an end with a positive reward (rewarded_end), any end (end), no end
    within the limit of turns (survival), or undefined (none). none given:
    rewarded_end, with a remark where that is a guess.
    """
    horizon: Count | None = None
    """Turns allowed; none for the environment's own limit, 100 where it has none."""
    discount: PositiveShare = 0.99
    """The discount of future rewards, where a table of transitions gives the optimum.
    Below 1, the shorter of two ways to the same reward is better.
    """


class GymnasiumWorld:
    """An environment with discrete actions, restored by replay.

    Implements `gde.parts.environment.HasSnapshot` and `HasRemarks`.
    """

    def __init__(
        self,
        name: str,
        environment: Gym,
        config: GymnasiumConfig,
        text: Text,
        success: Success | None,
    ) -> None:
        self.name = name
        self.environment = environment
        self.config = config
        self.actions = action_names(name, environment, config.actions)
        self._text = text
        self._is_guess = success is None and config.success is None
        chosen = READINGS[config.success or GUESSED]
        self._success = chosen if config.success or success is None else success
        self._seed: int | None = None
        self._taken: list[str] = []
        self._over = True
        self._shown = Observation(text="", actions=self.actions)

    def reset(self, seed: int) -> Observation:
        """Begin the episode that `reset(seed=seed)` of the environment begins."""
        observation, info = self.environment.reset(seed=seed)
        self._seed = seed
        self._taken = []
        self._over = False
        self._shown = self._observe(observation, info)
        self._identity = self._identify()
        return self._shown

    def task(self) -> Task:
        config = self.config
        objective = (
            config.objective or f"Earn as much reward as you can in {self.name}."
        )
        return Task(
            objective=objective,
            rules=config.rules,
            horizon=self._horizon(),
            actions=self.actions,
        )

    def world(self) -> World:
        """The world, identified by its first observation.

        Environments with a `hash()` add it to the identity.
        """
        return World(id=self._identity, facts={"environment": self.name})

    def remarks(self) -> Sequence[str]:
        """Return which reading success has, where that is a guess."""
        if not self._is_guess or self._earning_end():
            return ()
        guess = "success is taken to be an end with a positive reward (rewarded_end), which is a guess"
        others = "env.success=end counts every end, survival no end, none nothing"
        return (f"{self.name}: {guess}; {others}",)

    def _earning_end(self) -> bool:
        """Whether it is known that an end with a positive reward is the goal."""
        return False

    def step(self, action: str) -> Outcome:
        """Take the action of this name.

        Raises:
            ValueError: it is not admissible, or the episode is over.
        """
        if self._over:
            raise ValueError("the episode is over: call reset")
        admissible = self._shown.actions or ()
        if action not in admissible:
            raise ValueError(f"wanted one of {', '.join(admissible)}, got {action!r}")
        first: int = self.environment.action_space.start  # type: ignore[attr-defined]
        step = self.environment.step(int(first) + self.actions.index(action))
        observation, reward, terminated, truncated, info = step
        if not isinstance(reward, Real | np.number):
            raise ValueError(
                f"{self.name}: reward: wanted a number, got {shown(reward)}"
            )
        reward = float(reward)
        self._taken.append(action)
        self._over = terminated or truncated
        self._shown = self._observe(observation, info)
        success = self._success(reward, bool(terminated), info)
        if terminated:
            return Outcome.terminal(self._shown, reward, success=success)
        if truncated:
            return Outcome.cut_off(self._shown, reward, success)
        return Outcome.running(self._shown, reward, success)

    def snapshot(self) -> Played:
        """The seed and the actions of the episode so far."""
        if self._seed is None:
            raise ValueError("a snapshot of an episode, got none: call reset first")
        return Played(self._seed, tuple(self._taken))

    def restore(self, snapshot: object) -> Observation:
        """Play a snapshot of this episode again.

        Raises:
            ValueError: it is none.
        """
        return replay(self, snapshot, self._seed)

    def close(self) -> None:
        self.environment.close()

    def _observe(self, observation: Any, info: Info) -> Observation:
        """The observation, with the actions of `action_mask` in `info`, if given."""
        mask = info.get("action_mask", [True] * len(self.actions))
        if np.shape(mask) != (len(self.actions),):
            raise ValueError(
                f"{self.name}: info['action_mask']: wanted {len(self.actions)} values, got {shown(mask)}"
            )
        names = tuple(compress(self.actions, mask))
        return Observation(
            text=self._text(observation, self.environment),
            actions=names or self.actions,
            raw=observation,
        )

    def _identify(self) -> str:
        own = getattr(self.environment.unwrapped, "hash", None)
        return _digest(self.name, self._shown.text, own() if callable(own) else "")

    def _horizon(self) -> int:
        spec = self.environment.spec
        of_spec = spec.max_episode_steps if spec else None
        own = getattr(self.environment.unwrapped, "max_steps", None)
        return int(self.config.horizon or of_spec or own or HORIZON)


class TabulatedWorld(GymnasiumWorld):
    """A `GymnasiumWorld` with the MDP and the optimum of its transition table.

    Implements `gde.parts.environment.HasMDP` and `HasOptimum`.
    """

    def __init__(self, mdp: TabularMDP, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._table = mdp
        self._digest = digest(mdp)
        self._begun: dict[int, TabularMDP] = {}

    def _earning_end(self) -> bool:
        return ends_that_earn(self.environment)

    def state(self) -> State:
        """Fact `state`: the number of the state."""
        return State(facts={"state": self._state}, index=self._state)

    def mdp(self) -> TabularMDP:
        """The table, beginning where the episode has begun."""
        return self._begun[self._start]

    def optimum(self) -> Optimum:
        """The optimal actions and value of the current state, by value iteration."""
        best = self._solution.optimal[self._state].nonzero()[0]
        value = float(self._solution.value[self._state])
        return Optimum(
            actions=tuple(self.actions[a] for a in best),
            value=value,
            means="value iteration",
        )

    @cached_property
    def _solution(self) -> Solution:
        return solve(self._table)

    @property
    def _state(self) -> int:
        return int(self.environment.unwrapped.s)  # type: ignore[attr-defined]  # it has a table

    def _identify(self) -> str:
        """By the table and the state that the episode begins in."""
        self._start = self._state
        # One object for each start: a run solves every new one.
        if self._start not in self._begun:
            start = np.zeros(self._table.n_states)
            start[self._start] = 1
            self._begun[self._start] = replace(self._table, start=start)
        return _digest(self.name, self._digest, self._start)


def action_names(whose: str, environment: Gym, names: Sequence[str]) -> tuple[str, ...]:
    """Name the actions: given names, else the enumeration `actions`, else numbers.

    Raises:
        GdeError: actions are not discrete, or not as many as the names, or two have the
            same.
    """
    space = getattr(environment, "action_space", None)
    if not isinstance(space, spaces.Discrete):
        raise GdeError(f"{whose}: wanted discrete actions, got {space}")
    if names:
        if not len(names) == len(set(names)) == space.n:
            raise GdeError(
                f"{whose}: wanted {space.n} different names of actions, got {', '.join(names)}"
            )
        return tuple(names)
    own = getattr(environment.unwrapped, "actions", None)
    if isinstance(own, EnumMeta) and len(own.__members__) == space.n:
        return tuple(own.__members__)
    return tuple(map(str, range(int(space.n))))


def _digest(*parts: object) -> str:
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]
