"""A published study from its plans to its tables, in one folder that holds a run for every plan."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.plan import NOTHING, Choice, Plan
from gde.data.result import Result, RunStatus
from gde.errors import GdeError, RunFolderError
from gde.parts.reproduction import Agentless, Comparison, Estimate, Foresees, Reproduction, Run
from gde.request.catalogue import Catalogue
from gde.request.planfile import plan_hash
from gde.request.resolve import resolve
from gde.request.settings import build
from gde.runs.adding import rescore
from gde.runs.evaluating import evaluate, prepare, resume
from gde.stages.context import Resources
from gde.stages.evidence import load_evidence
from gde.stages.progress import Progress, Watch, ignore
from gde.store.folder import RESULT, RunFolder, cannot_make, free_name

SCHEMA = 1
AGENT, EXECUTOR = Choice(name="gpt-oss"), Choice(name="serial")
"""Where nobody says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A published study, and what of it is to be done by whom."""

    name: str
    scale: float = 1.0
    """Share of the published size."""
    settings: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Configuration of the study itself."""
    agent: Choice = AGENT
    language_model: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    rewards: tuple[Choice, ...] = ()
    """Reward models that judge besides, in every plan that has any."""
    executor: Choice = EXECUTOR

    def __post_init__(self) -> None:
        if not 0 < self.scale < inf:
            raise GdeError(f"--scale: wanted a finite number above 0, got {self.scale}")


@dataclass(frozen=True, kw_only=True)
class Study:
    """What a reproduction found."""

    name: str
    folder: Path
    rows: tuple[Comparison, ...]
    figures: tuple[Figure, ...]
    figures_missing: str
    """Why there are no figures; empty where there are."""
    results: Mapping[str, Result]
    """By the names of the plans."""

    @property
    def status(self) -> RunStatus:
        """The worst of its runs."""
        statuses = {result.status for result in self.results.values()}
        if "failed" in statuses:
            return "failed"
        return "partial" if "partial" in statuses else "ok"

    @property
    def notices(self) -> tuple[str, ...]:
        """What every reader must be told of the models, each once."""
        found = (result.provenance.get("notice") for result in self.results.values())
        return tuple(dict.fromkeys(str(notice) for notice in found if notice))


def reproduce(
    request: Request, out: Path | None = None, catalogue: Catalogue | None = None, watch: Watch = ignore
) -> Study:
    """Run the plans of a study that are not yet finished in `out`, and hold them against the publication.

    Raises:
        GdeError: no such study, a plan is refused, something is asked for that the study has no use for, `out` cannot
            be made, or it holds runs of other plans.
        KeyboardInterrupt: it was interrupted; the same request with the folder as `out` goes on.
    """
    catalogue = catalogue or Catalogue.default()
    study, plans = _planned(request, catalogue)
    folder = out or free_name(Path("runs"), request.name)
    for name, plan in plans.items():
        _check(plan, folder / name, catalogue)
    try:
        folder.mkdir(parents=True, exist_ok=True)  # before hours of work that could not be kept
    except OSError as error:
        raise cannot_make(folder, error) from error
    try:
        runs: dict[str, Run] = {}
        for index, (name, plan) in enumerate(plans.items()):
            watch(Progress("plans", index, len(plans)))
            result = _finished(plan, folder / name, catalogue, watch)
            runs[name] = Run(result=result, evidence=load_evidence(folder / name, catalogue))
        return _concluded(study, request.name, folder, runs)
    except KeyboardInterrupt as interrupt:
        interrupt.__notes__ = [str(folder)]  # not the run that it was at: one goes on with all of them
        raise


def foresee(request: Request, catalogue: Catalogue | None = None) -> tuple[Estimate, ...]:
    """What the plans of a study would ask of language models; nothing is run, and nobody is asked.

    Raises:
        GdeError: no such study, or a part of a plan is refused.
    """
    catalogue = catalogue or Catalogue.default()
    study, plans = _planned(request, catalogue)
    for plan in plans.values():
        resolve(plan, catalogue)
    if isinstance(study, Foresees):
        return tuple(study.estimate(plans))
    note = "the study does not tell what it asks of language models"
    return tuple(
        Estimate(plan=name, part=plan.agent.label, episodes=plan.episodes * plan.repeats, note=note)
        for name, plan in plans.items()
    )


