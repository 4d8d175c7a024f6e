"""Snapshots by replay, for environments without snapshots of their own."""

from dataclasses import dataclass
from typing import Any, Protocol

from gde.data.observation import Observation, Outcome, Task, World
from gde.parts.environment import Environment, HasSnapshot


class Restorable(Environment, HasSnapshot, Protocol):
    """An environment that can be put back."""


@dataclass(frozen=True)
class Played:
    """A moment of an episode, as its seed and the actions that led to it."""

    seed: int
    actions: tuple[str, ...]


class Replayed:
    """An environment restored by repeating its seed and actions."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._seed: int | None = None
        self._actions: list[str] = []

    def reset(self, seed: int) -> Observation:
        self._seed = seed
        self._actions = []
        return self.environment.reset(seed)

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
        if self._seed is None:
            raise ValueError("a snapshot of an episode, got none: call reset first")
        return Played(self._seed, tuple(self._actions))

    def restore(self, snapshot: object) -> Observation:
        """Play a snapshot again.

        Raises:
            ValueError: it is no snapshot of this episode.
        """
        return replay(self, snapshot, self._seed)

    def close(self) -> None:
        self.environment.close()

    def __getattr__(self, name: str) -> Any:
        """The capabilities of the environment."""
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
    observation = environment.reset(snapshot.seed)
    for action in snapshot.actions:
        observation = environment.step(action).observation
    return observation
