"""The end of the process: at once after an interrupt, else within seconds."""

import os
import sys
import threading
from contextlib import suppress
from time import sleep
from typing import NoReturn

PATIENCE = 10.0
"""Seconds that threads which a part has left behind may take when everything is written
and printed.
"""


def leave(code: int) -> NoReturn:
    """End at once: finished work is kept, and other threads may take minutes."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def be_patient(code: int) -> None:
    """End the process with this code without waiting long for its threads.

    Python itself would wait for every thread.
    """
    threading.Thread(
        target=_watch, args=(code,), name="gde-ending", daemon=True
    ).start()


def _watch(code: int) -> None:
    sleep(PATIENCE)
    left = [
        thread.name
        for thread in threading.enumerate()
        if not thread.daemon and thread.is_alive()
    ]

    # While the main thread is alive, the caller of the command goes on.
    if left and not threading.main_thread().is_alive():
        print(  # noqa: T201
            f"gde: not waiting any longer for a thread that a part has left: {left[0]}",
            file=sys.stderr,
        )
        leave(code)
