"""The agent whose actions a person types."""

import asyncio
import os
from collections.abc import Sequence

import typer

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import RunFailed
from gde.parts.agent import Brief


class HumanAgent:
    """Shows each observation on stderr and reads the action from stdin.

    An action may be shortened as long as it stays unambiguous. A line that names no
    action is asked for again, so that a slip of the finger is no decision.
    """

    def begin(self, brief: Brief) -> None:
        self._news = f"\n{brief.task.objective}\n"

    async def act(self, observation: Observation) -> Decision:
        """Ask the person.

        Raises:
            RunFailed: the input has ended.
        """
        async with _ONE_AT_A_TIME:
            self._tell(f"{self._news}{observation.text}")
            self._news = ""
            while True:
                line = await self._typed(observation.actions)
                if observation.actions is None:
                    return Decision.act(line)
                meant = matching(line, observation.actions)
                if len(meant) == 1:
                    return Decision.act(meant[0])
                self._tell(f"{line!r} is none of them, or several")

    def _tell(self, text: str) -> None:
        typer.echo(text, err=True)

    async def _typed(self, actions: Sequence[str] | None) -> str:
        prompt = f"{', '.join(actions)}: " if actions else "action: "
        typer.echo(prompt, nl=False, err=True)
        line = await _KEYBOARD.line()
        if not line:
            raise RunFailed(
                "the input ended; finished episodes are kept; go on with `gde resume`"
            )
        return line.strip()


def matching(typed: str, actions: Sequence[str]) -> Sequence[str]:
    """The actions that a person may mean: the one of this name, else all that begin so."""
    folded = typed.casefold()
    same = [action for action in actions if action.casefold() == folded]
    return same or [each for each in actions if each.casefold().startswith(folded)]


class Keyboard:
    """Lines of a file descriptor. The event loop goes on meanwhile, so ^C is heard."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._read = b""

    async def line(self) -> str:
        """The next line; empty at the end."""
        while b"\n" not in self._read:
            await self._readable()
            more = os.read(self._descriptor, 4096)
            if not more:
                break
            self._read += more
        line, end, self._read = self._read.partition(b"\n")
        return (line + end).decode(errors="replace")

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        is_there = asyncio.Event()
        try:
            loop.add_reader(self._descriptor, is_there.set)
        except PermissionError:  # a regular file never lets one wait
            return
        try:
            await is_there.wait()
        finally:
            loop.remove_reader(self._descriptor)


_KEYBOARD = Keyboard()
_ONE_AT_A_TIME = asyncio.Lock()
"""Whatever the number of concurrent episodes, the person is asked one question."""
