"""A model of the run in a worker process, which has nothing of the run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from gde.request.ready import Ready
from gde.request.versions import Versions, check_worker, versions
from gde.stages.context import Resources
from gde.stages.models import Models, check_identity


class Work(Protocol):
    """What a worker does with a model, piece by piece."""

    def close(self) -> None:
        """Release what it holds beside the model."""


WorkT = TypeVar("WorkT", bound=Work)


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """Makes a model wherever an executor works. It can be pickled."""

    ready: Ready
    name: str
    """Of the model."""
    identity: Mapping[str, str]
    """The versions of the model that answered."""
    versions: Versions
    """What the run has, of that which makes the model's answers and activations."""
    token: str
    """Tells one work from any other."""

    def work(self, begin: Callable[[Models], WorkT]) -> WorkT:
        """Begin the work of this process, or give what was begun for an earlier piece.

        Raises:
            GdeError: the model or its software is another one here.
        """
        if self.token not in _here:
            for another in [*_here]:
                resources, work = _here.pop(another)
                work.close()
                resources.close()
            check_worker(self.versions, versions((self.ready.models[self.name],)))
            resources = Resources(self.ready)
            info = resources.models.get(self.name).info
            check_identity(self.name, self.identity, info)
            _here[self.token] = resources, begin(resources.models)
        begun: WorkT = _here[self.token][1]
        return begun


_here: dict[str, tuple[Resources, Any]] = {}
"""The work of this process, which does one at a time."""
