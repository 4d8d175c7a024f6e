"""Sizes of benchmarks: the full ones, or with GDE_BENCH_SMALL=1 the smallest that still
run all of the code.
"""

import os
from typing import TypeVar

SizeT = TypeVar("SizeT")
VARIABLE = "GDE_BENCH_SMALL"


def size(full: SizeT, small: SizeT) -> SizeT:
    """The size to measure at; figures at the small size mean nothing."""
    return small if os.environ.get(VARIABLE) == "1" else full
