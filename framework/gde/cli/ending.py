"""How the process ends: at once where it was interrupted, else within seconds of having said all."""

import os
import sys
import threading
from contextlib import suppress
from time import sleep
from typing import NoReturn

PATIENCE = 10.0
"""Seconds that threads which a part has left behind may still take when everything is written and printed."""


def leave(code: int) -> NoReturn:
    """End at once: what was finished is kept, and what other threads are in the midst of may take minutes."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def be_patient(code: int) -> None:
    """See to it that the process ends with this code, which Python would not do while a thread of anybody goes on."""
    threading.Thread(target=_watch, args=(code,), name="gde-ending", daemon=True).start()


def _watch(code: int) -> None:
    sleep(PATIENCE)
    left = [thread.name for thread in threading.enumerate() if not thread.daemon and thread.is_alive()]
    if left and not threading.main_thread().is_alive():  # else the caller of the command goes on
        print(f"gde: not waiting any longer for a thread that a part has left: {left[0]}", file=sys.stderr)  # noqa: T201
        leave(code)
