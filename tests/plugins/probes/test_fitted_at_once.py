"""Several threads learn what one does, to the byte, and none of them is left when a run
is interrupted.
"""

from dataclasses import replace
from pathlib import Path
from threading import current_thread, enumerate
from typing import Any

import pytest

from gde import Choice, How, Plan, evaluate, load_evidence, resume
from gde.request.catalogue import Catalogue
from gde.runs import probing
from gde_plugins.probes.maps.probe import CogmapProbe

MAPS = {
    "size": 5,
    "epochs": 1,
    "hidden": 8,
    "layer": [0, 1],
    "variants": ["places", "mlp", "linear", "bilinear", "ridge"],
}
PLAN = Plan(
    environment=Choice(name="grid", config={"size": 5}),
    agent=Choice(name="gpt-oss", config={"model": "walker"}),
    probes=(
        Choice(name="cogmap", config={**MAPS, "positions": ["pre"]}),
        Choice(name="distance", config={"layer": 1, "positions": ["pre"]}),
    ),
    metrics=(Choice(name="success"),),
    episodes=9,
    initialisations=2,
)


@pytest.fixture(scope="module")
def alone(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run with one fit at a time."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    evaluate(PLAN, folder, catalogue, how=How(concurrency=1))
    return folder


def learned(run: Path) -> tuple[dict[str, bytes], list[Any]]:
    reports = load_evidence(run).probe_reports
    told = [(one.fit, one.measurements, one.rows, one.reason) for one in reports]
    return {
        path.name: path.read_bytes() for path in sorted((run / "probes").iterdir())
    }, told


@pytest.fixture
def fitting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who fits maps, fit by fit, with three cores."""
    monkeypatch.setattr(probing, "cores", lambda: 3)
    seen, fit = [], CogmapProbe.fit

    def noted(self: CogmapProbe, *given: Any) -> Any:
        seen.append(current_thread().name.partition("_")[0])
        return fit(self, *given)

    monkeypatch.setattr(CogmapProbe, "fit", noted)
    return seen


@pytest.mark.extended
def test_two_threads_learn_what_one_does(
    catalogue: Catalogue, alone: Path, tmp_path: Path, fitting: list[str]
) -> None:
    result = evaluate(PLAN, tmp_path / "run", catalogue)
    assert result.status == "ok"
    assert set(fitting) == {"gde-fit"}
    assert learned(tmp_path / "run") == learned(alone)
    assert len(learned(alone)[1]) == 5 * (5 + 3) + 2 * 5


def test_a_run_that_asks_for_one_at_a_time_gets_it(
    catalogue: Catalogue, tmp_path: Path, fitting: list[str]
) -> None:
    maps = {**MAPS, "layer": 1, "variants": ["linear"], "positions": ["pre"]}
    plan = replace(
        PLAN,
        probes=(Choice(name="cogmap", config=maps),),
        initialisations=1,
        learning=False,
    )
    evaluate(plan, tmp_path / "run", catalogue, how=How(concurrency=1))
    assert set(fitting) == {"MainThread"}


@pytest.mark.extended
def test_an_interrupted_run_goes_on_and_ends_as_if_undisturbed(
    catalogue: Catalogue,
    alone: Path,
    tmp_path: Path,
    fitting: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = CogmapProbe.fit

    def interrupted(self: CogmapProbe, *given: Any) -> Any:
        if len(fitting) >= 14:
            raise KeyboardInterrupt
        return fit(self, *given)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(CogmapProbe, "fit", interrupted)
        evaluate(PLAN, tmp_path / "run", catalogue)
    assert not [thread for thread in enumerate() if thread.name.startswith("gde-fit")]
    assert [*(tmp_path / "run" / "probes").glob("*.decoded.safetensors")]
    resume(tmp_path / "run", catalogue)
    assert learned(tmp_path / "run") == learned(alone)
