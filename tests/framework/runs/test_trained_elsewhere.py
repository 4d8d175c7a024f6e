"""Probes that are fitted to the worlds of another run of the same weights."""

from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gde import Choice, Plan, evaluate, load_evidence, probe
from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.probe import ProbeLabels, ProbeReport
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs import training_elsewhere
from gde.runs.training_elsewhere import other_run, probes_of
from gde.stages.models import notes_of
from gde.store.arrays import read_arrays
from gde.store.folder import RunFolder

LEARNED = Plan(
    environment=Choice(name="corridor", config={"length": 3}),
    agent=Choice(name="asking"),
    metrics=(Choice(name="success"),),
    probes=(Choice(name="moves"),),
    episodes=20,
)
READ = replace(
    LEARNED,
    environment=Choice(name="corridor", config={"length": 6}),
    probes=(),
    episodes=8,
    seed=1,
)
KNOWN = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
OWN, TAKEN = "moves-ridge-layer0-message", "moves_from-ridge-layer0-message"


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learned") / "run"
    evaluate(LEARNED, folder, KNOWN)
    return folder


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory, learned: Path) -> Path:
    folder = tmp_path_factory.mktemp("read") / "run"
    evaluate(READ, folder, KNOWN)
    probe(folder, probes_of(str(learned)), KNOWN)
    return folder


def reports(folder: Path) -> dict[str, ProbeReport]:
    return {one.fit.name: one for one in load_evidence(folder, KNOWN).probe_reports}


def weights(folder: Path, fit: str) -> NDArray[np.float32]:
    return read_arrays(folder / "probes" / f"{fit}.safetensors")["weights"]


@pytest.mark.parametrize("control", ["none", "untrained", "no_activations"])
def test_it_is_the_probe_of_the_other_run(
    learned: Path, read: Path, control: str
) -> None:
    """Random weights are those that the other run has drawn, whatever seed is its own."""
    ours = weights(read, f"{TAKEN}-{control}")
    np.testing.assert_array_equal(ours, weights(learned, f"{OWN}-{control}"))


def test_every_world_that_was_not_trained_on_is_read(learned: Path, read: Path) -> None:
    for control in ("none", "shuffled", "untrained"):
        found = reports(read)[f"{TAKEN}-{control}"]
        assert not found.reason
        assert {*found.worlds} == {f"{start} of 6" for start in range(5)}
        assert found.n_train == reports(learned)[f"{OWN}-{control}"].n_train
        assert not found.coded.scores


def test_worlds_that_were_trained_on_are_left_out(
    learned: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    evaluate(replace(LEARNED, probes=()), again, KNOWN)
    probe(again, [Choice(name="moves", config={"trained_on": str(learned)})], KNOWN)
    there, here = (reports(each)[f"{OWN}-none"] for each in (learned, again))
    assert {*here.worlds} == {*there.worlds}
    np.testing.assert_array_equal(here.decoded, there.decoded)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"layer": [1]}, "has no activations at layer 1, position 'message'"),
        ({"position": "pre"}, "has no activations at layer 0, position 'pre'"),
        ({"trained_on": "nowhere"}, "nowhere"),
    ],
)
def test_another_place_is_refused_by_name(
    learned: Path, read: Path, config: dict[str, Any], said: str
) -> None:
    before = {*reports(read)}
    given = {"trained_on": str(learned), **config}
    with pytest.raises(GdeError, match=said):
        probe(read, [Choice(name="moves", config=given, alias="other")], KNOWN)
    assert {*reports(read)} == before


@pytest.mark.parametrize("what", ["shape", "classes"])
def test_other_labels_are_refused_by_name(learned: Path, read: Path, what: str) -> None:
    class Labelling:
        def labels(self, trajectory: Trajectory) -> ProbeLabels:
            is_long = trajectory.world.cluster.endswith(" 6")
            wide = 2 if is_long and what == "shape" else 1
            classes = ("free",) if is_long and what == "classes" else ("wall",)
            return ProbeLabels(values=np.zeros((3, wide)), classes=classes)

    with pytest.raises(GdeError, match=f"moves.trained_on: .* have the {what}"):
        taken(learned, read, info_of(learned), Labelling())


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"width": 7}, "has width 64, and 'asked' has 7"),
        ({"versions": {"weights": "b"}}, "the weights of .* are not those"),
    ],
)
def test_another_model_is_refused_by_name(
    learned: Path, read: Path, other: dict[str, Any], said: str
) -> None:
    info = replace(info_of(learned), name="asked", **other)
    with pytest.raises(GdeError, match=said):
        taken(learned, read, info, None)


def test_the_run_itself_and_a_run_without_probes_are_refused(
    learned: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    evaluate(replace(READ, episodes=2), bare, KNOWN)
    for other, said in ((learned, "is this run"), (bare, "has no probes")):
        with pytest.raises(GdeError, match=said):
            probe(learned, probes_of(str(other)), KNOWN)


def info_of(folder: Path) -> ModelInfo:
    with closing(RunFolder.open(folder).journal()) as journal:
        (note,) = notes_of(journal).values()
    return replace(ModelInfo(**note), versions={"weights": "a"})


def taken(learned: Path, read: Path, info: ModelInfo, made: Any) -> None:
    """Check whether a probe can be taken from one run to another."""
    chosen: Any = SimpleNamespace(label="moves")
    request = CaptureRequest(layers=(0,), positions=("message",))
    evidence = load_evidence(read, KNOWN)
    probes = [(chosen, made, request)]
    own = RunFolder.open(read)
    with pytest.MonkeyPatch.context() as patched:
        # The models of these tests have no digests.
        noted = {"asked": asdict(replace(info_of(learned)))}
        patched.setattr(training_elsewhere, "notes_of", lambda _: noted)
        other_run(str(learned), own, probes, info, "", evidence.trajectories)
