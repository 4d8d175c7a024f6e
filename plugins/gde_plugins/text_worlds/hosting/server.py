"""What runs in the simulator's process: one line of JSON is asked, one is answered.

The answers go where stdout was; whatever a simulator and its libraries print goes to
stderr, whatever language they are written in. Where nobody can ask any more, the
process ends with all that it has started, in the midst of an answer too. A question
that takes longer than its deadline ends it from inside (SIGALRM), where not even that
is noticed.
"""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from math import ceil
from queue import SimpleQueue
from threading import Event, Thread
from typing import IO, Any

from gde.errors import GdeError

GRACE = 5
"""Seconds after which a deadline is kept from inside, when nobody has kept it from
outside.
"""


def serve(target: str, settings: str) -> None:
    """Answer until nothing more is asked.

    Args:
        target: the simulator's class, as MODULE:NAME.
        settings: what it is made with, as a JSON object.
    """
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # a path would be opened by its text as well
        questions = os.fdopen(os.dup(0), "rb")
        os.dup2(nothing.fileno(), 0)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    served = _Served(target, json.loads(settings))
    waiting: SimpleQueue[bytes | None] = SimpleQueue()
    busy = Event()
    Thread(target=_listen, args=(questions, waiting, busy), daemon=True).start()
    while (question := waiting.get()) is not None:
        # Dataclasses by their fields.
        answer = (
            json.dumps(
                served.answer(json.loads(question)), allow_nan=False, default=vars
            ).encode()
            + b"\n"
        )
        busy.clear()  # before the answer, which the next question follows
        answers.write(answer)
        answers.flush()
    served.close()


def _listen(
    questions: IO[bytes], waiting: "SimpleQueue[bytes | None]", busy: Event
) -> None:
    for question in questions:
        busy.set()
        waiting.put(question)
    if busy.is_set():
        os.killpg(
            0, signal.SIGKILL
        )  # a group of its own, see `gde_plugins.text_worlds.hosting.process`
    waiting.put(None)


class _Served:
    """A simulator that is made when it is first asked, so that what is wrong with it is
    an answer.
    """

    def __init__(self, target: str, settings: Mapping[str, Any]) -> None:
        self._target = target
        self._settings = settings
        self._simulator: Any = None

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        try:
            with _alarm(ceil(question["seconds"]) + GRACE):
                value = getattr(self._made(), question["method"])(
                    *question["arguments"]
                )
        except GdeError as error:
            return {"refused": str(error)}
        except (
            Exception,
            SystemExit,
        ) as error:  # a planner ends what it takes to be its own program
            return {"failed": f"{type(error).__name__}: {error}"}
        return {"value": value}

    def close(self) -> None:
        if self._simulator is not None:
            self._simulator.close()

    def _made(self) -> Any:
        if self._simulator is None:
            module, _, name = self._target.partition(":")
            self._simulator = getattr(import_module(module), name)(**self._settings)
        return self._simulator


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
