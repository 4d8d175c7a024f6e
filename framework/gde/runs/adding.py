"""Add metrics, probes and reports to a finished run, without asking the agent again."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from gde.before.preparing import check_models
from gde.data.how import How
from gde.data.plan import Choice, Plan
from gde.data.result import Result
from gde.errors import GdeError, RunFolderError
from gde.request.catalogue import Catalogue
from gde.request.check import check_installed, lacking
from gde.request.models import with_weights
from gde.request.planfile import joined
from gde.request.ready import Ready
from gde.request.resolve import resolve
from gde.runs.conclusion import conclude
from gde.runs.handing_in import Captured, HandedIn
from gde.runs.pipeline import Pipeline
from gde.runs.probing import fit_probes
from gde.runs.rendering import render, render_elsewhere
from gde.runs.reopening import reopen
from gde.stages.evidence import parts_of
from gde.stages.progress import Watch, ignore
from gde.store import manifest
from gde.store.folder import RunFolder
from gde.validating import checked

Kind = Literal["metrics", "probes"]
"""The field of a plan to which parts are added."""


@checked
def rescore(
    path: Path | str,
    metrics: Sequence[Any] = (),
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    plan: Plan | None = None,
    how: How | None = None,
) -> Result:
    """Compute metrics of a run and add their numbers, or recompute all.

    Args:
        path: the folder of the run.
        metrics: as in a plan: names, choices or objects.
        catalogue: the parts that are offered.
        watch: receives the progress.
        plan: the plan of the run, if a metric needs an object of it, e.g. the
            environment.
        how: this is done; None for the way in which the run was done last.

    Raises:
        GdeError: a given metric does not exist, or needs what the run has not.
    """
    folder, catalogue, own, how = reopen(path, catalogue, plan, how)
    ready = _with(own, how, catalogue, "metrics", metrics)
    with _opened(folder, ready, watch) as run:
        earlier = _earlier(run, needed=bool(metrics))
        if metrics:
            check_models(ready, run.resources.models)
        asked = [chosen.label for chosen in ready.metrics] if metrics else ()
        result = conclude(run, earlier, _as_before(run), asked)
        _add(run, "metrics", metrics)
        return result


@checked
def probe(
    path: Path | str,
    probes: Sequence[Any] = (),
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    plan: Plan | None = None,
    how: How | None = None,
    models: Sequence[Any] = (),
    activations: Captured | None = None,
    untrained: Sequence[Captured] = (),
) -> Result:
    """Fit probes to a run and add their numbers, or refit all.

    Tokens are replayed if their activations are not stored yet.

    Activations that were captured elsewhere, e.g. with TransformerLens or nnsight, are
    read instead of a model's. Of each layer and position, they are an array (N, width) or
    (N, tokens, width) with a row for each of the N turns of `Run.turns`, or arrays
    (width,) or (tokens, width) by turn, (episode, index). The probes read all that is
    given, whatever layers and positions they are set to.

    Args:
        path: the folder of the run.
        probes: as in a plan: names, choices or objects.
        catalogue: the parts that are offered.
        watch: receives the progress.
        plan: the plan of the run, if a probe needs an object of it.
        how: this is done; None for the way in which the run was done last.
        models: language models that the probes name, with their settings, or objects.
        activations: by layer (-1 for the embeddings) and position (any name).
        untrained: the same of random initialisations of the model, for the control.

    Raises:
        GdeError: a given probe does not exist, or needs what the run has not; or none
            is given, and the run has none; or activations do not fit the run.
    """
    folder, catalogue, own, how = reopen(path, catalogue, plan, how)
    own = replace(own, models=joined(own.models, tuple(map(Choice.of, models))))
    handed_in = None
    if activations is not None:
        with closing(folder.journal()) as journal:
            rows = journal.turns_ended()
        handed_in = HandedIn.read(activations, untrained, rows)
        asked = replace(own, probes=probes or own.probes, metrics=())
        name = handed_in.name(catalogue)
        probes = with_weights({"": asked}, name, catalogue)[""].probes
    ready = _with(own, how, catalogue, "probes", probes)
    if not ready.probes:
        raise GdeError(
            f"{path} has no probes to fit anew: name one to add (`gde list probes`)"
        )
    anew = () if probes else ("activations", "probes")
    with _opened(folder, ready, watch, *anew) as run:
        # What is kept must not be taken for what was made now. What is made anew has
        # been looked at as the run was opened.
        if not anew:
            manifest.check(run.journal, "activations", "probes")
        if handed_in is not None:
            handed_in.store(run)
        fit_probes(run)
        result = conclude(run, _earlier(run, needed=False), _as_before(run))
        _add(run, "probes", probes)
        return result


@checked
def report(
    path: Path | str,
    reporters: Sequence[Any] = (),
    catalogue: Catalogue | None = None,
    *,
    plan: Plan | None = None,
    how: How | None = None,
    out: Path | None = None,
) -> list[Path]:
    """Render the given reports of a finished run, or those that it had last.

    Args:
        path: the folder of the run.
        reporters: names, choices or objects.
        catalogue: the parts that are offered.
        plan: the plan of the run, if a reporter needs an object of it.
        how: as in `rescore`; its reporters are the default ones.
        out: another folder for the reports, e.g. of a run that the user does not trust.

    Returns the files to open.

    Raises:
        GdeError: there is no such reporter or result, or the user does not trust the
            run and names no other folder.
    """
    folder, catalogue, own, how = reopen(path, catalogue, plan, how, writes=out is None)
    if reporters:
        how = replace(how, reporters=reporters)
    ready = parts_of(folder, catalogue, own, how)
    if out is not None:
        return render_elsewhere(ready, folder, out)
    with _opened(folder, ready, ignore) as run:
        return render(run, run.folder.read_result())


def _with(
    own: Plan, how: How, catalogue: Catalogue, kind: Kind, choices: Sequence[Any]
) -> Ready:
    """A run with the given parts in place of those of their kind, or with its own.

    Wanted parts must be installed. Others of the run may be missing, e.g. its objects
    without `plan`.
    """
    asked: Any = {kind: choices} if choices else {}
    ready = resolve(replace(own, **asked), catalogue, how, absent=True)
    if choices:
        _check(ready, kind)
    return ready


@contextmanager
def _opened(
    folder: RunFolder, ready: Ready, watch: Watch, *anew: str
) -> Iterator[Pipeline]:
    """The stages of a run whose folder nobody else writes to."""
    with (
        folder.writing(*anew) as journal,
        closing(Pipeline(ready, folder, journal, watch)) as run,
    ):
        yield run


def _add(run: Pipeline, kind: Kind, given: Sequence[Any]) -> None:
    """Write parts to the plan of the run, after they have worked."""
    if not given:
        return
    known = run.folder.recorded()
    begun = {choice.label for choice in known.begun.models}
    models = [one for one in run.ready.plan.models if one.label not in begun]
    parts = getattr(run.ready.plan, kind)
    run.folder.add(
        {
            kind: joined(known.added.get(kind, ()), parts),
            "models": joined(known.added.get("models", ()), models),
        },
        run.ready.how,
    )


def _check(ready: Ready, kind: Kind) -> None:
    for part in getattr(ready, kind):
        if part.absent:
            raise GdeError(part.absent)
        check_installed(part)
        # An absent environment does not say what it gives.
        reason = lacking(part, ready, ready.gives)
        if reason and not ready.environment.absent:
            raise GdeError(reason)


def _as_before(run: Pipeline) -> set[str]:
    """List the metrics that are configured as before."""
    before = run.folder.plan().metrics
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
