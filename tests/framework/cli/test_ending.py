"""A thread that a part leaves behind does not keep the command from ending."""

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


def test_a_program_that_goes_on_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "PATIENCE", 0.0)
    monkeypatch.setattr(ending, "leave", lambda _: pytest.fail("the caller was ended"))
    stop = Event()
    other = Thread(target=stop.wait)
    other.start()
    ending._watch(3)
    stop.set()
    other.join()
