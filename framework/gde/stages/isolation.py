"""Reward models that are not gde's own, each in a process that is sent data alone.

The process has no run in its memory and begins in an empty folder: neither its objects
and frames nor its working directory lead to the truth. It answers with JSON, so that it
cannot have gde run code either. It still runs as the user, and could search the disk.
"""

import asyncio
import gc
import json
import os
import pickle
import sys
import weakref
from base64 import b64decode, b64encode
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from tempfile import mkdtemp
from threading import Thread
from typing import IO, Any

import cloudpickle
from pydantic import TypeAdapter

from gde.data.reward import Rewards
from gde.data.transcript import Transcript
from gde.errors import GdeError
from gde.offers import Capability
from gde.parts.reward_model import RewardModel, given
from gde.request.ready import Chosen
from gde.stages.failing import reason_of, traceback_of

LARGEST = 2**26
"""Bytes of a reward model that is sent; a larger one has weights, perhaps on a device."""
GRACE = 5
"""Seconds that the process has to end."""


class Isolated:
    """Implements `gde.parts.reward_model.RewardModel` by asking a process."""

    def __init__(self, packed: bytes, scratch: Path) -> None:
        """Have the process make the reward model.

        Raises:
            GdeError: it cannot be made there.
        """
        path = os.pathsep.join(map(os.path.abspath, sys.path))
        home = mkdtemp(dir=scratch)
        self._process = Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=PIPE,
            stdout=PIPE,
            cwd=home,
            env={**os.environ, "PYTHONPATH": path, "PWD": home, "OLDPWD": home},
            # Interrupts of the terminal are for gde, which ends the process.
            start_new_session=True,
        )
        self._numbers = count()
        self._answers: dict[int, Future[dict[str, Any]]] = {}
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            self._ask(b64encode(packed).decode()).result()
        except GdeError:
            self.close()
            raise

    async def rewards(self, transcript: Transcript) -> Rewards:
        """The predicted rewards of one episode, or the reason why there are none.

        Raises:
            GdeError: the reward model has raised, or its process has ended.
        """
        found = await asyncio.wrap_future(self._ask(asdict(transcript)))
        if "error" in found:
            raise GdeError(found["error"]) from RuntimeError(found["traceback"])
        return Rewards(**found)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(GRACE)
        except TimeoutExpired:
            self._process.kill()
        self._listener.join()

    def _ask(self, what: object) -> Future[dict[str, Any]]:
        assert self._process.stdin is not None
        number = next(self._numbers)
        answer = self._answers[number] = Future[dict[str, Any]]()
        # A process that has ended fails below.
        with suppress(OSError):
            self._process.stdin.write(json.dumps([number, what]).encode() + b"\n")
            self._process.stdin.flush()

        # `_listen` may have looked for the last time before.
        if self._process.poll() is not None:
            self._fail(answer)
        return answer

    def _listen(self) -> None:
        assert self._process.stdout is not None
        # A reward model may write anything; one that answers no question is ended.
        with self._process.stdout as lines, suppress(ValueError, KeyError, TypeError):
            for line in lines:
                number, found = json.loads(line)
                answer = self._answers.pop(number)
                # Nobody waits any more for what was cancelled.
                with suppress(InvalidStateError):
                    answer.set_result(found)
        with suppress(TimeoutExpired):
            self._process.wait(GRACE)
        self._process.kill()
        self._process.wait()
        for answer in [*self._answers.values()]:
            self._fail(answer)

    def _fail(self, answer: Future[dict[str, Any]]) -> None:
        code = self._process.returncode
        with suppress(InvalidStateError):
            answer.set_exception(GdeError(f"its process ended with exit code {code}"))


def isolated(chosen: Chosen, seed: int, scratch: Path) -> Isolated | None:
    """A reward model in a process of its own; None where it cannot go there.

    It cannot if it reads the truth, asks language models, keeps its context, which only
    a run has, or cannot be pickled.
    """
    reads_truth = Capability.TRUE_REWARD in chosen.needs
    # A `gde.reward_model(...)` has its own cache and limits, in this process.
    is_ours = type(chosen.choice.part).__module__.startswith("gde.")
    if chosen.absent or reads_truth or is_ours:
        return None
    with suppress(Exception):
        packed = cloudpickle.dumps((chosen.entry.offer, chosen.config, seed))
        if len(packed) <= LARGEST:
            return Isolated(packed, scratch)
    return None


@dataclass
class _Seeded:
    """All of a context that there is without a run."""

    seed: int


def _made(packed: str) -> RewardModel:
    offer, config, seed = pickle.loads(b64decode(packed))
    context = _Seeded(seed)
    kept = weakref.ref(context)
    model: RewardModel = offer.made(config, context)
    del context
    gc.collect()
    if kept() is not None:
        raise GdeError("the reward model keeps its context")
    return model


async def _serve(lines: IO[bytes], answers: IO[bytes]) -> None:
    """Make the reward model of the first line, and answer the others.

    Reward models that wait have several transcripts at once.
    """
    read = TypeAdapter(Transcript).validate_python

    def tell(number: int, found: Mapping[str, Any]) -> None:
        answers.write(json.dumps([number, found], default=dict).encode() + b"\n")
        answers.flush()

    async def judge(line: bytes) -> None:
        number, shown = json.loads(line)
        try:
            rewards = given(await model.rewards(read(shown)))
            tell(number, {**vars(rewards), "values": rewards.values.tolist()})
        except BaseException as error:
            reason, traceback = reason_of(error), traceback_of(error)
            tell(number, {"error": reason, "traceback": traceback})

    number, packed = json.loads(lines.readline())
    model = _made(packed)
    tell(number, {})
    async with asyncio.TaskGroup() as group:
        while line := await asyncio.to_thread(lines.readline):
            group.create_task(judge(line))


def main() -> None:
    """Be the process."""
    # What the reward model prints, or reads, is not between gde and this.
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    try:
        asyncio.run(_serve(lines, answers))
    except Exception:
        # gde then makes the reward model itself, and says what is wrong with it.
        sys.exit(1)


if __name__ == "__main__":
    main()
