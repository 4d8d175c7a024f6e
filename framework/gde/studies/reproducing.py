"""A published study from its plans to its tables, in one folder.

Each plan has its own run folder.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from errno import ENOTDIR
from functools import partial
from pathlib import Path
from typing import Annotated

from annotated_types import Gt, Le

from gde.before.estimating import count, estimates
from gde.before.preflight import Preflight, unasked
from gde.before.preparing import prepare
from gde.before.spending import Question
from gde.data.estimate import Estimate
from gde.data.how import How
from gde.data.json import Json
from gde.data.plan import NOTHING, Choice, Plan, checked_fields
from gde.data.result import Result
from gde.errors import GdeError, RunFolderError
from gde.files import cannot_make
from gde.parts.reproduction import (
    Agentless,
    Comparison,
    Foresees,
    NamesAgent,
    ProfilesAgent,
    Reproduction,
    Run,
)
from gde.request.catalogue import Catalogue
from gde.request.howfile import read_settings
from gde.request.models import with_model_settings, with_weights
from gde.request.names import split_url
from gde.request.planfile import plan_hash
from gde.request.resolve import resolve
from gde.request.settings import build
from gde.runs.evaluating import evaluate, resume
from gde.stages.context import Resources
from gde.stages.evidence import load_evidence
from gde.stages.progress import Progress, Watch, ignore
from gde.store.folder import RunFolder, free_name
from gde.store.trust import check_trusted
from gde.studies.study import Study

AskFirst = Callable[[Mapping[str, Plan], Catalogue, How], Mapping[str, Preflight]]
AGENT = "gpt-oss"
"""The agent of a study that names no other."""
UNNAMED = Choice(name="")


@checked_fields("Request")
@dataclass(frozen=True, kw_only=True)
class Request:
    """A published study, its size, and the parts of its plans that can be chosen."""

    name: str
    scale: Annotated[float, Gt(0), Le(1)] = 1.0
    """Share of the published size."""
    settings: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Configuration of the study itself."""
    agent: Choice = UNNAMED
    """Without a name, the default agent of the study, with these settings."""
    models: tuple[Choice, ...] = ()
    """Language models with settings; one without a name is the agent's."""
    weights: str = ""
    """Local weights of a served model, by which all probes read its answers."""
    rewards: tuple[Choice, ...] = ()
    """Reward models that are added to every plan that has any."""


def reproduce(
    request: Request,
    out: Path | None = None,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    how: How | None = None,
    ask_first: AskFirst = unasked,
) -> Study:
    """Run the unfinished plans of a study, and compare with the publication.

    Args:
        request: the study and its parts.
        out: folder of its runs; those that it holds are resumed.
        catalogue: the parts that are offered.
        watch: receives the progress.
        how: its runs are done; None for the user's settings.
        ask_first: asks the models of the plans that have not begun, and gives the plans
            as their models need them.

    Raises:
        GdeError: no such study, a plan is refused, the study has no use for something
            in the request, `out` cannot be made, or it holds runs of other plans.
        KeyboardInterrupt: it was interrupted; the same request with the folder as `out`
            resumes it.
    """
    catalogue = catalogue or Catalogue.default()
    how = how or read_settings().how
    study, agent, plans = _planned(request, catalogue)
    folder = out or free_name(request.name)

    # Everything that can be refused is refused before hours of work that could not be
    # kept.
    refused: dict[str, str] = {}
    if isinstance(study, ProfilesAgent):
        allowed = partial(
            _allowed, folder=folder, catalogue=catalogue, how=how, ask=ask_first
        )
        plans, flights, refused = _possible(agent, plans, allowed)
    else:
        plans, flights = _allowed(plans, folder, catalogue, how, ask_first)
    _check_free(folder)

    try:
        runs: dict[str, Run] = {}
        for index, (name, plan) in enumerate(plans.items()):
            watch(Progress("plans", index, len(plans), name))
            path = folder / name
            asked = flights[name].questions if name in flights else ()
            result = _finished(plan, path, catalogue, how, watch, asked)
            evidence = load_evidence(path, catalogue)
            runs[name] = Run(result=result, evidence=evidence)
        if plans:
            watch(Progress("plans", len(plans), len(plans)))
        folder.mkdir(parents=True, exist_ok=True)
        # Some studies compute all their numbers here, without any run.
        watch(Progress("tables", 0, 1))
        rows = []
        for row in study.compare(runs):
            rows.append(row)
            watch(Progress("tables", 0, 1, f"row {len(rows)}"))
        found = _concluded(study, request, folder, runs, rows, refused)
        watch(Progress("tables", 1, 1))
        return found
    except KeyboardInterrupt as interrupt:
        # The folder of the study, not of the run: the user resumes all of them.
        interrupt.__notes__ = [str(folder)]
        raise


