"""Probes that are fitted to the worlds of another run of the same weights."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.plan import Choice
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.probe import Probe
from gde.request.ready import Chosen
from gde.stages.evidence import Recorded
from gde.stages.fits import MODEL, of_weights
from gde.stages.models import notes_of
from gde.stages.probe_data import ProbeData
from gde.stages.replaying import check_weights
from gde.store.activations import ActivationStore
from gde.store.folder import RunFolder

Made = tuple[Chosen, Probe, CaptureRequest]
"""A probe of the plan, made, and what it reads."""


def trained_on(chosen: Chosen) -> str:
    """The folder of the run that a probe is fitted to; empty for its own run."""
    return str(getattr(chosen.config, "trained_on", ""))


def probes_of(path: str) -> list[Choice]:
    """The probes of a run, to be taken to another.

    Raises:
        GdeError: it has none.
    """
    found = []
    for choice in RunFolder.open(Path(path)).plan().probes:
        config = {**choice.config, "trained_on": path}
        found.append(replace(choice, config=config, alias=f"{choice.label}_from"))
    if not found:
        raise GdeError(f"{path} has no probes; name a run that was probed")
    return found


def other_run(
    path: str,
    own: RunFolder,
    made: Sequence[Made],
    info: ModelInfo,
    weights: str,
    trajectories: Sequence[Trajectory],
) -> ProbeData:
    """The turns of another run, to whose training worlds probes are fitted.

    Args:
        path: of its folder.
        own: the folder of the run whose turns the probes read.
        made: the probes.
        info: of the model that they read.
        weights: identifies it, see `gde.stages.probing.ProbeStage`.
        trajectories: of the run whose turns they read.

    Raises:
        GdeError: it is the same run, its model has another width or other weights, it
            has no activations where a probe reads, or labels of another form.
    """
    folder = RunFolder.open(Path(path))
    if folder.path.resolve() == own.path.resolve():
        raise GdeError(f"trained_on: {path} is this run; leave the setting out")
    others = Recorded(folder.journal_path)
    with closing(folder.journal()) as journal:
        for note in notes_of(journal).values():
            there = ModelInfo(**note)
            if there.width not in (0, info.width):
                raise GdeError(
                    f"trained_on: the model of {path} has width {there.width}, and {info.name!r} has {info.width};"
                    " name a run of the same weights"
                )
            check_weights("trained_on", there, info)
        store = ActivationStore(folder.activations, journal)
        for chosen, probe, request in made:
            whose = f"{chosen.label}.trained_on"
            _check_labels(whose, path, probe, others, trajectories)
            for layer, position in product(request.layers, request.positions):
                if not store.stored(of_weights(MODEL, weights), layer, position):
                    raise GdeError(
                        f"{whose}: {path} has no activations at layer {layer}, position {position!r}: probe it there"
                    )
    return ProbeData(
        trajectories=others,
        folder=folder,
        seed=folder.plan().seed,
        weights=weights,
    )


def _check_labels(
    whose: str,
    path: str,
    probe: Probe,
    others: Sequence[Trajectory],
    trajectories: Sequence[Trajectory],
) -> None:
    there, here = (probe.labels(each[0]) for each in (others, trajectories))
    for what, got, wanted in (
        ("shape", there.values.shape[1:], here.values.shape[1:]),
        ("classes", there.classes, here.classes),
    ):
        if got != wanted:
            raise GdeError(
                f"{whose}: labels of {path} have the {what} {got}, and those of this run {wanted}"
            )
