"""What the parts of a run are made with, and what they share."""

from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from gde.data.observation import Task, World
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.errors import GdeError
from gde.offers import Facet
from gde.parts.agent import Agent, Brief
from gde.parts.context import Through
from gde.parts.environment import Environment
from gde.parts.language_model import LanguageModel
from gde.parts.metric import Metric
from gde.parts.probe import Readout
from gde.parts.reward_model import RewardModel
from gde.request.catalogue import Catalogue
from gde.request.names import find_model
from gde.request.resolve import Chosen, Finder, Ready
from gde.request.secrets import NOTED, Secrets
from gde.request.settings import build, dump
from gde.seeding import derive
from gde.stages.asking import Scope
from gde.stages.budget import Budget, Left
from gde.stages.models import Models
from gde.stages.reuse import Reuse
from gde.store.journal import Journal
from gde.store.probes import read_readout

WORLD_FACETS = frozenset({Facet.MDP, Facet.OPTIMUM, Facet.DEMONSTRATION, Facet.SNAPSHOT})
"""An agent that needs one of these is given the environment itself."""


class Resources:
    """What all parts of a run share in one process: its models, its journal and a folder for scratch."""

    def __init__(
        self,
        parts: Ready | Catalogue,
        journal: Journal | None = None,
        probes: Path | None = None,
        left: Left | None = None,
        keys_to: Collection[str] | None = None,
    ) -> None:
        """Take the parts of a plan, or for what belongs to no plan all that is offered.

        Without a journal, what models answer is not kept; `probes` is where fitted ones are; `left` is the share
        of one of several processes in the budget, and `keys_to` as in `gde.request.secrets.Secrets`.
        """
        self.ready = parts if isinstance(parts, Ready) else None
        self.catalogue = parts if isinstance(parts, Catalogue) else parts.catalogue
        self.journal, self.probes = journal, probes
        self.secrets = Secrets(keys_to)
        if journal is not None:
            journal.secrets = self.secrets
        plan = self.ready.plan if self.ready else None
        # A plan from a folder, which anyone may have written, names no files here.
        reuse = Reuse(Path(plan.cache)) if plan and plan.cache and keys_to is None else Reuse()
        self.models = Models(self._make_model, journal, Budget(plan, journal, left), reuse)
        self._metrics: dict[str, Metric] = {}

    def context(self, kind: str, label: str, scope: Scope | None = None) -> "RunContext":
        """What a part is made with; agents ask models within the scope of their episode."""
        return RunContext(self, kind, label, scope)

    def make(self, part: Chosen, scope: Scope | None = None) -> Any:
        """A new part."""
        return part.make(self.context(part.kind, part.label, scope))

    @cached_property
    def scratch(self) -> Path:
        """Gone when the resources are closed."""
        return Path(mkdtemp(prefix="gde-"))

    def find_metric(self, name: str) -> Chosen:
        """Of the run's own metrics the one that is called so, else one with its defaults."""
        chosen = self.ready.metrics if self.ready else ()
        own = next((each for each in chosen if each.label == name), None)
        if own is not None:
            return own
        entry = self.catalogue.find_metric(name)
        known = next((each for each in chosen if each.entry is entry), None)
        config, label = build(entry.offer.config, {}, name), entry.offer.name
        return known or Chosen(kind="metric", name=label, label=label, entry=entry, config=config)

    def find_reward_model(self, name: str) -> Chosen:
        """Of the run's own reward models the one that is called so, else one with its defaults."""
        named = self.ready.judges.get(name) if self.ready else None
        own = self.ready.rewards if self.ready else ()
        look = Finder(self.catalogue)
        return named or next((each for each in own if each.label == name), None) or look.judge(name)

    def metric(self, chosen: Chosen) -> Metric:
        """A metric, made once: it keeps nothing from one evidence to the next."""
        if chosen.label not in self._metrics:
            self._metrics[chosen.label] = self.make(chosen)
        return self._metrics[chosen.label]

    def close(self) -> None:
        """Release models and scratch."""
        self.models.close()
        if "scratch" in self.__dict__:
            rmtree(self.scratch, ignore_errors=True)
            del self.__dict__["scratch"]

    def _make_model(self, name: str) -> LanguageModel:
        chosen = self.ready.models.get(name) if self.ready else None
        if chosen is None:
            entry, config = find_model(name, self.catalogue, {}, f"model {name!r}")
            chosen = Chosen(kind="language_model", name=name, label=name, entry=entry, config=config)
        model: LanguageModel = self.make(chosen)
        self.models.configs[name] = dump(chosen.config)
        return model


