"""A run goes on with the versions that it began with; what else changes is noted."""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from whole_plan import whole_plan

from gde import GdeError, How, Plan, Result, evaluate, probe, rescore, resume
from gde.before.preparing import prepare
from gde.errors import RunFailed
from gde.request import versions
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.provenance import provenance
from gde.runs.sharing import Sharing, shares
from gde.runs.stopping import Stop
from gde.store.folder import RunFolder
from gde.store.probes import made_by

# Both are interrupted after the number of episodes that STOP_AFTER says.
TURNING = """
import os
import numpy as np
from gde import FunctionAgent
from gde.data.reward import Rewards
from gde.errors import RunFailed
from gde.hookspecs import hookimpl
from gde.offers import NoConfig, Offer

begun = []

def stop_in_time(kind):
    begun.append(kind)
    if os.environ.get("STOP_AFTER") == f"{begun.count(kind) - 1} {kind}":
        raise RunFailed("stopped")

def make(config, context):
    stop_in_time("episodes")
    return FunctionAgent(lambda observation: "RIGHT")

@hookimpl
def gde_agents():
    return [Offer(name="turning", summary="Turns.", config=NoConfig, make=make, version=VERSION)]

class Even:
    def __init__(self, context):
        # What keeps its context judges in the process of the run, which it stops here.
        self.context = context

    async def rewards(self, transcript):
        stop_in_time("rewards")
        return Rewards(values=np.zeros(len(transcript.steps)))

@hookimpl
def gde_reward_models():
    make = lambda config, context: Even(context)
    return [Offer(name="even", summary="All are 0.", config=NoConfig, make=make, version=VERSION)]
"""
PLAN = Plan(
    environment="corridor",
    agent="turning",
    metrics=["success"],
    rewards=["even"],
    episodes=6,
)
HOW = How(reporters=["html"], concurrency=1)
Install = Callable[[int], Catalogue]
Begin = Callable[[str], Path]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    # Two versions of a file within a second are one to Python's cache, here and in the
    # processes of reward models.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return folder


@pytest.fixture
def install(site: Path) -> Install:
    """Install a version of the plugin."""

    def installed(version: int) -> Catalogue:
        text = TURNING.replace("VERSION", str(version))
        (site / "turning_plugin.py").write_text(text)
        sys.modules.pop("turning_plugin", None)
        importlib.invalidate_caches()
        modules = ("gde.testing.plugin", "turning_plugin")
        return Catalogue(load_plugins(modules=modules))

    return installed


