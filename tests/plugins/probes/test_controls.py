"""Every control of a probe, end to end on a planted model: it must find nothing where
the trained fit finds the map.

The stream of `walker` holds the places of agent and goal. With random weights, zeros or
labels of other worlds it holds none, so each control must fall by a known amount. A
control that is secretly the trained fit, or that is given other data than its
definition says, fails here.
"""

from collections.abc import Iterator, Sequence
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
from gde.numerics.controls import DRAWS, MANY
from gde.request.catalogue import Catalogue
from gde.seeding import derive
from gde.stages.controls import EXCHANGES
from gde.stages.fits import untrained_sources
from gde.store.activations import Row
from gde_plugins.probes.maps.probe import CogmapProbe

SIDE, LAYER, POSITION = 7, 1, "pre"
OF_NO_SWEEP = [control for control in CONTROLS if control != "conditions"]
BLIND = [control for control in OF_NO_SWEEP if control != "prompt"]
"""Controls that do not see the map."""
INITIALISATIONS = 6
CHANCE = 1 / (SIDE - 2) ** 2
"""Share of free cells that a guess finds."""
PLAN = Plan(
    environment=Choice(name="grid", config={"size": SIDE, "density": 0.6}),
    agent=Choice(name="gpt-oss", config={"model": "walker"}),
    probes=(
        Choice(
            name="cogmap",
            config={"layer": LAYER, "positions": [POSITION], "size": SIDE},
        ),
    ),
    metrics=(Choice(name="maps"), Choice(name="beliefs")),
    episodes=60,
    initialisations=INITIALISATIONS,
    learning=False,
)


class Probed:
    """A run, and the data that its probes were fitted to and scored on, draw by draw."""

    def __init__(
        self, result: Result, evidence: Evidence, given: dict[str, list[ProbeDataset]]
    ) -> None:
        self.result = result
        self.evidence = evidence
        self.train: dict[str, list[ProbeDataset]] = {}
        self.test: dict[str, list[ProbeDataset]] = {}
        self.reports: dict[str, ProbeReport] = {}
        # Fits follow each other in the order of the reports, and each is scored after
        # it was fitted.
        fitted, scored = iter(given["fit"]), iter(given["score"])
        for report in evidence.probe_reports:
            control = report.fit.control
            draws = range(1 + len(report.further))
            self.train[control] = [next(fitted) for _ in draws]
            self.test[control] = [next(scored) for _ in draws]
            self.reports[control] = report
        assert not [*fitted, *scored]

    def value(self, name: str, control: str, label: str = "control") -> float:
        (found,) = [
            one
            for one in self.result.measurements
            if one.name == name and one.where.get(label) == control
        ]
        assert found.value is not None, found.reason
        return found.value

    @property
    def rows(self) -> Sequence[Row]:
        """The turns that the trained fit was fitted to, found by their activations."""
        row_of = {}
        for row, stream in replayed(self.evidence, planted_parts.Walker()).items():
            row_of[stream.tobytes()] = row
        (train,) = self.train["none"]
        return [row_of[stream.tobytes()] for stream in train.inputs]


def replayed(
    evidence: Evidence, model: planted_parts.Walker
) -> dict[Row, NDArray[np.float32]]:
    """(D,) what a model leaves in every turn, replayed here without the stages of a
    run.
    """
    sequences = {}
    for one in evidence.trajectories:
        for turn in one.turns:
            completion = turn.decision.completion
            assert completion is not None
            tokens = completion.prompt_tokens + completion.tokens
            sequences[str(one.key), turn.index] = TokenSequence(
                tokens=tokens, positions=completion.positions
            )
    request = CaptureRequest(layers=(LAYER,), positions=(POSITION,))
    records = model.capture([*sequences.values()], request)
    streams = [record.values[LAYER, POSITION].ravel() for record in records]
    return dict(zip(sequences, streams, strict=True))


@pytest.fixture(scope="module", params=["one", "all"])
def turns(request: pytest.FixtureRequest) -> str:
    """Turns of each world that count."""
    return str(request.param)


