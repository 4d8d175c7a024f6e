"""Signals, and threads that a part leaves behind, and how the command ends."""

import subprocess
import sys
import time
from threading import Event, Thread

import pytest

from gde.cli import ending

LEFT = """
import sys, threading, time
from gde.cli import ending, main
ending.PATIENCE = 0.2
threading.Thread(target=time.sleep, args=(90,), name="of-a-part").start()
sys.argv = ["gde", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize(("argument", "code"), [("--version", 0), ("--nosuch", 2)])
def test_the_process_ends_with_its_own_code_after_all_is_said(
    argument: str, code: int
) -> None:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", LEFT, argument],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout.startswith("gde ")) == (code, code == 0)
    assert (
        "not waiting any longer for a thread that a part has left: of-a-part"
        in done.stderr
    )
    assert time.monotonic() - began < 60


CANCELLED = """
import asyncio, os, signal, sys
from importlib import import_module
main = import_module("gde.cli.main")
async def work():
    try:
        os.kill(os.getpid(), SENT)
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cancelled", file=sys.stderr)
        raise
signal.signal(signal.SIGINT, signal.SIG_IGN)
main.build_app = lambda: lambda *_, **__: asyncio.run(work())
main.main()
"""


@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_cancels_what_a_loop_awaits(sent: str) -> None:
    """An exception at any place of the loop's own code could lose a wakeup. Background
    jobs of a script have SIGINT ignored.
    """
    code = CANCELLED.replace("SENT", f"signal.{sent}")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, "cancelled\n")


def test_a_program_that_goes_on_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "PATIENCE", 0.0)
    monkeypatch.setattr(ending, "leave", lambda _: pytest.fail("the caller was ended"))
    stop = Event()
    other = Thread(target=stop.wait)
    other.start()
    ending._watch(3)
    stop.set()
    other.join()
