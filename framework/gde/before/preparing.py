"""A plan found out to be possible: its parts fit, and those that may fail are made."""

from contextlib import closing
from dataclasses import dataclass

from gde.before.estimating import check_budget, count, estimates
from gde.data.estimate import Estimate
from gde.data.how import How
from gde.data.plan import Choice, Plan
from gde.errors import GdeError, MissingExtra, UnknownName
from gde.parts.executor import WorksElsewhere
from gde.parts.metric import FitsModel
from gde.request.catalogue import Catalogue
from gde.request.check import check_alone, check_parts
from gde.request.finding import settable
from gde.request.howfile import read_settings
from gde.request.kinds import MODEL
from gde.request.ready import Alone, Ready
from gde.request.resolve import resolve, resolve_alone
from gde.stages.context import Resources
from gde.stages.models import Models
from gde.stages.replaying import check_weights
from gde.stages.rollout import list_worlds


def prepare(
    plan: Plan, catalogue: Catalogue | None = None, how: How | None = None
) -> Ready:
    """Find the parts of a plan and check that they fit together.

    Args:
        plan: of the run.
        catalogue: the parts that are offered.
        how: the run is done; None for the user's settings.

    Raises:
        GdeError: anything about the plan that can be refused before it runs.
    """
    how = how or read_settings().how
    ready = resolve(plan, catalogue or Catalogue.default(), how)
    check_parts(ready)
    return ready


def prepare_alone(kind: str, choice: Choice, how: How | None = None) -> Alone:
    """Find a part that is used outside of runs, and check that it can be.

    Args:
        kind: of the part.
        choice: of the part.
        how: its models are asked; None for the user's settings.

    Raises:
        GdeError: it cannot be made here, or needs something of a run.
    """
    how = how or read_settings().how
    alone = resolve_alone(kind, choice, Catalogue.default(), how)
    check_alone(alone)
    return alone


def prepare_new(
    plan: Plan, catalogue: Catalogue | None = None, how: How | None = None
) -> Ready:
    """Prepare a plan for a new run: as `prepare`, which knows no typing errors in `how`.

    Raises:
        GdeError: as `prepare`.
        UnknownName: `how` sets a part that the run does not have.
    """
    ready = prepare(plan, catalogue, how)
    if how is None:
        return ready
    known = {part.whose for part in ready.parts}
    if ready.agent_model:
        known.add(MODEL.table)
    # A user's settings are for all runs, and so for parts of others.
    asked = how.settings.keys() - read_settings().how.settings.keys()
    UnknownName.check("part of How.settings", sorted(asked), known)
    return ready


@dataclass(frozen=True, kw_only=True)
class Dry:
    """The size of a plan that was not run."""

    plan: Plan
    """The plan with every configuration complete."""
    episodes: int
    conditions: int
    estimates: tuple[Estimate, ...]
    """What each part would ask of language models."""


def dry(
    plan: Plan,
    catalogue: Catalogue | None = None,
    how: How | None = None,
    name: str = "run",
) -> Dry:
    """Find out everything about a run that can be known without running it.

    Args:
        plan: of the run.
        catalogue: the parts that are offered.
        how: of the run; None for the user's settings.
        name: of the plan, in the estimates.

    Raises:
        GdeError: the plan is refused.
    """
    ready = prepare(plan, catalogue, how)
    asked = count(ready)
    return Dry(
        plan=ready.plan,
        episodes=asked.episodes,
        conditions=len(ready.conditions),
        estimates=tuple(estimates(name, ready, asked)),
    )


def warm(ready: Ready) -> None:
    """Make the parts that may fail, before anything is written."""
    check_budget(ready)
    with closing(Resources(ready)) as resources:
        resources.models.reuse.open()
        executor = resources.make(ready.executor)
        if isinstance(executor, WorksElsewhere):
            executor.check(ready)
        list_worlds(ready, resources)
        for chosen in ready.rewards:
            resources.make(chosen)
        _warm_judges(ready, resources)
        probes = [(chosen, resources.make(chosen)) for chosen in ready.probes]
        own = ready.agent_model
        answering = resources.models.get(own).info if own else None
        for chosen, probe in probes:
            if name := ready.read_model(chosen):
                info = resources.models.get(name).info
                if answering:
                    check_weights(f"{chosen.label}.weights", info, answering)
                probe.capture(info)
        check_models(ready, resources.models)


def check_models(ready: Ready, models: Models) -> None:
    """Refuse metrics that would read what their language model does not give.

    Raises:
        GdeError: a layer or a place of it that is not there.
    """
    for chosen in ready.metrics:
        if isinstance(chosen.config, FitsModel):
            name = ready.read_model(chosen)
            info = models.get(name).info if name else None
            # Without activations the metric says so itself.
            if info and info.n_layers:
                chosen.config.check_model(info)


def _warm_judges(ready: Ready, resources: Resources) -> None:
    for name, chosen in ready.judges.items():
        if chosen in ready.rewards:
            continue
        try:
            resources.make(chosen)
        except MissingExtra:
            raise
        except GdeError as error:
            raise settable(error, name) from error
