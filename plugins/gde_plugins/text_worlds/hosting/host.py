"""A simulator that is started when needed, and replaced when worn out or dead."""

from collections.abc import Mapping
from typing import Any

from gde_plugins.text_worlds.config import HostConfig
from gde_plugins.text_worlds.hosting.process import SimulatorFailed, SimulatorProcess
from gde_plugins.text_worlds.hosting.simulator import Opening, Shown


class Host:
    """One simulator process at a time; used by one caller."""

    def __init__(
        self, name: str, target: str, settings: Mapping[str, Any], limits: HostConfig
    ) -> None:
        """Take the arguments of `SimulatorProcess`; start nothing yet."""
        self._start = (name, target, settings)
        self._limits = limits
        self._process: SimulatorProcess | None = None
        self._games = 0
        """Number of games that the present process has begun."""

    def begin(self, game: Mapping[str, Any]) -> Opening:
        """Begin a game, in a new process if the present one is worn out.

        Raises:
            GdeError: there is no such game.
            SimulatorFailed: the simulator hung or died; the next game begins with
                another one.
        """
        process = self._process
        if process is not None:
            process.forget_log()
            is_old = self._games >= self._limits.recycle_games
            if is_old or process.megabytes() > self._limits.recycle_megabytes:
                self.close()

        told = self.ask("begin", game)
        self._games += 1
        told["shown"] = _shown(told["shown"])
        return Opening(**told)

    def step(self, action: str) -> Shown:
        """Take an action in the game that has begun.

        Raises:
            SimulatorFailed: the simulator hung or died.
        """
        return _shown(self.ask("step", action))

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the simulator and return its answer.

        Raises:
            GdeError: the simulator says why it cannot.
            SimulatorFailed: the simulator hung or died.
        """
        if self._process is None:
            self._process = SimulatorProcess(*self._start)
            self._games = 0
        limits = self._limits
        seconds = limits.step_seconds if method == "step" else limits.begin_seconds
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


def _shown(told: dict[str, Any]) -> Shown:
    # JSON has made a list of the tuple.
    if told["actions"] is not None:
        told["actions"] = tuple(told["actions"])
    return Shown(**told)