def _check_free(folder: Path) -> None:
    """Refuse a file in the place of a folder. The first run makes the folder, so that a
    refused model leaves nothing.
    """
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir():
        error = NotADirectoryError(ENOTDIR, "Not a directory", str(there))
        raise cannot_make(folder, error)


def foresee(request: Request) -> tuple[Estimate, ...]:
    """Estimate what the plans of a study ask of language models; nothing is run.

    Raises:
        GdeError: no such study, or a part of a plan is refused.
    """
    catalogue = Catalogue.default()
    study, _, plans = _planned(request, catalogue)
    # A study may know more of its reward models than can be counted without them, and
    # at once: worlds that are made on demand take long to count.
    known: list[Estimate] = []
    if isinstance(study, Foresees):
        known = [each for each in study.estimate(plans) if each.calls is not None]
    names = {each.plan for each in known}

    counted: list[Estimate] = []
    for name, plan in plans.items():
        if name in names:
            resolve(plan, catalogue)
            continue
        try:
            counted += _foreseen(name, plan, catalogue)
        except GdeError as error:
            if not isinstance(study, ProfilesAgent):
                raise
            counted.append(_nothing(name, 0, str(error)))
    return (*known, *counted)


def _foreseen(name: str, plan: Plan, catalogue: Catalogue) -> list[Estimate]:
    """What the parts of a plan ask.

    Raises:
        GdeError: a part is refused.
    """
    ready = resolve(plan, catalogue)
    asked = count(ready)
    found = [*estimates(name, ready, asked)]
    nobody = _nothing(name, asked.episodes, "no part asks a language model")
    return found or [nobody]


def _nothing(plan: str, episodes: int, note: str) -> Estimate:
    """Nothing is asked, for this reason."""
    return Estimate(plan=plan, part="", episodes=episodes, calls=0, note=note)


def _planned(
    request: Request, catalogue: Catalogue
) -> tuple[Reproduction, Choice, dict[str, Plan]]:
    """The study, its agent and its plans.

    Raises:
        GdeError: no such study, or it has no use for something in the request.
    """
    offer = catalogue.find("reproduction", request.name).offer
    context = Resources(catalogue).context("reproduction", request.name)
    config = build(offer.config, request.settings, "study")
    study: Reproduction = offer.made(config, context)

    agent = request.agent
    if not agent.name:
        own = study.agent if isinstance(study, NamesAgent) else AGENT
        agent = replace(agent, name=own)
    plans = study.plans(request.scale, agent)
    for unused in _unused(request, study, plans.values()):
        raise GdeError(unused)

    asked = {name: _asked_for(plan, request) for name, plan in plans.items()}
    return study, agent, with_weights(asked, request.weights, catalogue)


Plans = dict[str, Plan]
Flights = Mapping[str, Preflight]


def _allowed(
    plans: Mapping[str, Plan],
    folder: Path,
    catalogue: Catalogue,
    how: How,
    ask: AskFirst,
) -> tuple[Plans, Flights]:
    """The plans as their models need them, and the preflight of those that are new.

    Raises:
        GdeError: a plan is refused.
    """
    found = {}
    for name, plan in plans.items():
        found[name] = _checked(plan, folder / name, catalogue, how)
    new = {name: plan for name, plan in found.items() if not (folder / name).exists()}
    flights = ask(new, catalogue, how)
    found.update({name: flight.plan for name, flight in flights.items()})
    return found, flights


