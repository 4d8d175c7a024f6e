"""Configurations of the executors."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from gde.data.ranges import Count


@dataclass(frozen=True)
class ProcessesConfig:
    """Configuration of the executor `processes`."""

    workers: Count = 2
    """The number of processes. Each loads its own language model and uses its share of
    the cores.
    """


@dataclass(frozen=True, kw_only=True)
class RayConfig:
    """Configuration of the executor `ray`."""

    workers: Count = 2
    """Number of concurrent tasks; each loads the language model."""
    address: str = ""
    """Running cluster, as HOST:PORT, or auto for this machine's; empty to start one on
    this machine for the run.
    """
    cpus: Count | None = None
    """Cores per worker; none for an equal share of this machine's cores."""
    gpus: Annotated[float, Ge(0)] = 0.0
    """GPUs per worker; may be a fraction."""
