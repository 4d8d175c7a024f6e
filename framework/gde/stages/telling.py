"""What metrics tell of an episode as it ends, by whoever played it."""

from collections.abc import Mapping

from gde.data.mdp import TabularMDP
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.episode_metric import EpisodeMetric, Model, undeclared
from gde.offers import Capability
from gde.request.ready import Chosen, Ready
from gde.request.versions import made_by
from gde.stages.context import Resources
from gde.stages.failing import pass_on
from gde.store.facts import Row, known_sets, to_row
from gde.store.journal import Journal
from gde.store.rows import as_read

Process = TabularMDP | BaseException | None
"""Of a world: None where the environment has none, or what it raised."""


def telling(ready: Ready) -> Mapping[str, Chosen]:
    """The metrics that tell facts of an episode as it ends, by what these are made by."""
    found = {}
    for chosen in ready.metrics:
        made = made_by(ready.environment, chosen)
        if chosen.entry.metric.facts and made and not chosen.absent:
            found[made] = chosen
    return found


def no_process(label: str) -> GdeError:
    """The error of an environment that has no Markov decision process."""
    return GdeError(
        f"environment {label!r} is no Markov decision process that could be tabulated"
    )


class Teller:
    """Asks the metrics of a run for the facts of an episode.

    A metric that fails is passed over: it is asked again when the run is concluded, which
    tells why.
    """

    def __init__(self, ready: Ready, resources: Resources, journal: Journal) -> None:
        self._ready = ready
        self._metrics: dict[int, tuple[EpisodeMetric, bool]] = {}
        """By number of the set of facts; whether it asks for the world's process."""
        sets = known_sets(journal)
        for made, chosen in telling(ready).items():
            try:
                metric = resources.metric_of(chosen).metric
            except BaseException as error:
                pass_on(error)
                continue
            if isinstance(metric, EpisodeMetric) and made in sets:
                asks = chosen.entry.metric.facts == "world"
                self._metrics[sets[made]] = metric, asks

    def wants_process(self, condition: int) -> bool:
        """Whether a metric asks for the process of a world, and the environment has it."""
        offer = self._ready.conditions[condition].environment.entry.offer
        asks = any(asks for _, asks in self._metrics.values())
        return asks and Capability.MDP in offer.gives

    def facts(self, played: Trajectory, process: Process) -> Mapping[int, Row]:
        """The facts of an episode that has not failed, by number of their set.

        Args:
            played: the episode.
            process: of its world as it began.
        """
        found: dict[int, Row] = {}
        if not self._metrics:
            return found
        # As whoever reads the run will see it, so that facts do not depend on when they
        # are asked for.
        one = as_read(played)
        environment = self._ready.conditions[played.key.condition].environment

        def model() -> TabularMDP:
            if process is None:
                raise no_process(environment.label)
            if isinstance(process, BaseException):
                raise process
            return process

        for number, (metric, asks) in self._metrics.items():
            of_world: Model = model if asks else undeclared
            try:
                found[number] = to_row(metric.row(one, of_world))
            except BaseException as error:
                pass_on(error)
        return found
