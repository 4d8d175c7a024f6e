"""SIGTERM, SIGHUP and SIGINT at random moments of `gde eval`, which end it soon and
leave a run that can go on.

GDE_SIGNALS says how often and GDE_SEED at which moments. A command is a child of a
server that has imported everything, so that signals hit the work.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest
from fake_servers import MODEL, Body, Reply, plain, serving
from killing import SERVER, command

from gde import resume

SIGNALS, SEED = int(os.environ.get("GDE_SIGNALS", 8)), os.environ.get("GDE_SEED", "0")
LONGEST = 60.0
"""Seconds after which a command hangs; it takes one on a quiet machine."""
GRID = ("--env", "grid", "--set", "env.size=5", "--metric", "success", "--quiet")
pytestmark = [pytest.mark.extended, pytest.mark.timeout(0)]


@dataclass
class Command:
    """`gde eval` in a process of its own."""

    out: Path
    options: tuple[str, ...]

    def __post_init__(self) -> None:
        arguments = ("eval", *GRID, *self.options, "--out", str(self.out))
        self.errors = self.out.with_suffix(".err")
        self.process = SERVER.Process(target=command, args=(arguments, self.errors))
        self.process.start()

    def end(self, seconds: float) -> int | None:
        """Wait for its exit code; None if it hangs."""
        self.process.join(seconds)
        code = self.process.exitcode
        self.process.kill()
        return code


@dataclass
class Found:
    """What became of the commands."""

    codes: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)


@pytest.fixture
def found(request: pytest.FixtureRequest) -> Iterator[Found]:
    found = Found()
    yield found
    longest = max(found.seconds, default=0)
    print(f"{request.node.name}: {dict(found.codes)}, at most {longest:.1f} s")  # noqa: T201


def interrupted(command: Command, rng: random.Random, found: Found) -> None:
    """Send a signal and check how the command ends."""
    sent = rng.choice((signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
    has_begun = command.out.exists()
    began = time.monotonic()
    assert command.process.pid is not None
    with suppress(ProcessLookupError):
        os.kill(command.process.pid, sent)
    code = command.end(LONGEST)
    assert code is not None, f"{sent.name} does not end {command.out}"
    found.codes[code] += 1
    found.seconds.append(time.monotonic() - began)

    if not has_begun:
        # It may not have had its handlers yet.
        assert code in (0, 1, 130, -sent)
        return
    errors = command.errors.read_text()
    assert code in (0, 130), errors
    assert "Traceback" not in errors and "leaked" not in errors, errors
    if code == 130:
        # What had told its result had nothing left to keep.
        kept = "interrupted; finished turns are kept; resume with" in errors
        assert kept or f"ok: {command.out} " in errors, errors


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_signal_ends_a_run(executor: str, tmp_path: Path, found: Found) -> None:
    rng = random.Random(f"{executor} {SEED}")
    options = ("--agent", "random", "--episodes", "200", "--executor", executor)
    # The first command starts the server.
    for name in ("first", "undisturbed"):
        began = time.monotonic()
        assert Command(tmp_path / name, options).end(120) == 0
        seconds = time.monotonic() - began

    for i in range(SIGNALS):
        running = Command(tmp_path / f"run{i}", options)
        time.sleep(rng.uniform(0, seconds))
        interrupted(running, rng, found)
        if running.out.exists():
            assert resume(running.out).status == "ok"


@contextmanager
def silence_after(n: int) -> Iterator[tuple[str, Event, Event]]:
    """A server that gives so many answers and is then silent until it is told to go on:
    its address, whether it is silent, and what lets it go on.
    """
    silent, go_on = Event(), Event()

    def answer(body: Body) -> Reply:
        if len(server.asked) > n:
            silent.set()
            go_on.wait()
        return plain(body)

    with serving(answer) as server:
        try:
            yield server.url, silent, go_on
        finally:
            go_on.set()


def test_a_signal_ends_a_run_that_waits_for_a_server(
    tmp_path: Path, found: Found
) -> None:
    pytest.importorskip("openai", reason="needs the extra openai")
    rng = random.Random(f"waiting {SEED}")
    for i in range(SIGNALS):
        with silence_after(rng.randrange(12)) as (url, silent, go_on):
            model = ("--model", f"openai:{MODEL}@{url}")
            options = ("--agent", "gpt-oss", *model, "--episodes", "12")
            running = Command(tmp_path / f"run{i}", options)
            assert silent.wait(60)
            time.sleep(rng.uniform(0, 0.5))
            interrupted(running, rng, found)
            go_on.set()
            if running.out.exists():
                assert resume(running.out).status == "ok"
