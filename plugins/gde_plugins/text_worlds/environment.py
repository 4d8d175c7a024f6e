"""Games of a simulator in another process, as an environment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gde.data.observation import Observation, Outcome, Task, World
from gde.seeding import derive
from gde_plugins.text_worlds.hosting.host import Host
from gde_plugins.text_worlds.hosting.simulator import Opening, Shown

LARGEST_SEED = 2**31
"""Upper bound of seeds for the simulators' generators."""


@dataclass(frozen=True)
class Made:
    """Games generated from a seed."""

    settings: Mapping[str, Any]
    """Settings of the games; each combination has its own stream of seeds."""

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    def game(self, seed: int) -> Mapping[str, Any]:
        key = [f"{name}={value}" for name, value in sorted(self.settings.items())]
        own_seed = derive(seed, "text-world", *key) % LARGEST_SEED
        return {**self.settings, "seed": own_seed}


@dataclass(frozen=True)
class Listed:
    """Games of a list, each under its name."""

    games: Mapping[str, Mapping[str, Any]]
    remarks: tuple[str, ...] = ()
    """On those that were left out."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.games)

    def game(self, seed: int) -> Mapping[str, Any]:
        return self.games[self.names[seed % len(self.games)]]


class SimulatedEnvironment:
    """Implements `gde.parts.environment.HasWorlds`, `HasRemarks` and `HasDemonstration`.

    Earlier states are restored by replay.
    """

    def __init__(self, host: Host, games: Made | Listed, *, horizon: int) -> None:
        """Play games in the simulator of a host."""
        self._host = host
        self._games = games
        self._horizon = horizon
        self._opening: Opening | None = None

    def worlds(self) -> Sequence[str]:
        """Return the names of the listed games; none if every seed gives another game."""
        return self._games.names

    def remarks(self) -> Sequence[str]:
        """Return how many listed games were left out, and why."""
        return self._games.remarks if isinstance(self._games, Listed) else ()

    def reset(self, seed: int) -> Observation:
        """Begin the game of this seed.

        Raises:
            GdeError: it cannot be made or read.
            SimulatorFailed: the simulator hung or died; the next game begins with
                another one.
        """
        # After a failure no game has begun.
        self._opening = None
        self._opening = self._host.begin(self._games.game(seed))
        self._now = self._opening.shown
        return _observation(self._now)

    def task(self) -> Task:
        return Task(objective=self._begun.objective, horizon=self._horizon)

    def world(self) -> World:
        begun = self._begun
        return World(id=begun.id, facts=begun.facts, labels=begun.labels)

    def step(self, action: str) -> Outcome:
        """Take an admissible action.

        Raises:
            ValueError: it is not admissible, or the game is over.
            SimulatorFailed: the simulator hung or died.
        """
        if self._opening is None or self._now.ended:
            raise ValueError(
                f"the game is over or has not begun, it takes no action: got {action!r}"
            )
        if self._now.actions is not None and action not in self._now.actions:
            raise ValueError(
                f"wanted one of {len(self._now.actions)} admissible actions, got {action!r}"
            )

        now = self._host.step(action)
        self._now = now
        observation = _observation(now)
        if now.ended:
            return Outcome.terminal(observation, now.reward, success=now.success)
        return Outcome.running(observation, now.reward, success=now.success)

    def demonstration(self) -> Sequence[str]:
        """Return the actions of the simulator's expert from here; none if it has no
        plan.
        """
        if self._opening is None or self._now.ended:
            return ()
        return tuple(self._host.ask("demonstration"))

    def reseed(self, seed: int) -> None:
        """Nothing is random once a game has begun."""

    def close(self) -> None:
        self._host.close()

    @property
    def _begun(self) -> Opening:
        if self._opening is None:
            raise ValueError("a game that has begun, got none: call reset first")
        return self._opening


def _observation(shown: Shown) -> Observation:
    return Observation(text=shown.text, actions=shown.actions)