@pytest.fixture(scope="module")
def probed(
    catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory, turns: str
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

    (maps,) = PLAN.probes
    assert isinstance(maps, Choice)
    maps = replace(maps, config={**maps.config, "turns": turns})
    folder: Path = tmp_path_factory.mktemp("controls") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CogmapProbe, "fit", recorded_fit)
        patch.setattr(CogmapProbe, "score", recorded_score)
        plan = replace(PLAN, probes=(maps,))
        result = evaluate(plan, folder, catalogue, how=How(concurrency=1))
    assert result.status == "ok", result.failures
    yield Probed(result, load_evidence(folder, catalogue), given)


def test_the_trained_fit_finds_what_is_planted_and_reads_the_model(
    probed: Probed,
) -> None:
    for thing in ("agent", "goal"):
        assert probed.value(f"cogmap.top1.{thing}", "none") > 0.9
    held_out = {*probed.reports["none"].rows}
    assert not held_out & {*probed.rows}


def test_of_each_world_one_random_turn_counts_or_all(
    probed: Probed, turns: str
) -> None:
    train, test = (each["none"][0] for each in (probed.train, probed.test))
    every = {*replayed(probed.evidence, planted_parts.Walker())}
    report = probed.reports["none"]
    # Maps are decoded in all held-out turns.
    assert {*report.rows} | {*probed.rows} <= every
    assert {row[0] for row in every} == {row[0] for row in (*report.rows, *probed.rows)}
    counts = np.isfinite(report.scores["top1.agent"][0])
    assert (report.n_train, report.n_test) == (len(probed.rows), counts.sum())
    if turns == "all":
        assert {*report.rows} | {*probed.rows} == every
        assert counts.all()
        return
    for data in (train, test):
        assert len({*data.groups}) == len(data.groups)
    assert sorted(np.array(report.worlds)[counts]) == sorted({*report.worlds})
    # Neither always the first turn nor always the last.
    last = {
        episode: max(i for each, i in every if each == episode) for episode, _ in every
    }
    assert sum(i > 0 for _, i in probed.rows) > 0
    assert sum(i < last[episode] for episode, i in probed.rows) > 0


def test_the_tokens_of_the_prompt_show_the_map(probed: Probed) -> None:
    for thing in ("agent", "goal"):
        assert probed.value(f"cogmap.top1.{thing}", "prompt") > CHANCE + 0.3


@pytest.mark.parametrize("control", BLIND)
def test_every_control_without_it_loses_the_map(probed: Probed, control: str) -> None:
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


@pytest.mark.parametrize(
    ("control", "draws"),
    [("no_activations", 1), ("shuffled", EXCHANGES), ("untrained", INITIALISATIONS)],
)
def test_the_probe_is_called_better_than_every_draw_of_a_control(
    probed: Probed, control: str, draws: int
) -> None:
    found = {}
    for one in probed.result.measurements:
        if one.source == "cogmap" and one.where["control"] == control and one.verdict:
            found[one.name] = one.verdict
    assert found.keys() == {"cogmap.top1.agent", "cogmap.top1.goal"}
    for verdict in found.values():
        assert verdict.draws == draws
        assert verdict.outside is (None if draws == 1 else True)
        assert verdict.assumes == ("" if draws == 1 else "normal")
        assert verdict.outcome == "better"
    assert len(probed.reports[control].further) == draws - 1
    for name, scores in probed.reports[control].scores.items():
        assert len(scores) == draws, name


def test_all_controls_hold_out_the_same_turns_and_score_them_on_their_true_maps(
    probed: Probed, turns: str
) -> None:
    (own,), (train,) = probed.test["none"], probed.train["none"]
    assert not {*own.groups} & {*train.groups}
    ours = probed.reports["none"]
    counts = np.isfinite(ours.scores["top1.agent"][0])
    for control in OF_NO_SWEEP:
        report = probed.reports[control]
        if control == "untrained" and turns == "one":
            # Random weights are read in the turns that count alone.
            counting = [ours.rows[i] for i in np.flatnonzero(counts)]
            assert [*report.rows] == counting
        else:
            assert report.rows == ours.rows
        for test, fitted in zip(
            probed.test[control], probed.train[control], strict=True
        ):
            assert np.array_equal(test.labels, own.labels)
            assert np.array_equal(test.groups, own.groups)
            assert np.array_equal(fitted.groups, train.groups)


