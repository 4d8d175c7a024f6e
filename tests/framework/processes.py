"""Processes as Linux lists them, and waiting for what they do."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


def started_by(pid: int) -> Iterator[int]:
    """The processes that one has started, and those that they have."""
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # it has ended
            for child in map(int, thread.read_text().split()):
                yield child
                yield from started_by(child)


def wait_for(condition: Callable[[], Any]) -> Any:
    """What the condition gives, as soon as that is true."""
    deadline = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
