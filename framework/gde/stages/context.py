"""The shared resources of a run, and the context of each of its parts."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from gde.data.measure import Measures
from gde.data.observation import Task, World
from gde.data.plan import Choice
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.errors import GdeError
from gde.offers import Capability
from gde.parts.agent import Agent, Brief
from gde.parts.context import Through
from gde.parts.environment import Environment
from gde.parts.language_model import LanguageModel
from gde.parts.metric import Declared, Metric
from gde.parts.probe import Readout
from gde.parts.reward_model import RewardSource
from gde.request.catalogue import FRAMEWORK, Catalogue
from gde.request.finding import DEFAULT_HOW, Finder
from gde.request.models import find_model
from gde.request.ready import Alone, Chosen, Ready, unmade
from gde.request.secrets import NOTED, Secrets
from gde.request.settings import build, dump_what
from gde.request.versions import made_by
from gde.seeding import derive
from gde.stages.asking import Scope
from gde.stages.beginning import begin
from gde.stages.budget import Budget, Left
from gde.stages.isolation import Isolated, isolated
from gde.stages.models import Models
from gde.stages.reuse import Reuse
from gde.stages.rewarding import Shown
from gde.store.journal import Journal
from gde.store.probes import read_readout

WORLD_CAPABILITIES = frozenset(
    {Capability.MDP, Capability.OPTIMUM, Capability.DEMONSTRATION, Capability.SNAPSHOT}
)
"""Capabilities that only an agent with access to the environment itself can use."""


class Resources:
    """The resources of a run in one process: models, journal, secrets, scratch."""

    def __init__(
        self,
        parts: Ready | Alone | Catalogue,
        journal: Journal | None = None,
        probes: Path | None = None,
        left: Left | None = None,
    ) -> None:
        """Take the parts of a plan, a part alone, or all that there are.

        Args:
            parts: of a plan, outside of any, or all that plugins offer.
            journal: of the run; without one, no answer of a model is kept.
            probes: folder of the fitted probes.
            left: the share of one of several processes in the budget.
        """
        self.ready = parts if isinstance(parts, Ready) else None
        named = None if isinstance(parts, Catalogue) else parts
        self.catalogue = parts if isinstance(parts, Catalogue) else parts.catalogue
        self._named_models = named.models if named else {}
        self._named_judges = named.judges if named else {}
        self.journal = journal
        self.probes = probes
        self.secrets = Secrets()
        if journal is not None:
            journal.secrets = self.secrets

        how = named.how if named else DEFAULT_HOW
        reuse = Reuse(Path(how.cache) if how.cache else None)
        budget = Budget(how, journal, left)
        self.models = Models(self._make_model, journal, budget, reuse)
        self._metrics: dict[str, Declared] = {}
        self._reward_scopes: dict[str, Scope] = {}
        self._processes: dict[str, Isolated | None] = {}

    def context(
        self, kind: str, label: str, scope: Scope | None = None
    ) -> "RunContext":
        """The context of a part; an agent asks models in the scope of its episode."""
        return RunContext(self, kind, label, scope)

    def make(self, part: Chosen, scope: Scope | None = None) -> Any:
        """Make a new part.

        Raises:
            GdeError: it cannot be made.
        """
        context = self.context(part.kind, part.label, scope)
        return part.make(context)

    @cached_property
    def scratch(self) -> Path:
        """A folder that is deleted when the resources are closed."""
        return Path(mkdtemp(prefix="gde-"))

    def find_metric(self, name: str) -> Chosen:
        """The run's metric of this label or offer, else the offer with its defaults.

        Raises:
            UnknownName: there is no such metric.
        """
        chosen = self.ready.metrics if self.ready else ()
        for each in chosen:
            if each.label == name:
                return each

        entry = self.catalogue.find_metric(name)
        for each in chosen:
            if each.entry is entry:
                return each

        config = build(entry.offer.config, {}, name)
        choice = Choice(name=entry.offer.name)
        return self._beyond(
            Chosen(kind="metric", choice=choice, entry=entry, config=config)
        )

    def find_reward_model(self, name: str) -> Chosen:
        """The run's reward model of this name, else the offer with its defaults.

        Raises:
            UnknownName: there is no such reward model.
        """
        if name in self._named_judges:
            return self._named_judges[name]
        for each in self.ready.rewards if self.ready else ():
            if each.label == name:
                return each
        return self._beyond(Finder(self.catalogue).judge(name))

    def _beyond(self, part: Chosen) -> Chosen:
        """A part that no plan names, which an untrusted plan cannot have made either."""
        is_free = self.ready is None or self.ready.is_trusted
        return part if is_free else unmade(part)

    def shown(self, chosen: Chosen, scope: Scope | None = None) -> Shown:
        """A new reward model, with what it is shown of an episode.

        Outside of episodes, the reward models of one offer ask in one scope: what two of
        them ask alike is asked once.
        """
        name = chosen.entry.offer.name
        if scope is None and name not in self._reward_scopes:
            self._reward_scopes[name] = self.models.scope(f"{chosen.kind} {name}")
        model = self._isolated(chosen) or self.make(
            chosen, scope or self._reward_scopes[name]
        )
        could_cheat = _is_foreign(chosen) and not isinstance(model, Isolated)
        return Shown(chosen.label, model, chosen.needs, could_cheat)

    def _isolated(self, chosen: Chosen) -> Isolated | None:
        """The process of a reward model of others; None where it has none."""
        if not _is_foreign(chosen):
            return None
        if chosen.label not in self._processes:
            seed = self.context(chosen.kind, chosen.label).seed
            self._processes[chosen.label] = isolated(chosen, seed, self.scratch)
        return self._processes[chosen.label]

    def metric_of(self, chosen: Chosen) -> Declared:
        """The metric, made once per process: it keeps nothing between two evidences."""
        if chosen.label not in self._metrics:
            self._metrics[chosen.label] = Declared(
                self.make(chosen),
                Measures(chosen.entry.metric.measures),
                made_by(self.ready.environment, chosen) if self.ready else "",
            )
        return self._metrics[chosen.label]

    def close(self) -> None:
        """Release the models, end the processes and delete the scratch folder."""
        self.models.close()
        for process in self._processes.values():
            if process is not None:
                process.close()
        if "scratch" in self.__dict__:
            rmtree(self.scratch, ignore_errors=True)
            del self.__dict__["scratch"]

    def _make_model(self, name: str) -> LanguageModel:
        chosen = self._named_models.get(name)
        if chosen is None:
            choice = Choice(name=name)
            entry, config = find_model(choice, self.catalogue, f"model {name!r}")
            chosen = self._beyond(
                Chosen(kind="language_model", choice=choice, entry=entry, config=config)
            )
        model: LanguageModel = self.make(chosen)
        self.models.configs[name] = dump_what(chosen.config)
        return model


@dataclass(eq=False)
class RunContext:
    """Implements `gde.parts.context.Context` for one part of a run."""

    _resources: Resources
    _kind: str
    _label: str
    _given_scope: Scope | None
    _through: Through | None = None

    @property
    def seed(self) -> int:
        ready = self._resources.ready
        return derive(ready.plan.seed if ready else 0, "part", self._kind, self._label)

    @cached_property
    def scratch(self) -> Path:
        safe = "".join(
            each if each.isalnum() or each in "-_" else "-" for each in self._label
        )
        path = self._resources.scratch / f"{self._kind}-{safe}"
        path.mkdir(exist_ok=True)
        return path

    @cached_property
    def _scope(self) -> Scope:
        # Found only when it is needed, because that reads the journal.
        return self._given_scope or self._resources.models.scope(
            f"{self._kind} {self._label}"
        )

    def model(self, name: str) -> LanguageModel:
        model = self._scope.model(name)
        return self._through(model) if self._through else model

    def reward_model(self, name: str) -> RewardSource:
        """The run's reward model of this name, else the offer with its defaults."""
        chosen = self._resources.find_reward_model(name)
        if chosen.label == self._label and self._kind == "reward_model":
            raise GdeError(f"reward model {name!r} asks for itself")
        return self._resources.shown(chosen, self._scope)

    def secret(self, variable: str) -> str:
        secret = self._resources.secrets.give(variable)
        journal = self._resources.journal
        if secret and journal is not None:
            journal.add_note(NOTED, {variable: ""})
        return secret

    def metric(self, name: str) -> Metric:
        """The run's metric of this name, else the offer with its defaults."""
        chosen = self._resources.find_metric(name)
        if chosen.label == self._label and self._kind == "metric":
            raise GdeError(f"metric {name!r} asks for itself")
        return self._resources.metric_of(chosen)

    def readout(self, probe: str, fit: str) -> Readout:
        resources = self._resources
        probes = resources.ready.probes if resources.ready else ()
        by_label = {each.label: each for each in probes}
        chosen = by_label.get(probe)
        if chosen is None or resources.probes is None or resources.journal is None:
            known = ", ".join(by_label) or "none"
            raise GdeError(
                f"readout of probe {probe!r}: wanted a probe of this run, which has {known}"
            )
        variant, arrays = read_readout(resources.journal, resources.probes, probe, fit)
        made: Readout = resources.make(chosen).load(variant, arrays)
        return made

    def agent(self, trajectory: Trajectory, through: Through) -> Agent:
        resources = self._resources
        ready = resources.ready
        key = trajectory.key
        if ready is None:
            raise GdeError(f"episode {key}: there is no run")
        chosen = ready.agent
        if (WORLD_CAPABILITIES | {Capability.SIMULATOR}) & chosen.needs:
            raise GdeError(
                f"agent {chosen.label!r} is given its world, so it cannot be shown turns again"
            )
        context = RunContext(resources, chosen.kind, chosen.label, self._scope, through)
        agent: Agent = chosen.make(context)
        condition = ready.conditions[key.condition]
        environment = resources.make(condition.environment)
        task = _task(environment, trajectory, condition.goal_moved)
        agent.begin(Brief(task=task, seed=agent_seed(ready.plan.seed, key)))
        return agent


def _is_foreign(chosen: Chosen) -> bool:
    """Whether a part is not gde's own."""
    return chosen.entry.distribution != FRAMEWORK


def agent_seed(root: int, key: EpisodeKey) -> int:
    """The seed of the agent in an episode of the run with this root seed."""
    return derive(root, "agent", key.condition, key.world, key.repeat)


def check_world(known: str, world: World) -> None:
    """Check that a world that is made again is the one of the record.

    Raises:
        GdeError: it is another world.
    """
    if world.id != known:
        raise GdeError(
            f"the world has changed: the record has {known}, the environment makes {world.id}"
        )


def _task(environment: Environment, trajectory: Trajectory, goal_moved: bool) -> Task:
    """The task of the episode, from an environment that is then closed."""
    try:
        begun = begin(environment, trajectory.seed, goal_moved)
        check_world(trajectory.world.id, begun.world)
        return environment.task()
    finally:
        environment.close()
