"""How a command ends that a test runs in its own process."""

from collections.abc import Callable
from typing import NamedTuple


class Done(NamedTuple):
    """Exit code, data and talk."""

    returncode: int
    stdout: str
    stderr: str


Gde = Callable[..., Done]