class RunContext:
    """Implements `gde.parts.context.Context` for one part of a run."""

    def __init__(
        self, resources: Resources, kind: str, label: str, scope: Scope | None, through: Through | None = None
    ) -> None:
        self._resources, self._kind, self._label, self._through = resources, kind, label, through
        self._find_scope: Callable[[], Scope] = lambda: scope or resources.models.scope(f"{kind} {label}")

    @property
    def seed(self) -> int:
        ready = self._resources.ready
        return derive(ready.plan.seed if ready else 0, "part", self._kind, self._label)

    @cached_property
    def scratch(self) -> Path:
        safe = "".join(each if each.isalnum() or each in "-_" else "-" for each in self._label)
        path = self._resources.scratch / f"{self._kind}-{safe}"
        path.mkdir(exist_ok=True)
        return path

    @cached_property
    def _scope(self) -> Scope:
        return self._find_scope()

    def model(self, name: str) -> LanguageModel:
        model = self._scope.model(name)
        return self._through(model) if self._through else model

    def reward_model(self, name: str) -> RewardModel:
        """Of the run's own reward models the one that is called so, else one with its defaults."""
        chosen = self._resources.find_reward_model(name)
        if chosen.label == self._label and self._kind == "reward_model":
            raise GdeError(f"reward model {name!r} asks for itself")
        made: RewardModel = self._resources.make(chosen, self._scope)
        return made

    def secret(self, variable: str, url: str) -> str:
        secret, journal = self._resources.secrets.give(variable, url), self._resources.journal
        if secret and journal is not None:
            journal.add_note(NOTED, {variable: ""})
        return secret

    def metric(self, name: str) -> Metric:
        """Of the run's own metrics the one that is called so, else one with its defaults."""
        chosen = self._resources.find_metric(name)
        if chosen.label == self._label and self._kind == "metric":
            raise GdeError(f"metric {name!r} asks for itself")
        return self._resources.metric(chosen)

    def readout(self, probe: str, arm: str) -> Readout:
        resources = self._resources
        probes = resources.ready.probes if resources.ready else ()
        chosen = next((each for each in probes if each.label == probe), None)
        if chosen is None or resources.probes is None or resources.journal is None:
            known = ", ".join(each.label for each in probes) or "none"
            raise GdeError(f"readout of probe {probe!r}: wanted a probe of this run, which has {known}")
        variant, arrays = read_readout(resources.journal, resources.probes, probe, arm)
        made: Readout = resources.make(chosen).load(variant, arrays)
        return made

    def agent(self, trajectory: Trajectory, through: Through) -> Agent:
        ready, resources = self._resources.ready, self._resources
        if ready is None or ready.agent.absent:
            raise GdeError(f"episode {trajectory.key}: {ready.agent.absent if ready else 'there is no run'}")
        key, chosen = trajectory.key, ready.agent
        if (WORLD_FACETS | {Facet.SIMULATOR}) & chosen.needs:
            raise GdeError(f"agent {chosen.label!r} is given its world, so it cannot be shown turns again")
        agent: Agent = chosen.make(RunContext(resources, chosen.kind, chosen.label, self._scope, through))
        task = _task(resources.make(ready.strata[key.stratum].environment), trajectory)
        agent.begin(Brief(task=task, seed=agent_seed(ready.plan.seed, key)))
        return agent


def agent_seed(root: int, key: EpisodeKey) -> int:
    """Of the agent in an episode of the run with this root seed."""
    return derive(root, "agent", key.stratum, key.world, key.repeat)


def check_world(known: str, world: World) -> None:
    """A world that is made again must be the one of the record.

    Raises:
        GdeError: it is another.
    """
    if world.id != known:
        raise GdeError(f"the world is no longer what it was: the record has {known}, the environment {world.id}")


def _task(environment: Environment, trajectory: Trajectory) -> Task:
    """Of the episode; closes the environment."""
    try:
        environment.reset(trajectory.seed)
        check_world(trajectory.world.id, environment.world())
        return environment.task()
    finally:
        environment.close()