@pytest.fixture
def begin(tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Begin a run with version 1, and interrupt it when so much is done."""

    def begun(done: str) -> Path:
        with monkeypatch.context() as patch, pytest.raises(RunFailed, match="stopped"):
            patch.setenv("STOP_AFTER", done)
            evaluate(PLAN, tmp_path / "run", install(1), how=HOW)
        return tmp_path / "run"

    return begun


def finished(run: Path) -> int:
    with closing(RunFolder.open(run).journal()) as journal:
        return len(journal.finished())


def values(result: Result) -> list[Any]:
    return [(one.name, one.where, one.value, one.n) for one in result.measurements]


def test_a_comment_resumes(tmp_path: Path, site: Path, install: Install) -> None:
    undisturbed = evaluate(PLAN, tmp_path / "undisturbed", install(1), how=HOW)
    run = tmp_path / "run"
    (tmp_path / "plan.toml").write_bytes(
        (tmp_path / "undisturbed/plan.toml").read_bytes()
    )

    def gde(*words: str, **variables: str) -> int:
        own = {
            "PYTHONPATH": str(site),
            "GDE_LOAD_PLUGINS": "gde.testing.plugin,turning_plugin",
        }
        command = [sys.executable, "-m", "gde", *words, str(run)]
        environment = {**os.environ, **own, **variables}
        return subprocess.run(
            command, env=environment, capture_output=True, check=False
        ).returncode

    plan = str(tmp_path / "plan.toml")
    assert (
        gde(
            "eval",
            "--plan",
            plan,
            "--concurrency",
            "1",
            "--out",
            STOP_AFTER="2 episodes",
        )
        == 3
    )
    assert finished(run) == 2
    source = site / "turning_plugin.py"
    source.write_text(f"# a comment\n{source.read_text()}")
    assert gde("resume") == 0
    assert values(RunFolder.open(run).read_result()) == values(undisturbed)


def test_a_raised_version_does_not_go_on(begin: Begin, install: Install) -> None:
    run = begin("2 episodes")
    with pytest.raises(GdeError) as refused:
        resume(run, install(2))
    assert str(refused.value) == (
        "agent turning: episodes of this run were made by turning_plugin:turning v1, here is"
        " turning_plugin:turning v2: restore it (turning_plugin), or start a new run"
    )
    assert finished(run) == 2


def test_raised_stages_do_not_go_on(
    begin: Begin, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin("2 episodes")
    began = versions.VERSION_OF_STAGES
    raise_stages(monkeypatch)
    refused = (
        rf"^gde: episodes .* gde-eval:stages v{began}, .* v{began + 1}: restore it"
        r" \(gde-eval \d.*\), or"
    )
    with pytest.raises(GdeError, match=refused):
        resume(run, install(1))


def raise_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    raised = versions.VERSION_OF_STAGES + 1
    monkeypatch.setattr(versions, "VERSION_OF_STAGES", raised)


def test_other_software_is_noted(
    begin: Begin, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin("2 episodes")

    def elsewhere(*args: Any) -> dict[str, Any]:
        return {**provenance(*args), "commit": "another", "packages": {"numpy": "0"}}

    monkeypatch.setattr("gde.runs.pipeline.provenance", elsewhere)
    result = resume(run, install(1))
    other = {"commit": "another", "packages": {"numpy": "0"}}
    assert result.provenance["resumed_with"] == [other]
    (success,) = result.measurements
    assert (success.value, success.n) == (1.0, 6)


def test_nothing_is_noted_of_the_same_software(begin: Begin, install: Install) -> None:
    assert "resumed_with" not in resume(begin("2 episodes"), install(1)).provenance


def test_a_finished_run_is_scored_by_todays_version(
    begin: Begin, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin("2 episodes")
    first = resume(run, install(1))
    raise_stages(monkeypatch)
    again = rescore(run, catalogue=install(2))
    assert values(again) == values(first)
    parts: Any = again.provenance["parts"]
    began: Any = again.provenance["rolled_out_with"]
    assert parts["gde"] == f"gde-eval:stages v{versions.VERSION_OF_STAGES}"
    assert parts["agent turning"] == "turning_plugin:turning v2"
    assert began["parts"]["agent turning"] == "turning_plugin:turning v1"


def test_kept_numbers_keep_the_versions_of_their_metrics(
    begin: Begin, install: Install
) -> None:
    run = begin("2 episodes")
    resume(run, install(1))
    added: Any = rescore(run, ["length"], install(1)).provenance["parts"]
    assert {"metric success", "metric length"} <= added.keys()


def test_a_worker_with_another_version_is_refused(
    begin: Begin, install: Install
) -> None:
    run = begin("2 episodes")
    ready = prepare(PLAN, install(1))
    with closing(RunFolder.open(run).journal()) as journal:
        (share,) = shares(ready, ((),), journal, 1)
    elsewhere = replace(share, ready=prepare(PLAN, install(2)))
    work = Sharing(run / "run.sqlite", Stop())
    refused = (
        "agent turning: the run has turning_plugin:turning v1, its worker on .* has"
    )
    for ask in (None, print):
        with pytest.raises(GdeError, match=refused):
            work(elsewhere, ask)
    assert finished(run) == 2


def test_rewards_that_are_left_are_of_the_version_of_the_others(
    begin: Begin, install: Install
) -> None:
    run = begin("2 rewards")
    refused = "reward model even: rewards of this run were made by turning_plugin:even v1, here is"
    with pytest.raises(GdeError, match=refused):
        resume(run, install(2))
    assert resume(run, install(1)).status == "ok"


def test_rewards_that_have_not_begun_are_of_todays_version(
    begin: Begin, install: Install
) -> None:
    assert resume(begin("0 rewards"), install(2)).status == "ok"


def test_fits_of_another_version_are_made_anew(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Path(evaluate(whole_plan(6), tmp_path / "run", catalogue).run)

    def fits() -> dict[str, str]:
        with closing(RunFolder.open(run).journal()) as journal:
            return made_by(journal)

    before = fits()
    probe(run, catalogue=catalogue)
    assert fits() == before
    raise_stages(monkeypatch)
    probe(run, catalogue=catalogue)
    assert fits().keys() == before.keys()
    assert not fits().items() & before.items()


def test_activations_are_of_the_version_that_answered(
    tmp_path: Path,
) -> None:
    plan = whole_plan(6)
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin", "odd_parts")))
    run = evaluate(replace(plan, probes=()), tmp_path / "run", catalogue).run
    model = catalogue.find("language_model", "planted")
    object.__setattr__(model.offer, "version", 2)
    refused = (
        "language model planted: episodes of this run were made by .* v1, here is .* v2"
    )
    with pytest.raises(GdeError, match=refused):
        probe(run, plan.probes, catalogue)
