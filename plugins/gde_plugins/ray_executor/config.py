"""Configuration of the executor `ray`."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge


@dataclass(frozen=True, kw_only=True)
class RayConfig:
    """Configuration of the executor `ray`."""

    workers: Annotated[int, Ge(1)] = 2
    """Tasks at once; each loads the language model for itself."""
    address: str = ""
    """The running cluster, as HOST:PORT, or auto for that of this machine; empty to
    start one on this machine for the run.
    """
    cpus: Annotated[int, Ge(1)] | None = None
    """Cores of each worker; none for its share of this machine's cores."""
    gpus: Annotated[float, Ge(0)] = 0.0
    """Accelerators of each worker."""
