"""The stage of the probes: activations are stored, and probes are fitted to them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.grouping import grouped
from gde.data.measure import Measure, Measures
from gde.data.probe import Fit
from gde.data.trajectory import Trajectory
from gde.offers import ProbeOffer
from gde.parts.language_model import WhiteBox
from gde.parts.probe import Probe, marks_of, reads_one_turn
from gde.request.ready import Chosen, Ready
from gde.request.versions import versions
from gde.runs.capturing import Reading, capture, trained
from gde.runs.handing_in import is_captured, stored
from gde.runs.pipeline import Pipeline
from gde.runs.training_elsewhere import Made, other_run, trained_on
from gde.stages import learning
from gde.stages.capturing import merge
from gde.stages.cores import cores
from gde.stages.evidence import Recorded
from gde.stages.fits import (
    MODEL,
    initialisations_of,
    list_fits,
    untrained_sources,
)
from gde.stages.marking import Marking
from gde.stages.probe_data import ProbeData
from gde.stages.probing import ProbeStage
from gde.stages.progress import Progress
from gde.stages.replaying import check_weights, identity, retokenize
from gde.store import manifest
from gde.store.activations import ActivationStore
from gde.store.probes import made_by, write_report
from gde.store.replays import unread


def fit_probes(run: Pipeline) -> None:
    """Capture missing activations for the probes, and fit the probes.

    Raises:
        GdeError: a probe's weights are not those of the agent's model.
    """
    reading = grouped(
        run.ready.probes, lambda one: (run.ready.read_model(one), trained_on(one))
    )
    for (name, elsewhere), probes in reading.items():
        if name:
            _fit(run, name, probes, elsewhere)


def _fit(
    run: Pipeline, name: str, chosen_probes: Sequence[Chosen], elsewhere: str
) -> None:
    """Capture and fit for the probes that read this model, and are fitted to the worlds
    of this run or another.
    """
    # A model with known layers is a white box; others have to be made to find out.
    models = run.resources.models
    info = models.info(name)
    if not info.n_layers and not isinstance(models.get(name), WhiteBox):
        return

    trajectories = Recorded(run.folder.journal_path)
    handed_in = None
    if is_captured(run.ready.models[name].entry):
        handed_in = stored(run, name)
    made: list[Made] = []
    for chosen in chosen_probes:
        probe = run.resources.make(chosen)
        asked = handed_in.request if handed_in else probe.capture(info)
        made.append((chosen, probe, asked))
    request = merge([asked for _, _, asked in made])
    if handed_in:
        read = Reading(name=name, weights=handed_in.digest)
    else:
        read = _reading(run, name, info, chosen_probes[0].label, trajectories, request)
    training = None
    if elsewhere:
        training = other_run(
            elsewhere, run.folder, made, info, read.weights, trajectories
        )
    seed = training.seed if training else run.ready.plan.seed
    drawn: Callable[[Probe], int]
    if handed_in:
        drawn = handed_in.drawn
        not_made = handed_in.not_made
    else:
        drawn = partial(initialisations_of, run.ready.plan, info)
        sources = _sources(made, drawn)
        fits = _fits(run, name, made, trajectories, drawn, training)
        read = replace(read, marking=_marking(run, name, fits))
        not_made = capture(run, trajectories, request, read, sources, seed)
    manifest.end(run.journal, "activations")

    # If activations had to be recorded, the model was made anew, perhaps by other
    # software.
    work = _fits(run, name, made, trajectories, drawn, training)
    stage = ProbeStage(
        data=ProbeData(
            trajectories=trajectories,
            folder=run.folder,
            seed=run.ready.plan.seed,
            weights=read.weights,
        ),
        conditions=run.conditions,
        threads=min(cores(), run.ready.how.concurrency),
        initialisations=drawn,
        model=name,
        not_made=not_made,
        unread=unread(run.journal, read.weights),
        unmarked=read.marking.reasons if read.marking else {},
        learning=run.ready.plan.learning,
        meanings=Measures(tuple(measures_of_probes(run.ready))),
        training=training,
    )
    _fit_lacking(run, stage, work)


def _fit_lacking(
    run: Pipeline, stage: ProbeStage, work: Sequence[tuple[Probe, Fit, str]]
) -> None:
    """Make the fits that the journal lacks, or has of something else."""
    # Fits that depend on the same as those in the journal are kept.
    known = made_by(run.journal)
    wanted = []
    for probe, fit, origin in work:
        if known.get(fit.name) != origin:
            wanted.append((probe, fit))

    manifest.begin(run.folder.path, "probes")
    with closing(stage.fit(wanted)) as fits:
        for done, (_, fit, origin) in enumerate(work):
            run.stop.check()
            run.watch(Progress("probes", done, len(work), fit.name))
            if known.get(fit.name) != origin:
                fitted = next(fits)
                report = fitted.report
                if report.reason:
                    whose = f"probe {fit.name}"
                    run.journal.tell_failure(whose, report.reason, fitted.traceback)
                write_report(run.journal, run.folder.probes, report, origin)
    manifest.end(run.journal, "probes")
    run.watch(Progress("probes", len(work), len(work)))


def _marking(
    run: Pipeline, name: str, work: Sequence[tuple[Probe, Fit, str]]
) -> Marking | None:
    """Marks the turns for the probes that find positions themselves. It takes the model,
    so that there is none where all of their fits are known.
    """
    known = made_by(run.journal)
    found = {}
    for probe, fit, origin in work:
        marks = marks_of(probe)
        if marks is not None and known.get(fit.name) != origin:
            found[id(probe)] = marks
    if not found:
        return None
    return Marking(marks=[*found.values()], model=partial(trained, run, name))


def _sources(made: Sequence[Made], drawn: Callable[[Probe], int]) -> Mapping[str, bool]:
    """The sources with random weights, and whether a probe reads all turns of them."""
    counts = [(drawn(probe), reads_one_turn(probe)) for _, probe, _ in made]
    names = untrained_sources(max(n for n, _ in counts))
    return {
        name: any(i < n and not one_turn for n, one_turn in counts)
        for i, name in enumerate(names)
    }


def _fits(
    run: Pipeline,
    name: str,
    made: Sequence[Made],
    trajectories: Recorded,
    drawn: Callable[[Probe], int],
    training: ProbeData | None,
) -> list[tuple[Probe, Fit, str]]:
    """All fits of probes that read one model, each with what it depends on."""
    plan = run.ready.plan
    info = run.resources.models.info(name)
    # The conditions of another run are others.
    sweeps = len(run.conditions) > 1 and training is None
    work = []
    other: tuple[object, ...] = ()
    if training is not None:
        other = (training.seed, *(str(one.key) for one in training.trajectories))
    for chosen, probe, request in made:
        depends = (
            versions((chosen, run.ready.models[name])),
            chosen.choice.config,
            info.name,
            dict(info.versions),
            trajectories.episodes,
            plan.learning,
            *other,
        )
        for fit in list_fits(chosen.label, probe, request, sweeps):
            n_drawn = drawn(probe) if fit.control == "untrained" else 1
            origin = sha256(repr((*depends, asdict(fit), n_drawn)).encode()).hexdigest()
            work.append((probe, fit, origin))
    return work


def _reading(
    run: Pipeline,
    name: str,
    info: ModelInfo,
    whose: str,
    trajectories: Sequence[Trajectory],
    request: CaptureRequest,
) -> Reading:
    """Prepare the reading of a model, for which a server's answers need tokens.

    Raises:
        GdeError: it has other weights than the agent's model.
    """
    answering = run.ready.agent_model
    if name == answering:
        return Reading(name=name)
    models = run.resources.models
    check_weights(f"{whose}.weights", info, models.info(answering))
    configs = {each.label: each.config for each in run.ready.plan.models}
    read = Reading(name=name, weights=identity(info, configs[name]))
    scored = retokenize(
        trajectories,
        answering,
        partial(models.white_box, name),
        read.weights,
        request,
        run.journal,
    )
    store = ActivationStore(run.folder.activations, run.journal)
    store.write(read.source(MODEL), scored)
    return read


def measures_of_probes(ready: Ready) -> list[Measure]:
    """The meaning of all numbers of probes, which bear the probe's name."""
    measures = []
    for probe in ready.probes:
        offer = probe.entry.offer
        assert isinstance(offer, ProbeOffer)
        for measure in (*learning.MEASURES, *offer.measures):
            measures.append(measure.under(probe.label))
    return measures
