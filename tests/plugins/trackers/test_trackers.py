"""Runs in W&B and MLflow: what is told, and that the real packages keep it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gde import Choice, How, Measurement, Plan, evaluate
from gde.data.json import Json
from gde.data.measure import Measure
from gde.data.verdict import Verdict
from gde.testing import check_reporter
from gde.testing.samples import sample_evidence, sample_plan, sample_result
from gde_plugins.trackers.config import MlflowConfig, WandbConfig
from gde_plugins.trackers.mlflow_tracker import STORE, MlflowTracker
from gde_plugins.trackers.tracking import Tracked, TrackingReporter, tracked
from gde_plugins.trackers.wandb_tracker import WandbTracker

VERDICT = Verdict(
    control="random",
    difference=0.5,
    interval=(0.2, 0.8),
    p=0.01,
    outcome="better",
    worlds=9,
)


class Memory:
    """Keeps runs in a list."""

    name = "memory"

    def __init__(self) -> None:
        self.runs: list[Tracked] = []

    def keep(self, run: Tracked, folder: Path) -> Mapping[str, Json]:
        self.runs.append(run)
        return {"id": len(self.runs), "folder": folder.name}


def test_headlines_intervals_verdicts_and_settings_are_told(tmp_path: Path) -> None:
    head = Measurement(
        name="head", value=0.75, unit="share", n=9, interval=(0.5, 0.9), verdict=VERDICT
    )
    absent = Measurement(name="gone", value=None, unit="share", n=0, reason="no turns")
    part = replace(head, where={"size": 7}, verdict=None)
    detail = Measurement(name="detail", value=3.0, unit="turns", n=9)
    measures = tuple(
        Measure(name=name, title=name, unit="share", headline=name != "detail")
        for name in ("head", "gone", "detail")
    )
    result = replace(
        sample_result(), measurements=(head, absent, part, detail), measures=measures
    )
    environment = Choice(name="grid", config={"size": 9})
    plan = replace(sample_plan(), environment=environment)
    found = tracked(plan, result, tmp_path)
    numbers = {name: found.numbers[name] for name in found.numbers if "." not in name}
    assert numbers == {"episodes": result.subject.episodes, "head": 0.75}
    assert found.numbers["head.low"] == 0.5 and found.numbers["head.p"] == 0.01
    assert found.tags["head"] == "better"
    assert found.settings["env"] == "grid" and found.settings["env.size"] == 9
    assert found.page is None


def test_every_control_keeps_its_own_verdict(tmp_path: Path) -> None:
    """Else the last would stand for all."""
    controls = {"untrained": "better", "shuffled": "worse"}
    measured = []
    for control, outcome in controls.items():
        verdict = replace(VERDICT, outcome=outcome)  # type: ignore[arg-type]
        one = Measurement(
            name="head", value=0.5, unit="share", n=9, where={"control": control}
        )
        measured.append(replace(one, verdict=verdict))
    result = replace(sample_result(), measurements=tuple(measured))
    found = tracked(sample_plan(), result, tmp_path)
    for control, outcome in controls.items():
        assert found.tags[f"head.control-{control}"] == outcome
    assert "head" not in found.tags


def test_the_note_says_where_the_run_is_kept(tmp_path: Path) -> None:
    tracker = Memory()
    (tmp_path / "report.html").write_text("<p>")
    note = TrackingReporter(tracker).render(
        sample_plan(), sample_result(), sample_evidence(), tmp_path
    )
    assert json.loads(note.read_text()) == {"id": 1, "folder": tmp_path.name}
    assert tracker.runs[0].page == tmp_path / "report.html"
    check_reporter(lambda: TrackingReporter(Memory()), tmp_path / "checked")


def played(tmp_path: Path, reporter: str) -> Path:
    plan = Plan(
        environment="grid",
        agent="noisy",
        metrics=["success"],
        episodes=6,
    )
    how = How(reporters=["html", reporter])
    assert evaluate(plan, tmp_path / "run", how=how).status == "ok"
    return tmp_path / "run"


def test_wandb_keeps_a_run_offline(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="`nox -s trackers` installs it")
    check_reporter(
        lambda: TrackingReporter(WandbTracker(WandbConfig())), tmp_path / "c"
    )
    run = played(tmp_path, "wandb")
    note = json.loads((run / "wandb.json").read_text())
    kept = run / "wandb" / note["folder"]
    (record,) = kept.glob("*.wandb")
    assert b"success" in record.read_bytes() and note["id"] in kept.name


@pytest.mark.filterwarnings("ignore:The ``noload`` loader")
def test_mlflow_keeps_a_run_in_a_store(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="`nox -s trackers` installs it")
    check_reporter(
        lambda: TrackingReporter(MlflowTracker(MlflowConfig())), tmp_path / "c"
    )
    run = played(tmp_path, "mlflow")
    note = json.loads((run / "mlflow.json").read_text())
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{run / STORE}")
    kept = client.get_run(note["id"])
    assert kept.info.status == "FINISHED" and kept.data.params["agent"] == "noisy"
    assert 0 < kept.data.metrics["success"] <= 1 and kept.data.tags["status"] == "ok"
    assert [each.path for each in client.list_artifacts(note["id"])] == ["report.html"]
