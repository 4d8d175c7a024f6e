"""Every control of a probe, end to end on a planted model: it must find nothing where
the trained fit finds the map.

The stream of `walker` holds the places of agent and goal. Its random-weights control,
its bag of tokens, zeros and shuffled labels hold none, so each control must fall by a
known amount. A control that is secretly the trained fit, or that is given other data
than its definition says, fails here.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import planted_parts
import pytest
from numpy.typing import NDArray

from gde import Choice, How, Plan, evaluate, load_evidence
from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.evidence import Evidence
from gde.data.probe import CONTROLS, ProbeDataset, ProbeReport
from gde.data.result import Result
from gde.request.catalogue import Catalogue
from gde.seeding import derive
from gde_plugins.probes.maps.probe import CogmapProbe

SIDE, LAYER, POSITION = 7, 1, "pre"
OF_NO_SWEEP = [control for control in CONTROLS if control != "conditions"]
CHANCE = 1 / (SIDE - 2) ** 2
"""Share of free cells that a guess finds."""
PLAN = Plan(
    environment=Choice(name="grid", config={"size": SIDE, "density": 0.6}),
    agent=Choice(name="gpt-oss", config={"model": "walker"}),
    probes=(
        Choice(
            name="cogmap",
            config={
                "layer": LAYER,
                "positions": [POSITION],
                "size": SIDE,
                "variants": ["bilinear"],
                "epochs": 40,
            },
        ),
    ),
    metrics=(Choice(name="maps"), Choice(name="beliefs")),
    episodes=30,
    initialisations=1,
    learning=False,
)


class Probed:
    """A run, and the data that its probes were fitted to and scored on."""

    def __init__(
        self, result: Result, evidence: Evidence, given: dict[str, list[ProbeDataset]]
    ) -> None:
        self.result = result
        self.evidence = evidence
        self.train: dict[str, ProbeDataset] = {}
        self.test: dict[str, ProbeDataset] = {}
        self.reports: dict[str, ProbeReport] = {}
        # Fits follow each other in the order of the reports, and each is scored after
        # it was fitted.
        maps = [
            report for report in evidence.probe_reports if report.fit.probe == "cogmap"
        ]
        for report, train, test in zip(maps, given["fit"], given["score"], strict=True):
            self.train[report.fit.control] = train
            self.test[report.fit.control] = test
            self.reports[report.fit.control] = report

    def value(self, name: str, control: str, label: str = "control") -> float:
        (found,) = [
            one
            for one in self.result.measurements
            if one.name == name and one.where.get(label) == control
        ]
        assert found.value is not None, found.reason
        return found.value


@pytest.fixture(scope="module")
def probed(
    catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Probed]:
    given: dict[str, list[ProbeDataset]] = {"fit": [], "score": []}
    fit, score = CogmapProbe.fit, CogmapProbe.score

    def recorded_fit(
        self: CogmapProbe, variant: str, train: ProbeDataset, rng: Any
    ) -> Any:
        given["fit"].append(train)
        return fit(self, variant, train, rng)

    def recorded_score(
        self: CogmapProbe, readout: Any, test: ProbeDataset, rng: Any
    ) -> Any:
        given["score"].append(test)
        return score(self, readout, test, rng)

    folder: Path = tmp_path_factory.mktemp("controls") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CogmapProbe, "fit", recorded_fit)
        patch.setattr(CogmapProbe, "score", recorded_score)
        result = evaluate(PLAN, folder, catalogue, how=How(concurrency=1))
    assert result.status == "ok", result.failures
    yield Probed(result, load_evidence(folder, catalogue), given)


def captured(probed: Probed, model: planted_parts.Walker) -> NDArray[np.float32]:
    """(N, D) what a model leaves in the training turns, replayed here without the
    stages of a run.
    """
    held_out = set(probed.reports["none"].rows)
    sequences = []
    for one in probed.evidence.trajectories:
        for turn in one.turns:
            completion = turn.decision.completion
            if completion is None or (str(one.key), turn.index) in held_out:
                continue
            tokens = completion.prompt_tokens + completion.tokens
            sequences.append(
                TokenSequence(tokens=tokens, positions=completion.positions)
            )
    records = model.capture(
        sequences, CaptureRequest(layers=(LAYER,), positions=(POSITION,))
    )
    return np.stack([record.values[LAYER, POSITION].reshape(-1) for record in records])


def test_the_trained_fit_finds_what_is_planted_and_reads_the_model(
    probed: Probed,
) -> None:
    for thing in ("agent", "goal"):
        assert probed.value(f"cogmap.top1.{thing}", "none") > 0.9
    assert np.array_equal(
        probed.train["none"].inputs, captured(probed, planted_parts.Walker())
    )


@pytest.mark.parametrize("control", OF_NO_SWEEP)
def test_every_control_loses_the_map(probed: Probed, control: str) -> None:
    """By at least half of all turns, to what a guess could find, in every number that
    is made of decoded maps.
    """
    for thing in ("agent", "goal"):
        theirs = probed.value(f"cogmap.top1.{thing}", control)
        assert theirs < CHANCE + 0.15
        assert probed.value(f"cogmap.top1.{thing}", "none") - theirs > 0.5
        published = probed.value(f"maps.top1.{thing}", "none", "fit") - probed.value(
            f"maps.top1.{thing}", control, "fit"
        )
        assert published > 0.5
        selectivity = f"maps.selectivity.{thing}"
        ours, shuffled = (
            probed.value(f"maps.top1.{thing}", each, "fit")
            for each in ("none", "shuffled")
        )
        assert probed.value(selectivity, "none", "fit") == pytest.approx(
            ours - shuffled
        )


def test_all_controls_hold_out_the_same_turns_and_score_them_on_their_true_maps(
    probed: Probed,
) -> None:
    own = probed.test["none"]
    assert not {*own.groups} & {*probed.train["none"].groups}
    for control in OF_NO_SWEEP:
        assert probed.reports[control].rows == probed.reports["none"].rows
        assert np.array_equal(probed.test[control].labels, own.labels)
        assert np.array_equal(probed.test[control].groups, own.groups)
        assert np.array_equal(probed.train[control].groups, probed.train["none"].groups)


def test_random_weights_are_those_of_the_same_architecture_under_the_seed_of_the_run(
    probed: Probed,
) -> None:
    untrained = planted_parts.Walker().untrained(derive(PLAN.seed, "untrained"))
    assert np.array_equal(probed.train["untrained"].inputs, captured(probed, untrained))
    assert np.array_equal(probed.train["untrained"].labels, probed.train["none"].labels)


def test_shuffled_labels_are_those_of_other_training_turns_and_of_no_held_out_one(
    probed: Probed,
) -> None:
    own, shuffled = probed.train["none"], probed.train["shuffled"]
    assert np.array_equal(shuffled.inputs, own.inputs)
    assert np.array_equal(probed.test["shuffled"].inputs, probed.test["none"].inputs)
    same = (shuffled.labels == own.labels).all(axis=(1, 2)).mean()
    assert same < 0.1
    flat = [each.labels.reshape(len(each.labels), -1) for each in (own, shuffled)]
    assert np.array_equal(
        *(np.unique(each, axis=0, return_counts=True)[1] for each in flat)
    )
    assert np.array_equal(*(np.unique(each, axis=0) for each in flat))


def test_coordinates_have_no_activations_so_every_map_is_decoded_alike(
    probed: Probed,
) -> None:
    for data in (probed.train, probed.test):
        assert not data["coordinates"].inputs.any()
        assert data["coordinates"].inputs.shape == data["none"].inputs.shape
    assert np.array_equal(
        probed.train["coordinates"].labels, probed.train["none"].labels
    )
    decoded = probed.reports["coordinates"].decoded
    assert (decoded == decoded[0]).all()
    assert not (
        probed.reports["none"].decoded == probed.reports["none"].decoded[0]
    ).all()


def test_a_bag_of_tokens_is_their_mean_embedding_whatever_their_order(
    probed: Probed,
) -> None:
    """Sorted before they are added up, for a sum is rounded by the order of its terms,
    which a probe could read.
    """
    walker = planted_parts.Walker()
    turns = {
        (str(one.key), turn.index): turn
        for one in probed.evidence.trajectories
        for turn in one.turns
    }
    for row, bag in zip(
        probed.reports["embeddings"].rows, probed.test["embeddings"].inputs, strict=True
    ):
        completion = turns[row].decision.completion
        assert completion is not None
        marked = completion.positions[POSITION]
        tokens = completion.prompt_tokens[: max(marked) + 1]
        drawn = [
            planted_parts.drawn(walker.width, "embedding", token) for token in tokens
        ]
        mean = np.sort(np.array(drawn, dtype=np.float32), axis=0).mean(axis=0)
        assert np.array_equal(bag, np.tile(mean, len(marked)))


@pytest.mark.parametrize("fails_at", [0, 1])
def test_a_model_that_cannot_be_initialised_costs_that_control_alone(
    fails_at: int,
    catalogue: Catalogue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def untrained(self: planted_parts.Walker, seed: int) -> planted_parts.Walker:
        made.append(seed)
        if len(made) > fails_at:
            raise ValueError("there is no configuration")
        return random_weights(self, seed)

    random_weights = planted_parts.Walker.untrained
    monkeypatch.setattr(planted_parts.Walker, "untrained", untrained)
    (maps,) = PLAN.probes
    plan = replace(
        PLAN,
        probes=(replace(maps, config={**maps.config, "epochs": 1}),),
        metrics=(Choice(name="success"),),
        episodes=8,
        initialisations=2,
    )
    result = evaluate(plan, tmp_path / "run", catalogue)
    assert len(made) == len(set(made)) == 2
    assert result.status == "partial"
    (failure,) = result.failures
    assert (
        failure.reason
        == "no model with random weights: ValueError: there is no configuration"
    )
    numbers = [
        one for one in result.measurements if one.name == "cogmap.distance.agent"
    ]
    assert {one.where["control"] for one in numbers} == {"none", *OF_NO_SWEEP} - {
        "untrained"
    }
    assert all(one.verdict is not None for one in numbers)
