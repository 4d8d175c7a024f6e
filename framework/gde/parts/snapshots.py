"""Snapshots by replay, for environments without snapshots of their own."""

from dataclasses import dataclass
from typing import Any, Protocol

from gde.data.observation import Observation, Outcome, Task, World
from gde.parts.environment import Environment, HasGoals, HasSnapshot
from gde.parts.lending import lend


class Restorable(Environment, HasSnapshot, Protocol):
    """An environment that can be put back."""


@dataclass(frozen=True)
class Played:
    """A moment of an episode, as its seed and the actions that led to it."""

    seed: int | None
    """None where it is not known: the goal alone begins the present episode again."""
    actions: tuple[str, ...]
    goal: str | None = None
    """The goal that was set at its beginning; None for the world's own."""


class Replayed:
    """An environment restored by repeating its seed and actions."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._seed: int | None = None
        self._actions: list[str] = []
        self._goal: str | None = None
        lend(self, environment)

    def reset(self, seed: int) -> Observation:
        self._seed = seed
        self._actions = []
        self._goal = None
        return self.environment.reset(seed)

    def set_goal(self, goal: str) -> Observation:
        """Begin the episode again with this goal, which snapshots then hold."""
        environment: Any = self.environment
        observation: Observation = environment.set_goal(goal)
        self._actions = []
        self._goal = goal
        return observation

    def task(self) -> Task:
        return self.environment.task()

    def world(self) -> World:
        return self.environment.world()

    def step(self, action: str) -> Outcome:
        outcome = self.environment.step(action)
        self._actions.append(action)
        return outcome

    def snapshot(self) -> Played:
        """The seed and the actions of the episode so far.

        Raises:
            ValueError: no episode has begun.
        """
        if self._seed is None and self._goal is None:
            raise ValueError("a snapshot of an episode, got none: call reset first")
        return Played(self._seed, tuple(self._actions), self._goal)

    def restore(self, snapshot: object) -> Observation:
        """Play a snapshot again.

        Raises:
            ValueError: it is no snapshot of this episode.
        """
        return replay(self, snapshot, self._seed)

    def close(self) -> None:
        self.environment.close()

    def __getattr__(self, name: str) -> Any:
        """Reach what is no method."""
        return getattr(self.environment, name)


def restorable(environment: Environment) -> Restorable:
    """The environment itself if it has snapshots, else one restored by replay."""
    return (
        environment if isinstance(environment, HasSnapshot) else Replayed(environment)
    )


def replay(environment: Environment, snapshot: object, seed: int | None) -> Observation:
    """Play a snapshot of the episode of `seed` again, and give the last observation.

    Raises:
        ValueError: it is no snapshot of this episode.
    """
    if not isinstance(snapshot, Played) or snapshot.seed != seed:
        raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")
    if snapshot.goal is None:
        assert snapshot.seed is not None
        observation = environment.reset(snapshot.seed)
    else:
        assert isinstance(environment, HasGoals)
        observation = environment.set_goal(snapshot.goal)
    for action in snapshot.actions:
        observation = environment.step(action).observation
    return observation