def _planned(request: Request, catalogue: Catalogue) -> tuple[Reproduction, dict[str, Plan]]:
    offer = catalogue.find("reproduction", request.name).offer
    context = Resources(catalogue).context("reproduction", request.name)
    study: Reproduction = offer.make(build(offer.config, request.settings, "study"), context)
    plans = study.plans(request.scale, request.agent)
    if unused := next(_unused(request, study, plans.values()), ""):
        raise GdeError(f"{unused}; drop it")
    return study, {name: _asked_for(plan, request) for name, plan in plans.items()}


def _unused(request: Request, study: Reproduction, plans: Collection[Plan]) -> Iterator[str]:
    """What is asked for and would change nothing, and why."""
    if request.rewards and not any(plan.rewards for plan in plans):
        yield f"--reward {request.rewards[0].label}: no plan of {request.name} has reward models"
    if isinstance(study, Agentless) and request.agent != AGENT:
        yield f"{_option('agent', request.agent, AGENT)}: {request.name} has agents of its own or none"
    if not plans and request.executor != EXECUTOR:
        yield f"{_option('executor', request.executor, EXECUTOR)}: {request.name} has no plans to run"
    if not plans and request.language_model:
        yield f"model.{next(iter(request.language_model))}: {request.name} has no plans to run"


def _option(table: str, asked: Choice, default: Choice) -> str:
    """How somebody has asked for something else than the default."""
    return f"--{table} {asked.name}" if asked.name != default.name else f"{table}.{next(iter(asked.config))}"


def study_json(study: Study) -> dict[str, Any]:
    """The object that `gde reproduce --json` prints and reproduction.json holds."""
    return {
        "schema": SCHEMA,
        "study": study.name,
        "folder": str(study.folder),
        "status": study.status,
        "runs": {name: {"run": result.run, "status": result.status} for name, result in study.results.items()},
        "rows": [asdict(row) for row in study.rows],
        "notices": list(study.notices),
    }


def _check(plan: Plan, path: Path, catalogue: Catalogue) -> None:
    """Refuse a plan that cannot be run, or that is not the one of the run that its folder holds already."""
    ready = prepare(plan, catalogue)
    if path.exists() and plan_hash(RunFolder.open(path).plan()) != plan_hash(ready.plan):
        raise RunFolderError(f"{path} holds a run of another plan: name another folder with --out")


def _asked_for(plan: Plan, request: Request) -> Plan:
    model = {**plan.language_model, **request.language_model}
    asked = {each.label: each for each in request.rewards}
    own = tuple(each for each in plan.rewards if each.label not in asked)
    rewards = (*own, *asked.values()) if plan.rewards else ()
    return replace(plan, language_model=model, executor=request.executor, rewards=rewards)


def _finished(plan: Plan, path: Path, catalogue: Catalogue, watch: Watch) -> Result:
    """The result of a plan: of the finished run in the folder, of the interrupted one resumed, or of a new one."""
    if not path.exists():
        return evaluate(plan, path, catalogue, watch)
    if not (path / RESULT).is_file():
        return resume(path, catalogue, watch, plan=plan)
    folder = RunFolder.open(path)
    result = folder.read_result()
    # Somebody may have scored the run by other metrics since.
    return result if result.plan_hash == plan_hash(folder.plan()) else rescore(path, catalogue=catalogue)


def _concluded(study: Reproduction, name: str, folder: Path, runs: Mapping[str, Run]) -> Study:
    missing = ""
    try:
        figures = tuple(study.figures(runs))
    except GdeError as error:  # e.g. the packages that draw are not installed; the numbers stand without them
        figures = ()
        missing = str(error)
    return Study(
        name=name,
        folder=folder,
        rows=tuple(study.compare(runs)),
        figures=figures,
        figures_missing=missing,
        results={plan: run.result for plan, run in runs.items()},
    )
