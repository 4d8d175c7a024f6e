"""The worker's side of the executor `processes`."""

import os
import pickle
import signal
import stat
import sys
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.resource_tracker import getfd
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any, NoReturn

from gde.errors import INTERRUPTED, GdeError
from gde_plugins.executors.work import outcome

GRACE = 2.0
"""Seconds that a worker has to end in good order."""

# A worker is a process of its own, so these are about that one worker.
busy = Event()
unwanted = Event()


def begin(wanted: Connection) -> None:
    """Prepare this process for work.

    Args:
        wanted: the reading end of a pipe. Its other end closes when the worker is no
            longer wanted, or when the process that started it dies.
    """
    # Ctrl-C must reach the run alone, which then ends its workers in good order.
    if hasattr(os, "setsid"):
        os.setsid()
    os.dup2(2, 1)
    sys.unraisablehook = _unless_interrupted
    _keep_pipes_here()
    Thread(target=_watch, args=(wanted,), name="gde-watchdog", daemon=True).start()


def work(wanted: bytes) -> bytes:
    """Do a pickled job with its item and give the packed outcome."""
    busy.set()
    try:
        if unwanted.is_set():
            _leave(INTERRUPTED)
        packed = outcome(partial(_done, wanted))
        # Some libraries turn an interrupt into an error of their own.
        if unwanted.is_set():
            _leave(INTERRUPTED)
        return packed
    except KeyboardInterrupt:
        _leave(INTERRUPTED)
    except SystemExit as end:
        _leave(end.code if isinstance(end.code, int) else 1)
    finally:
        busy.clear()


def _done(wanted: bytes) -> Any:
    try:
        job, item = pickle.loads(wanted)
    except Exception as error:
        advice = "define the plan's objects in importable modules"
        raise GdeError(
            f"executor 'processes': a worker cannot load its work ({error}): {advice}"
        ) from error
    return job(item)


def _unless_interrupted(ignored: Any) -> None:
    """Say nothing of an interrupt that foreign code has ignored: `work` then sees to it."""
    if ignored.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(ignored)


def _leave(code: int) -> NoReturn:
    """End the process without waiting for its other threads."""
    sys.stdout.flush()
    os._exit(code)


def _watch(wanted: Connection) -> None:
    with suppress(EOFError, OSError):
        wanted.recv()

    unwanted.set()
    if busy.is_set():
        os.kill(os.getpid(), signal.SIGINT)
    sleep(GRACE)
    os._exit(INTERRUPTED)


def _keep_pipes_here() -> None:
    """Keep this worker's pipes from child processes.

    A child that outlives the worker would hide its death.
    """
    opened = Path("/dev/fd")
    if not opened.is_dir():
        return

    # A fork that uses multiprocessing needs its resource tracker.
    kept = {0, 1, 2, getfd()}
    pipes = []
    for descriptor in [int(each.name) for each in opened.iterdir()]:
        with suppress(OSError):
            if descriptor not in kept and stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                os.set_inheritable(descriptor, False)
                pipes.append(descriptor)

    def close() -> None:
        for descriptor in pipes:
            with suppress(OSError):
                os.close(descriptor)

    os.register_at_fork(after_in_child=close)
