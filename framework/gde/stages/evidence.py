"""A run folder as evidence: what was recorded, and the models of its worlds."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.observation import World
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.offers import Facet
from gde.parts.environment import Environment
from gde.request.catalogue import Catalogue
from gde.request.resolve import Stratum, cross
from gde.stages.rewarding import read_traces
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.probes import read_reports

Strata = Callable[[], Sequence[Stratum]]


def load_evidence(path: Path, catalogue: Catalogue | None = None) -> Evidence:
    """Everything that a run recorded, for use in one's own code."""
    folder = RunFolder.open(path)
    environment = folder.plan().environment
    with closing(folder.journal()) as journal:
        return gather(folder, journal, lambda: cross(environment, catalogue or Catalogue.default())[0])


def gather(folder: RunFolder, journal: Journal, strata: Strata) -> Evidence:
    """The evidence of a run, from its folder and its open journal."""
    return Evidence(
        trajectories=tuple(journal.trajectories()),
        reward_traces=read_traces(journal),
        probe_reports=read_reports(folder.probes),
        seed=folder.plan().seed,
        model=WorldModels(strata),
    )


def check_world(known: str, world: World) -> None:
    """A world that is made again must be the one of the record.

    Raises:
        GdeError: it is another.
    """
    if world.id != known:
        raise GdeError(f"the world is no longer what it was: the record has {known}, the environment {world.id}")


class WorldModels:
    """Makes the tabular model of a recorded world again, once for all its trajectories."""

    def __init__(self, strata: Strata) -> None:
        """Take the strata of the run, looked up only when a model is asked for."""
        self._find = strata
        self._strata: Sequence[Stratum] | None = None
        self._models: dict[tuple[int, str], TabularMDP] = {}

    def __call__(self, trajectory: Trajectory) -> TabularMDP:
        """The model that the episode began in.

        Raises:
            GdeError: the environment has no model, or no longer makes the world that the record has.
        """
        place = trajectory.key.stratum, trajectory.world.id
        if place not in self._models:
            self._models[place] = self._make(trajectory)
        return self._models[place]

    def _make(self, trajectory: Trajectory) -> TabularMDP:
        if self._strata is None:
            self._strata = self._find()
        chosen = self._strata[trajectory.key.stratum].environment
        if Facet.MODEL not in chosen.entry.offer.gives:
            raise GdeError(f"environment {chosen.name!r} gives no model of its worlds")
        environment: Environment = chosen.make()
        try:
            environment.reset(trajectory.seed)
            check_world(trajectory.world.id, environment.world())
            model: TabularMDP = environment.model()  # type: ignore[attr-defined]  # its offer gives Facet.MODEL
            return model
        finally:
            environment.close()
