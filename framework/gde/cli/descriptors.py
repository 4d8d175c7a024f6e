"""File descriptors of standard streams, for child processes and native code.

They bypass `sys.stdout`.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def hold_standard() -> None:
    """Open closed standard streams on the null device.

    Otherwise the next opened file, whichever it is, would receive their output.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # has the lowest number that is free
            if getattr(sys, name) is None:
                setattr(
                    sys,
                    name,
                    os.fdopen(
                        descriptor,
                        "w" if descriptor else "r",
                        errors="replace",
                        closefd=False,
                    ),
                )


@contextmanager
def output_to_errors() -> Iterator[None]:
    """Redirect standard output to standard error inside the context.

    Nothing changes if one of them is closed.
    """
    _flush()
    try:
        os.fstat(2)
        kept = os.dup(1)
    except OSError:
        yield
        return

    os.dup2(2, 1)
    try:
        yield
    finally:
        _flush()  # what was written in the meantime, and is still to go where it belongs
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    for stream in (sys.stdout, sys.__stdout__):
        with suppress(
            AttributeError, OSError, ValueError
        ):  # there is none, or it is closed
            stream.flush()  # type: ignore[union-attr]
