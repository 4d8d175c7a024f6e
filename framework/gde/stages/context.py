"""What the parts of a run are made with, and what they share."""

from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from gde.errors import GdeError
from gde.parts.language_model import LanguageModel
from gde.parts.metric import Metric
from gde.parts.probe import Readout
from gde.request.catalogue import Catalogue
from gde.request.lookup import Chosen
from gde.request.metric_names import find_metric
from gde.request.model_names import find_model
from gde.request.resolve import Ready
from gde.request.secrets import NOTED, Secrets
from gde.request.settings import build, dump
from gde.seeding import derive
from gde.stages.budget import budget_of
from gde.stages.models import Models, Scope
from gde.stages.reuse import Reuse
from gde.store.journal import Journal
from gde.store.probes import read_readout


class Resources:
    """What all parts of a run share in one process: its models, its journal and a folder for scratch."""

    def __init__(
        self,
        parts: Ready | Catalogue,
        journal: Journal | None = None,
        probes: Path | None = None,
        workers: int = 1,
        keys_to: Collection[str] | None = None,
    ) -> None:
        """Take the parts of a plan, or for what belongs to no plan all that is offered.

        Without a journal, what models answer is not kept; `probes` is where fitted ones are; `workers` is how many
        processes share the budget, and `keys_to` as in `gde.request.secrets.Secrets`.
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
        self.models = Models(self._make_model, journal, budget_of(plan, journal, workers) if plan else None, reuse)
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
        entry = find_metric(name, self.catalogue)
        known = next((each for each in chosen if each.entry is entry), None)
        config, label = build(entry.offer.config, {}, name), entry.offer.name
        return known or Chosen(kind="metric", name=label, label=label, entry=entry, config=config)

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

    def __init__(self, resources: Resources, kind: str, label: str, scope: Scope | None) -> None:
        self._resources, self._kind, self._label = resources, kind, label
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
        return self._scope.model(name)

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
