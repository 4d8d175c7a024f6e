"""How many cores a model computes in."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

SMALL = 20_000_000
"""Parameters up to which a second core costs more than it brings: a product is done
before the other has begun on it, and beside another busy process each waits for the
slower one.
"""


@contextmanager
def fitting_cores(model: Any) -> Iterator[None]:
    """While the context lasts, this thread computes in one core if the model is small
    and on the CPU.
    """
    before = torch.get_num_threads()
    if model.device.type != "cpu" or before == 1 or model.num_parameters() > SMALL:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