def test_random_weights_are_those_of_the_same_architecture_under_the_seed_of_the_run(
    probed: Probed,
) -> None:
    (own,) = probed.train["none"]
    sources = untrained_sources(INITIALISATIONS)
    for source, train in zip(sources, probed.train["untrained"], strict=True):
        walker = planted_parts.Walker().untrained(derive(PLAN.seed, source))
        streams = replayed(probed.evidence, walker)
        expected = np.stack([streams[row] for row in probed.rows])
        assert np.array_equal(train.inputs, expected)
        assert np.array_equal(train.labels, own.labels)
    first, second, *_ = probed.train["untrained"]
    assert not np.array_equal(first.inputs, second.inputs)


def test_shuffled_labels_are_those_of_other_training_worlds_and_of_no_held_out_one(
    probed: Probed, turns: str
) -> None:
    (own,), (own_test,) = probed.train["none"], probed.test["none"]
    maps = [one.tobytes() for one in own.labels]
    worlds_with: dict[bytes, set[str]] = {}
    for one, world in zip(maps, own.groups.tolist(), strict=True):
        worlds_with.setdefault(one, set()).add(world)

    taken = []
    for train, test in zip(
        probed.train["shuffled"], probed.test["shuffled"], strict=True
    ):
        assert np.array_equal(train.inputs, own.inputs)
        assert np.array_equal(test.inputs, own_test.inputs)
        same = (train.labels == own.labels).all(axis=(1, 2)).mean()
        assert same < 0.2
        given: dict[str, set[str]] = {}
        for labels, world in zip(train.labels, own.groups.tolist(), strict=True):
            possible = worlds_with[labels.tobytes()]
            given[world] = given.get(world, possible) & possible
        # All turns of a world have maps of one other world, and all worlds are used.
        assert all(len(each) == 1 for each in given.values())
        assert set.union(*given.values()) == {*own.groups}
        taken.append([*map(min, given.values())])
        if turns == "one":
            assert sorted(one.tobytes() for one in train.labels) == sorted(maps)
    assert len({*map(tuple, taken)}) == EXCHANGES


def test_without_activations_every_map_is_decoded_alike(probed: Probed) -> None:
    for data in (probed.train, probed.test):
        (without,), (own,) = data["no_activations"], data["none"]
        assert not without.inputs.any()
        assert without.inputs.shape == own.inputs.shape
        assert np.array_equal(without.labels, own.labels)
    decoded = probed.reports["no_activations"].decoded
    assert (decoded == decoded[0]).all()
    ours = probed.reports["none"].decoded
    assert not (ours == ours[0]).all()


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
    plan = replace(
        PLAN,
        metrics=(Choice(name="success"),),
        episodes=20,
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
    numbers = [one for one in result.measurements if one.name == "cogmap.top1.agent"]
    assert {one.where["control"] for one in numbers} == {"none", *OF_NO_SWEEP} - {
        "untrained"
    }
    assert all(one.verdict is not None for one in numbers)


def test_a_probe_of_one_turn_and_one_of_all_turns_have_draws_of_their_own(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    """Random weights are read in all turns as often as the second needs them."""
    (maps,) = PLAN.probes
    distance = Choice(
        name="distance",
        config={"variants": ["linear"], "layer": LAYER, "positions": [POSITION]},
    )
    plan = replace(
        PLAN,
        probes=(maps, distance),
        metrics=(Choice(name="success"),),
        episodes=24,
        initialisations=None,
    )
    result = evaluate(plan, tmp_path / "run", catalogue)
    assert result.status == "ok", result.failures
    drawn = {}
    for one in result.measurements:
        if one.verdict is not None and one.where["control"] == "untrained":
            drawn[one.source] = one.verdict.draws
    assert drawn == {"cogmap": MANY, "distance": DRAWS}
    for report in load_evidence(tmp_path / "run", catalogue).probe_reports:
        if report.fit.control == "untrained":
            assert all(each.shape == report.decoded.shape for each in report.further)