def _possible(
    agent: Choice,
    plans: Mapping[str, Plan],
    allowed: Callable[[Plans], tuple[Plans, Flights]],
) -> tuple[Plans, Flights, dict[str, str]]:
    """What `allowed` gives of the plans that can be run, and why the others cannot.

    Raises:
        RunFolderError: a folder holds a run of another plan.
        GdeError: no plan of this agent can be run.
    """
    possible: Plans = {}
    flights: dict[str, Preflight] = {}
    refused: dict[str, str] = {}
    for name, plan in plans.items():
        try:
            found, flown = allowed({name: plan})
        except RunFolderError:
            raise
        except GdeError as error:
            refused[name] = str(error)
        else:
            possible.update(found)
            flights.update(flown)
    # What is possible has the settings that its models need; the plans are as asked.
    if not any(plans[name].agent == agent for name in possible):
        raise GdeError(next(iter(refused.values())))
    return possible, flights, refused


def _unused(
    request: Request, study: Reproduction, plans: Collection[Plan]
) -> Iterator[str]:
    """The parts of the request that would change nothing, and why."""
    name = request.name
    if request.rewards and not any(plan.rewards for plan in plans):
        yield f"no plan of {name} has reward models: leave them out"
    if isinstance(study, Agentless) and request.agent != UNNAMED:
        yield f"{name} has agents of its own or none: leave out agent and model"
    if not plans and request.models:
        yield f"{name} has no plans to run: drop model settings"


def _checked(plan: Plan, path: Path, catalogue: Catalogue, how: How) -> Plan:
    """The plan, with the settings of its models that its run began with.

    Raises:
        GdeError: it cannot be run.
        RunFolderError: its folder holds a run of another plan.
    """
    ready = prepare(plan, catalogue, how)
    if not path.exists():
        return plan
    if path.is_symlink():
        raise RunFolderError(f"{path} is a link: name another folder")
    folder = RunFolder.open(path)
    check_trusted(path)
    there = folder.recorded().begun
    asked = {split_url(one.label)[0]: one.config for one in plan.models}
    settings = {}
    for choice in there.models:
        if choice.label in ready.models:
            settings[choice.label] = {
                **choice.config,
                **asked.get(choice.label, {}),
            }
    plan = with_model_settings(plan, settings)
    if plan_hash(there) != plan_hash(prepare(plan, catalogue, how).plan):
        raise RunFolderError(f"{path} holds a run of another plan: name another folder")
    return plan


def _asked_for(plan: Plan, request: Request) -> Plan:
    """The plan of a study with the models and reward models of the request."""
    models = (*plan.models, *request.models)

    # A requested reward model takes the place of the plan's own with its label.
    rewards: tuple[Choice, ...] = ()
    if plan.rewards:
        asked = {choice.label: choice for choice in request.rewards}
        own = [choice for choice in plan.rewards if choice.label not in asked]
        rewards = (*own, *asked.values())
    return replace(plan, models=models, rewards=rewards)


def _finished(
    plan: Plan,
    path: Path,
    catalogue: Catalogue,
    how: How,
    watch: Watch,
    questions: Sequence[Question],
) -> Result:
    """The result of a plan: a finished, a resumed or a new run.

    Episodes that failed, e.g. with their server, are run again. Nothing is made anew of
    a run that is as it was.
    """
    if not path.exists():
        return evaluate(plan, path, catalogue, watch, how=how, questions=questions)
    return resume(path, catalogue, watch, plan=plan, how=how, retry_failed=True)


def _concluded(
    study: Reproduction,
    request: Request,
    folder: Path,
    runs: Mapping[str, Run],
    rows: Sequence[Comparison],
    refused: Mapping[str, str],
) -> Study:
    claim: tuple[str, ...] = ()
    if isinstance(study, ProfilesAgent):
        rows = (*rows, *study.lacking(refused, runs))
        claim = tuple(study.claim(rows))
    missing = ""
    try:
        figures = tuple(study.figures(runs))
    except GdeError as error:
        # If the packages that draw are not installed, the numbers stand without
        # figures.
        figures = ()
        missing = str(error)
    return Study(
        name=request.name,
        scale=request.scale,
        folder=folder,
        rows=tuple(rows),
        claim=claim,
        figures=figures,
        figures_missing=missing,
        results={plan: run.result for plan, run in runs.items()},
    )
