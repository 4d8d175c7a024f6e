"""The program of a simulator's process: one JSON line per call and per answer.

The answers go where stdout was; all output of a simulator and its libraries, in any
language, goes to stderr. When the caller has died, the process ends with all its child
processes, even in the middle of an answer.
"""

import json
import os
import signal
from importlib import import_module
from queue import SimpleQueue
from threading import Event, Thread
from typing import IO, Any

from gde.errors import GdeError


def serve(target: str, settings: str) -> None:
    """Answer calls until there are no more.

    Args:
        target: the simulator's class, as MODULE:NAME.
        settings: its arguments, as a JSON object.
    """
    questions = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    waiting: SimpleQueue[bytes | None] = SimpleQueue()
    busy = Event()
    Thread(target=_listen, args=(questions, waiting, busy), daemon=True).start()

    simulator: Any = None
    while (question := waiting.get()) is not None:
        asked = json.loads(question)
        answer: dict[str, Any]
        try:
            # It is made when it is first asked, so that an error of it is an answer.
            if simulator is None:
                module, _, name = target.partition(":")
                simulator = getattr(import_module(module), name)(**json.loads(settings))
            method = getattr(simulator, asked["method"])
            answer = {"value": method(*asked["arguments"])}
        except GdeError as error:
            answer = {"refused": str(error)}
        # A planner exits when it finds nothing.
        except (Exception, SystemExit) as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}

        # Dataclasses are written by their fields.
        line = json.dumps(answer, allow_nan=False, default=vars)
        # The next question may follow the answer at once.
        busy.clear()
        answers.write(line.encode() + b"\n")
        answers.flush()
    if simulator is not None:
        simulator.close()


def _listen(
    questions: IO[bytes], waiting: "SimpleQueue[bytes | None]", busy: Event
) -> None:
    for question in questions:
        busy.set()
        waiting.put(question)
    if busy.is_set():
        # `gde_plugins.text_worlds.hosting.process` gave it a group of its own.
        os.killpg(0, signal.SIGKILL)
    waiting.put(None)
