"""What of Ray can be chosen."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge


@dataclass(frozen=True, kw_only=True)
class RayConfig:
    """Configuration of the executor `ray`."""

    workers: Annotated[int, Ge(1)] = 2
    """Tasks at once; each loads the language model for itself."""
    address: str = ""
    """Of a cluster that is running, HOST:PORT, or auto for the one of this machine; empty for one of its own, which is
    started on this machine and ended with the run."""
    cpus: Annotated[int, Ge(1)] | None = None
    """Cores of each worker, in which it computes; none for its share of this machine's."""
    gpus: Annotated[float, Ge(0)] = 0.0
    """Accelerators of each worker."""
