"""Runs under interventions, and probes of single tokens: journaled apart, not asked
again, replayed, loaded again.
"""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forging import forge

from gde import Choice, GdeError, Plan, Result, load_evidence, resume
from gde.request.catalogue import Catalogue
from gde.runs.evaluating import evaluate
from gde.runs.exporting import export
from gde.store.activations import ActivationStore, Row
from gde.store.folder import RunFolder
from gde.testing.parts import PlantedModel

WIDTH = 2880
LENGTHS = [3, 6]


def plan(
    agent: str = "steering", settings: dict[str, Any] | None = None, **config: Any
) -> Plan:
    """In corridors of two lengths, whose messages have 5 and 8 tokens."""
    return Plan(
        environment=Choice(name="corridor", config={"length": LENGTHS}),
        agent=Choice(name=agent, config=config),
        models=(Choice(name="", config=settings or {}),),
        metrics=(Choice(name="success"),),
        episodes=6,
    )


def probed(agent: str = "asking", episodes: int = 20, **config: Any) -> Plan:
    chosen = Choice(name="moves", config=config)
    return replace(plan(agent), probes=(chosen,), episodes=episodes)


def values(result: Result, name: str, **where: object) -> list[float | None]:
    return [
        each.value
        for each in result.measurements
        if each.name == name and where.items() <= each.where.items()
    ]


def actions(run: Path) -> set[str | None]:
    return {
        turn.decision.action
        for one in load_evidence(run).trajectories
        for turn in one.turns
    }


def requests(run: Path) -> set[str]:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        return {
            request for (request,) in connection.execute("SELECT request FROM calls")
        }


def stored(run: Path, source: str, layer: int, position: str = "pre") -> dict[Row, Any]:
    """(tokens, width) activations of every turn."""
    folder = RunFolder.open(run)
    with closing(folder.journal()) as journal:
        table = ActivationStore(folder.activations, journal).table(
            source, layer, position
        )
    assert table is not None
    return dict(
        zip(
            table.rows,
            np.split(table.values[:], np.cumsum(table.lengths)[:-1]),
            strict=True,
        )
    )


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "LEFT"),
        ({"layer": 1}, "LEFT"),
        ({"layer": -1}, "LEFT"),
        ({"kind": "replace"}, "LEFT"),
        ({"strength": 0.5}, "RIGHT"),
        ({"strength": -2.0}, "RIGHT"),
        ({"kind": "project_out"}, "RIGHT"),
        ({"position": "message"}, "RIGHT"),
    ],
    ids=str,
)
def test_the_planted_model_is_turned_by_its_causal_direction_alone(
    tmp_path: Path, catalogue: Catalogue, config: dict[str, Any], says: str
) -> None:
    result = evaluate(plan(**config), tmp_path / "run", catalogue)
    assert result.status == "ok"
    assert actions(tmp_path / "run") == {says}
    assert values(result, "success", length=3) == [float(says == "RIGHT")]


