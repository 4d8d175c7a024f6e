"""How often Python looks for cycles of objects that nobody uses any more."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 10_000
"""Objects that have come to be, less those that have gone, between two looks."""


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """While the context lasts, Python looks less often, if at all. With hundreds of episodes under way it would
    walk through all that their requests hold again and again, which takes a third of their time, and find nothing."""
    often, *older = gc.get_threshold()
    gc.set_threshold(often and max(often, SELDOM), *older)
    try:
        yield
    finally:
        gc.set_threshold(often, *older)
