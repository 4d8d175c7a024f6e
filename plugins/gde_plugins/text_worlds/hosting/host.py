"""A simulator that is started when needed and replaced when it is worn out or gone."""

from collections.abc import Mapping
from typing import Any

from gde.errors import GdeError
from gde_plugins.text_worlds.config import HostConfig
from gde_plugins.text_worlds.hosting.process import SimulatorFailed, SimulatorProcess
from gde_plugins.text_worlds.hosting.simulator import Opening, Shown


class Host:
    """One simulator process at a time; used by one caller."""

    def __init__(
        self, name: str, target: str, settings: Mapping[str, Any], limits: HostConfig
    ) -> None:
        """Take the arguments of `SimulatorProcess` and its limits; nothing is started
        yet.
        """
        self._start = (name, target, settings)
        self._limits = limits
        self._process: SimulatorProcess | None = None
        self._games = 0
        """Games that the present process has begun."""

    def begin(self, game: Mapping[str, Any]) -> Opening:
        """Begin a game, in a new process if the present one is worn out.

        Raises:
            GdeError: there is no such game. SimulatorFailed: the simulator hung or
            died; the next game begins with another one.
        """
        if self._process is not None and self._worn_out(self._process):
            self.close()
        if self._process is not None:
            self._process.forget_log()

        told = self.ask("begin", game, seconds=self._limits.begin_seconds)
        self._games += 1
        shown = _shown(told["shown"])
        return Opening(**{**told, "shown": shown})

    def step(self, action: str) -> Shown:
        """Take an action in the game that has begun.

        Raises:
            SimulatorFailed: the simulator hung or died.
        """
        told = self.ask("step", action, seconds=self._limits.step_seconds)
        return _shown(told)

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        """Call a method of the simulator and return its answer.

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
            # Its process is gone; the next question starts another.
            self._process = None
            raise

    def close(self) -> None:
        """End the present process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _worn_out(self, process: SimulatorProcess) -> bool:
        if self._games >= self._limits.recycle_games:
            return True
        return process.megabytes() > self._limits.recycle_megabytes


def _shown(told: Mapping[str, Any]) -> Shown:
    """The answer of a simulator, in which JSON has made lists of tuples."""
    try:
        actions = told["actions"]
        if actions is not None:
            actions = tuple(actions)
        return Shown(**{**told, "actions": actions})
    except (KeyError, TypeError) as error:
        raise GdeError(
            f"a simulator must show text and actions, got {sorted(told)}"
        ) from error
