"""Add metrics, probes and reports to a finished run, without asking the agent again."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from gde.data.plan import Choice, Plan
from gde.data.result import Result
from gde.errors import GdeError, MissingExtra, RunFolderError
from gde.request.catalogue import Catalogue
from gde.request.check import lacking
from gde.request.named_files import named_files, resolved
from gde.request.objects import with_objects
from gde.request.planfile import plan_of, plan_tables
from gde.request.resolve import Ready, resolve
from gde.runs.conclusion import conclude, render
from gde.runs.pipeline import Pipeline, checked_hash
from gde.stages.progress import Watch, ignore
from gde.store import manifest
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.lock import only_writer

NOTED = "plan_since"
"""The journal's note of the plan with all additions."""


def rescore(
    path: Path | str,
    metrics: Sequence[Any] = (),
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    plan: Plan | None = None,
    keys_to: Collection[str] = (),
    reads: Collection[Path | str] = (),
) -> Result:
    """Compute metrics of a run and add their numbers, or recompute all.

    Args:
        path: the folder of the run.
        metrics: as in a plan: names, choices or objects.
        catalogue: the parts that are offered.
        watch: receives the progress.
        plan: the plan of the run, if a metric needs an object of it, e.g. the
            environment.
        keys_to: the hosts that keys may be sent to, as in `resume`.
        reads: the files that the plan of a run from elsewhere may name, as in `resume`.

    Raises:
        GdeError: a given metric does not exist, or needs what the run has not.
    """
    with _opened(
        path,
        "metrics",
        metrics,
        catalogue,
        plan,
        watch,
        keys_to=keys_to,
        reads=reads,
    ) as run:
        return conclude(run, _earlier(run, needed=bool(metrics)), _as_before(run))


def probe(
    path: Path | str,
    probes: Sequence[Any] = (),
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    plan: Plan | None = None,
    keys_to: Collection[str] = (),
    reads: Collection[Path | str] = (),
    models: Sequence[Choice] = (),
) -> Result:
    """Fit probes to a run and add their numbers, or refit all.

    Tokens are replayed if their activations are not stored yet.

    Args:
        path: the folder of the run.
        probes: as in a plan: names, choices or objects.
        catalogue: the parts that are offered.
        watch: receives the progress.
        plan: the plan of the run, if a probe needs an object of it.
        keys_to: the hosts that keys may be sent to, as in `resume`.
        reads: the files that the plan of a run from elsewhere may name, as in `resume`.
        models: language models that the probes name, with their settings.

    Raises:
        GdeError: a given probe does not exist, or needs what the run has not; or none
        is given, and the run has none.
    """
    with _opened(
        path,
        "probes",
        probes,
        catalogue,
        plan,
        watch,
        keys_to=keys_to,
        reads=reads,
        models=models,
    ) as run:
        if not run.ready.probes:
            raise GdeError(
                f"{path} has no probes to fit anew: name one to add with --probe (`gde list probes`)"
            )
        run.probe()
        return conclude(run, _earlier(run, needed=False), _as_before(run))


def report(
    path: Path | str,
    reporters: Sequence[Any] = (),
    catalogue: Catalogue | None = None,
    *,
    plan: Plan | None = None,
) -> list[Path]:
    """Render the given reports of a finished run, or those of its plan.

    Returns the files to open.
    """
    with _opened(path, "reporters", reporters, catalogue, plan, keep=False) as run:
        return render(run, run.folder.read_result())


def current_plan(folder: RunFolder, journal: Journal) -> Plan:
    """Give the plan of the run with the parts and models that were added to it."""
    begun = folder.plan()
    noted = journal.noted(NOTED, dict)
    if noted is None:
        return begun
    added = plan_of(noted, f"{folder.path} (with what was added)")
    models = _joined(added.models, begun.models)
    return replace(begun, metrics=added.metrics, probes=added.probes, models=models)


def _joined(some: Sequence[Choice], others: Sequence[Choice]) -> tuple[Choice, ...]:
    """Give all choices; of two with the same label the second."""
    by_label = {choice.label: choice for choice in some}
    by_label |= {choice.label: choice for choice in others}
    return tuple(by_label.values())


@contextmanager
def _opened(
    path: Path | str,
    kind: Literal["metrics", "probes", "reporters"],
    choices: Sequence[Any],
    catalogue: Catalogue | None,
    given: Plan | None,
    watch: Watch = ignore,
    keep: bool = True,
    keys_to: Collection[str] = (),
    reads: Collection[Path | str] = (),
    models: Sequence[Choice] = (),
) -> Iterator[Pipeline]:
    """Open a run with the given parts in place of those of their kind.

    Without given parts, the run keeps its own.

    Wanted parts must be installed. Others of the run may be missing, e.g. its objects
    if `given` is None.
    """
    catalogue = catalogue or Catalogue.default()
    asked: Any = {kind: tuple(map(Choice.of, choices))}
    with (
        RunFolder.to_write(Path(path)) as folder,
        only_writer(folder.path),
        folder.writing() as journal,
    ):
        _check_made(journal, kind, makes_anew=not choices)
        checked_hash(folder, journal)
        plan = current_plan(folder, journal)
        plan = replace(plan, models=_joined(plan.models, models))
        # A plan of the caller's own may send keys anywhere; one from a folder may not.
        allowed: Collection[str] | None = keys_to
        if given is not None:
            plan = with_objects(plan, given)
            if journal.reads() is None:
                allowed = None
        # So do parts of the caller's own name files.
        own = [choice.config for choice in (*asked[kind], *models)]
        named = [str(path) for config in own for path in named_files(config)]
        journal.let_read((*resolved(reads), *named))

        changed = replace(plan, **asked) if choices else plan
        ready = resolve(changed, catalogue, absent=True)
        if choices:
            _check(ready, kind)

        with closing(Pipeline(ready, folder, journal, watch, keys_to=allowed)) as run:
            yield run

        # Parts are noted only after they have worked.
        if choices and keep:
            joined: Any = {
                kind: _joined(getattr(plan, kind), getattr(ready.plan, kind))
            }
            journal.note(NOTED, plan_tables(replace(plan, **joined)))


def _check_made(journal: Journal, kind: str, *, makes_anew: bool) -> None:
    """Refuse what is damaged of what is read and is not made anew."""
    manifest.check(journal, "rewards")
    if kind != "probes":
        # Arrays are checked as they are read.
        manifest.check(journal, "probes", only=["probes"])
    elif makes_anew:
        manifest.renew(journal, "activations", "probes")
    else:
        manifest.check(journal, "activations", "probes")


def _check(ready: Ready, kind: str) -> None:
    for part in getattr(ready, kind):
        if part.absent:
            raise GdeError(part.absent)
        if missing := part.entry.offer.missing():
            raise MissingExtra(part.label, missing, part.entry.offer.extra or "all")
        # An absent environment does not say what it gives.
        reason = lacking(part, ready, ready.gives)
        if reason and not ready.environment.absent:
            raise GdeError(reason)


def _as_before(run: Pipeline) -> set[str]:
    """List the metrics that are configured as before."""
    before = current_plan(run.folder, run.journal).metrics
    known = {choice.label: (choice.name, choice.config) for choice in before}
    same = set()
    for choice in run.ready.plan.metrics:
        if known.get(choice.label) == (choice.name, choice.config):
            same.add(choice.label)
    return same


def _earlier(run: Pipeline, needed: bool) -> Result | None:
    # A result that cannot be read is made anew, unless something is to be added to it.
    if not run.folder.is_finished:
        return None
    try:
        return run.folder.read_result()
    except RunFolderError:
        if needed:
            raise
        return None
