"""A simulator in its own process, which may hang, die or print."""

import json
import os
import select
import signal
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from fcntl import F_SETFL, fcntl
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Any

from gde.errors import GdeError

PROGRAM = "import sys; from gde_plugins.text_worlds.hosting.server import serve; serve(*sys.argv[1:])"
PATIENCE = 5.0
"""Seconds that a simulator gets to end on request."""
CHUNK = 1 << 16
LAST_WORDS = 300
"""Maximum number of characters quoted from the last output of a dead simulator."""


class SimulatorFailed(GdeError):
    """A simulator hung, died or answered nonsense. Its process is gone."""


class SimulatorProcess:
    """A simulator's process, in its own group together with its child processes."""

    def __init__(self, name: str, target: str, settings: Mapping[str, Any]) -> None:
        """Start a simulator.

        Args:
            name: of the simulator, for messages.
            target: the simulator's class as MODULE:NAME.
            settings: the arguments that the class is made with.
        """
        self._name = name
        self._log = TemporaryFile(buffering=0)  # noqa: SIM115  # it lives as long as the process
        # After `forget_log` has emptied the file, the process still writes at its end.
        fcntl(self._log, F_SETFL, os.O_APPEND)

        # The process imports what this one can import, and sets have one order in all
        # processes.
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        environment["PYTHONHASHSEED"] = "0"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, target, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
            env=environment,
        )
        assert self._process.stdin and self._process.stdout
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        self._end = weakref.finalize(self, _end, self._process, self._log)
        self._unread = b""

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        """Call a method of the simulator and return its answer.

        Raises:
            GdeError: the simulator refuses, and says why; it goes on.
            SimulatorFailed: there was no answer in time, or none that can be read.
        """
        question = {"method": method, "arguments": arguments}
        try:
            self._stdin.write(json.dumps(question).encode() + b"\n")
            self._stdin.flush()
            answer = json.loads(self._line(seconds))
        except TimeoutError:
            raise self._failure(
                f"{method} took longer than {seconds:g} s, its process was killed"
            ) from None
        except (OSError, EOFError):
            raise self._failure(f"died in {method}") from None
        except json.JSONDecodeError:
            raise self._failure(f"answered {method} with no JSON") from None
        if refused := answer.get("refused"):
            raise GdeError(refused)
        if failed := answer.get("failed"):
            raise self._failure(f"failed in {method}, {failed}")
        return answer["value"]

    def megabytes(self) -> float:
        """Return the memory of the process group; 0 if the system does not give it."""
        pages = 0
        for process in Path("/proc").glob("[0-9]*"):
            # A process may end meanwhile.
            with suppress(OSError):
                if os.getpgid(int(process.name)) == self._process.pid:
                    pages += int((process / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def forget_log(self) -> None:
        """Delete the output so far."""
        self._log.truncate(0)

    def close(self) -> None:
        """Ask the process to end, and make sure that it does."""
        if self._end.alive:
            with suppress(OSError):
                self._stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE)
        self._end()

    def _line(self, seconds: float) -> bytes:
        output = self._stdout.fileno()
        until = monotonic() + seconds
        ready = select.poll()
        ready.register(output, select.POLLIN)
        while b"\n" not in self._unread:
            seconds_left = max(0.0, until - monotonic())
            if not ready.poll(seconds_left * 1000):
                raise TimeoutError
            chunk = os.read(output, CHUNK)
            if not chunk:
                raise EOFError
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _failure(self, what: str) -> SimulatorFailed:
        """End the process and return an error with the reason."""
        # A process that is dying by itself tells by which signal if it gets a moment.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        code = self._process.poll()
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LAST_WORDS))
        lines = self._log.read().decode(errors="replace").strip().split("\n")
        self._end()

        message = f"the simulator {self._name} {what}"
        if code is not None and code >= 0:
            message += f" with exit code {code}"
        elif code is not None:
            message += f" of {signal.Signals(-code).name}"
        if lines[-1]:
            message += f"; it said last: {lines[-1].strip()}"
        return SimulatorFailed(message)


def _end(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Kill the group, reap the process and close its files."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, log):
        with suppress(OSError):
            if stream is not None:
                stream.close()
