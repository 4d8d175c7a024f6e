"""A simulator that is started when needed and replaced when it is worn out or gone."""

from collections.abc import Mapping
from typing import Any

from gde.errors import GdeError
from gde_plugins.text_worlds.config import HostConfig
from gde_plugins.text_worlds.hosting.process import SimulatorFailed, SimulatorProcess
from gde_plugins.text_worlds.hosting.simulator import Opening, Shown


class Host:
    """One simulator process at a time; used by one caller."""

    def __init__(self, name: str, target: str, settings: Mapping[str, Any], limits: HostConfig) -> None:
        """Prepare to run `target` (a class as MODULE:NAME, made with `settings`); `name` is what messages call it."""
        self._start = name, target, settings
        self._limits = limits
        self._process: SimulatorProcess | None = None
        self._games = 0
        """Games that the present process has begun."""

    def begin(self, game: Mapping[str, Any]) -> Opening:
        """Begin a game, in a new process where the present one has had enough.

        Raises:
            GdeError: there is no such game.
            SimulatorFailed: the simulator hung or died; the next game begins with another one.
        """
        if self._process is not None and self._worn_out(self._process):
            self.close()
        if self._process is not None:
            self._process.forget_log()
        begun = self.ask("begin", game, seconds=self._limits.begin_seconds)
        self._games += 1
        return Opening(**{**begun, "shown": _shown(begun["shown"])})

    def step(self, action: str) -> Shown:
        """Take an action in the game that has begun.

        Raises:
            SimulatorFailed: the simulator hung or died.
        """
        return _shown(self.ask("step", action, seconds=self._limits.step_seconds))

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        """What a method of the simulator gives.

        Raises:
            GdeError: the simulator says why it cannot.
            SimulatorFailed: the simulator hung or died.
        """
        if self._process is None:
            self._process = SimulatorProcess(*self._start)
            self._games = 0
        try:
            return self._process.ask(method, *arguments, seconds=seconds)
        except SimulatorFailed:
            self._process = None
            raise

    def close(self) -> None:
        """End the present process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _worn_out(self, process: SimulatorProcess) -> bool:
        return self._games >= self._limits.recycle_games or process.megabytes() > self._limits.recycle_megabytes


def _shown(told: Mapping[str, Any]) -> Shown:
    try:
        actions = told["actions"]
        return Shown(**{**told, "actions": None if actions is None else tuple(actions)})
    except (KeyError, TypeError) as error:
        raise GdeError(f"a simulator must show text and actions, got {sorted(told)}") from error
