"""The cores that this process may use."""

import os


def cores() -> int:
    """Count them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
