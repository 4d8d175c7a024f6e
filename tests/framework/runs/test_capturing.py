"""Activations are captured where the executor works, and are the same everywhere."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, How, Plan, evaluate, load_evidence, probe, resume
from gde.errors import RunFailed
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs import capturing
from gde.store.folder import RunFolder
from gde.testing.parts import PlantedModel

KNOWN = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
PLAN = Plan(
    environment=Choice(name="corridor", config={"length": 6}),
    agent="asking",
    probes=("moves",),
    metrics=("success",),
    episodes=20,
)
ELSEWHERE = How(executor="processes")


def files(run: Path) -> dict[str, bytes]:
    folder = RunFolder.open(run).activations
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def refused(*_given: Any) -> Any:
    raise AssertionError("captured in this process")


def test_workers_make_what_one_process_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capturing, "TURNS", 16)
    here = evaluate(PLAN, tmp_path / "here", KNOWN)
    monkeypatch.setattr(PlantedModel, "capture", refused)
    there = evaluate(PLAN, tmp_path / "there", KNOWN, how=ELSEWHERE)
    assert here.status == there.status == "ok"
    assert there.measurements == here.measurements
    assert len(files(tmp_path / "here")) > 2
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_a_stopped_capture_goes_on_and_captures_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capturing, "TURNS", 8)
    whole = evaluate(PLAN, tmp_path / "whole", KNOWN)
    captured = PlantedModel.capture
    n_replayed: list[int] = []

    def stopping(self: PlantedModel, sequences: Any, request: Any) -> Any:
        n_replayed.append(len(sequences))
        if len(n_replayed) == 3:
            raise RunFailed("stopped")
        return captured(self, sequences, request)

    monkeypatch.setattr(PlantedModel, "capture", stopping)
    with pytest.raises(RunFailed):
        evaluate(PLAN, tmp_path / "run", KNOWN)
    assert resume(tmp_path / "run", KNOWN).measurements == whole.measurements
    assert max(n_replayed) == 8


def test_what_is_stored_takes_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(PLAN, tmp_path / "run", KNOWN)
    monkeypatch.setattr(PlantedModel, "capture", refused)
    found = probe(tmp_path / "run", [Choice(name="moves", alias="again")], KNOWN)
    assert found.status == "ok"
    names = {
        one.fit.probe for one in load_evidence(tmp_path / "run", KNOWN).probe_reports
    }
    assert names == {"moves", "again"}
    with pytest.raises(AssertionError, match="in this process"):
        evaluate(replace(PLAN, seed=1), tmp_path / "another", KNOWN)
