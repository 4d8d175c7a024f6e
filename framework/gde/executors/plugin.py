"""The executors that come with gde."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.executor import Executor


@dataclass(frozen=True)
class ProcessesConfig:
    """Configuration of the executor `processes`."""

    workers: Annotated[int, Ge(1)] = 2
    """The number of processes. Each loads its own language model and uses its share of
    the cores.
    """


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """The bundled executors."""
    return (
        Offer(
            name="serial",
            summary="runs all episodes concurrently in this process",
            config=NoConfig,
            make="gde.executors.serial:Serial",
        ),
        Offer(
            name="processes",
            summary="distributes episodes over worker processes",
            config=ProcessesConfig,
            make=_processes,
        ),
    )


def _processes(config: ProcessesConfig, _: "Context") -> "Executor":
    from gde.executors.processes import Processes

    return Processes(config.workers)