def test_vectors_that_differ_in_one_entry_of_2880_are_different_requests(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    vector = np.linspace(-1, 1, WIDTH, dtype=np.float32)
    nudged = vector.copy()
    nudged[1234] = np.nextafter(nudged[1234], np.float32(2))
    for name, each in (("one", vector), ("again", vector), ("other", nudged)):
        steered = plan(settings={"width": WIDTH}, vector=each.tolist(), strength=1.0)
        evaluate(steered, tmp_path / name, catalogue)
    one, again, other = (
        requests(tmp_path / name) for name in ("one", "again", "other")
    )
    assert one == again
    assert len(one) == len(other)
    assert not one & other


def test_the_record_says_what_each_answer_was_made_with_and_keeps_it_once(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    evaluate(plan(), tmp_path / "run", catalogue)
    turns = [
        turn
        for one in load_evidence(tmp_path / "run").trajectories
        for turn in one.turns
    ]
    completions = [
        turn.decision.completion for turn in turns if turn.decision.completion
    ]
    assert len(completions) == len(turns)
    (change,) = {
        each for completion in completions for each in completion.interventions
    }
    assert (change.layer, change.position, change.kind) == (0, "pre", "add")
    assert np.array_equal(change.vector, 2 * PlantedModel().turning)
    assert len({id(each) for one in completions for each in one.interventions}) == 1, (
        "one vector, one array in memory"
    )
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM interventions").fetchone() == (
            1,
        )
    text = StringIO()
    assert export(tmp_path / "run", "jsonl", text) == 12
    assert '"kind": "add"' in text.getvalue()


def test_what_was_answered_under_interventions_is_not_asked_again(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    log, run = tmp_path / "asked.log", tmp_path / "run"
    evaluate(plan(settings={"log": str(log)}, model="logged"), run, catalogue)
    asked, before = log.read_text(), [*load_evidence(run).trajectories]
    assert asked
    # As if it had been killed after the first turns.
    forge(
        run,
        "DELETE FROM turns WHERE turn > 0",
        "UPDATE episodes SET ending = NULL",
    )
    resume(run, catalogue=catalogue)
    assert log.read_text() == asked
    assert [*load_evidence(run).trajectories] == before


def test_a_model_that_takes_none_is_refused_before_anything_runs(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    with pytest.raises(
        GdeError,
        match="steering needs an agent whose language model accepts interventions",
    ):
        evaluate(plan(model="blackbox"), tmp_path / "run", catalogue)
    assert not (tmp_path / "run").exists()


def test_activations_are_those_under_which_the_model_spoke(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    for agent in ("asking", "steering"):
        evaluate(
            probed(agent, episodes=4, position="pre", layer=[0, 1]),
            tmp_path / agent,
            catalogue,
        )
    vector = 2 * PlantedModel().turning
    first = [
        (f"{condition}/{world}/0", 0) for condition in range(2) for world in range(4)
    ]  # later turns differ
    for source in ("model", "untrained"):
        for layer in (0, 1):
            plain, steered = (
                stored(tmp_path / agent, source, layer)
                for agent in ("asking", "steering")
            )
            for row in first:
                assert steered[row] - plain[row] == pytest.approx(
                    np.tile(vector, (3, 1)), abs=1e-3
                )


@pytest.fixture(scope="module")
def decoded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A run whose messages have 9 or 14 tokens, read one by one at two layers."""
    from gde.request.catalogue import load_plugins

    run = tmp_path_factory.mktemp("decoded") / "run"
    known = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    longer = Choice(name="corridor", config={"length": [7, 12]})
    return run, evaluate(replace(probed(layer=[0, 1]), environment=longer), run, known)


def test_tokens_of_ragged_positions_are_decoded_beside_every_control(
    decoded: tuple[Path, Result],
) -> None:
    run, result = decoded
    assert result.status == "ok"
    assert {len(tokens) for tokens in stored(run, "model", 0, "message").values()} == {
        9,
        14,
    }
    for layer in (0, 1):
        own = values(result, "moves.accuracy", layer=layer, control="none")
        assert all(each is not None and each > 0.9 for each in own), (
            "of the whole and of each length"
        )
        (shuffled,) = values(result, "moves.accuracy", layer=layer, control="shuffled")
        assert shuffled is not None and shuffled < 0.8
        # The texts of test worlds occur in training worlds: random weights tell them
        # apart as well.
        assert None not in values(
            result, "moves.accuracy", layer=layer, control="untrained"
        )
    for control in ("no_activations", "conditions"):
        (blind,) = values(result, "moves.accuracy", control=control)
        assert blind is not None and blind < 0.8
    reports = load_evidence(run).probe_reports
    n_fits = {report.fit.control: 1 + len(report.further) for report in reports}
    assert n_fits == {
        "none": 1,
        "no_activations": 1,
        "prompt": 1,
        "conditions": 1,
        "shuffled": 5,
        "untrained": 5,
    }
    for report in reports:
        assert not report.reason
        for decoded in (report.decoded, *report.further):
            assert decoded.shape == (report.n_test, 3, 3)


def test_positions_of_different_lengths_are_refused_side_by_side(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gde.testing.plan_probe import PlanProbe

    monkeypatch.setattr(PlanProbe, "inputs", "concatenated")
    result = evaluate(probed(episodes=4), tmp_path / "run", catalogue)
    (reason,) = {
        each.reason
        for each in load_evidence(tmp_path / "run").probe_reports
        if each.fit.control == "none"
    }
    assert (
        "wanted equally many tokens at the position in every turn, got 5 to 8" in reason
    )
    assert result.status == "partial"


AGAIN = """
import sys
from contextlib import closing
from pathlib import Path

import numpy as np

from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.stages.context import Resources
from gde.store.activations import ActivationStore
from gde.store.folder import RunFolder
from gde.store.probes import read_reports

folder = RunFolder.open(Path(sys.argv[1]))
with closing(folder.journal()) as journal:
    resources = Resources(resolve(folder.plan(), Catalogue.default()), journal, folder.probes)
    context = resources.context("metric", "any")
    store = ActivationStore(folder.activations, journal)
    for report in read_reports(journal, folder.probes):
        if report.fit.control == "none":
            table = store.table("model", report.fit.layer, report.fit.position)
            rows = [table.rows.index(row) for row in report.rows]
            predicted = context.readout(report.fit.probe, report.fit.name).predict(table.padded()[rows])
            print(report.fit.name, np.array_equal(predicted, report.decoded))
"""


def test_a_stored_readout_predicts_the_same_in_another_process(
    decoded: tuple[Path, Result],
) -> None:
    run, _ = decoded
    environment = {**os.environ, "GDE_LOAD_PLUGINS": "gde.testing.plugin"}
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, str(run)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [
        f"moves-ridge-layer{layer}-message-none True" for layer in (0, 1)
    ]
