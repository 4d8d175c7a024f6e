"""Rows say what code made them; other code neither goes on with a run nor works on it."""

import importlib
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gde import GdeError, Plan, Result, evaluate, load_evidence, rescore, resume
from gde.before.preparing import prepare
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.codes import digest_of_module
from gde.runs.sharing import DistantSharing, Sharing, shares
from gde.runs.stopping import Stop
from gde.store.folder import RunFolder

# It takes one action; the first version is interrupted in the third episode.
AGENT = """
import numpy as np
from gde import FunctionAgent
from gde.data.reward import Rewards
from gde.hookspecs import hookimpl
from gde.offers import NoConfig, Offer

begun = []

def make(config, context):
    begun.append(1)
    if "ACTION" == "LEFT" and len(begun) > 2:
        raise KeyboardInterrupt
    return FunctionAgent(lambda observation: "ACTION")

@hookimpl
def gde_agents():
    return [Offer(name="turning", summary="Turns.", config=NoConfig, make=make)]

judged = []

class Even:
    async def rewards(self, transcript):
        judged.append(1)
        if "ACTION" == "UP" and len(judged) > 2:
            raise KeyboardInterrupt
        return Rewards(values=np.zeros(len(transcript.steps)))

@hookimpl
def gde_reward_models():
    make = lambda config, context: Even()
    return [Offer(name="even", summary="All are 0.", config=NoConfig, make=make)]
"""
PLAN = Plan(
    environment="corridor",
    agent="turning",
    metrics=["success"],
    rewards=["oracle"],
    reporters=["html"],
    episodes=6,
    concurrency=1,
)
Install = Callable[[str], Catalogue]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install the version of a plugin whose agent takes an action."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def installed(action: str) -> Catalogue:
        (folder / "turning_plugin.py").write_text(AGENT.replace("ACTION", action))
        sys.modules.pop("turning_plugin", None)
        importlib.invalidate_caches()
        digest_of_module.cache_clear()
        modules = ("gde.testing.plugin", "turning_plugin")
        return Catalogue(load_plugins(modules=modules))

    return installed


@pytest.fixture
def begun(tmp_path: Path, install: Install) -> Path:
    """A run of six episodes of which the first version has played two."""
    with pytest.raises(KeyboardInterrupt):
        evaluate(PLAN, tmp_path / "run", install("LEFT"))
    return tmp_path / "run"


def success(result: Result) -> dict[str, float | None]:
    found = [one for one in result.measurements if one.name == "success"]
    return {str(one.where.get("code", "")): one.value for one in found}


def test_another_version_does_not_go_on(begun: Path, install: Install) -> None:
    other = install("RIGHT")
    refused = r"agent turning: episodes of this run were made by turning_plugin \(\w+\), here is turning_plugin \(\w+\)"
    with pytest.raises(GdeError, match=f"{refused}: restore it, .* --accept-code"):
        resume(begun, other)
    with closing(RunFolder.open(begun).journal(write=False)) as journal:
        assert len(journal.finished()) == 2


def test_every_row_says_its_code(begun: Path, install: Install) -> None:
    resume(begun, install("RIGHT"), accept_code=True)
    with closing(RunFolder.open(begun).journal(write=False)) as journal:
        for table, part in (
            ("episodes", "agent turning"),
            ("rewards", "reward model oracle"),
            ("measurements", "metric success"),
        ):
            for known in journal.codes(table).values():
                assert known["gde"][0] == "gde-eval"
                assert known[part][2]


def test_accepted_code_is_reported_apart(begun: Path, install: Install) -> None:
    result = resume(begun, install("RIGHT"), accept_code=True)
    found = success(result)
    assert sorted(found.values(), key=float) == [0.0, 4 / 6, 1.0]
    notice = str(result.provenance["notice"])
    assert notice.startswith("Different code played the episodes of this run")
    for label in found:
        assert label in notice
        assert label in (begun / "report.html").read_text()
    labels = [one.labels["code"] for one in load_evidence(begun).trajectories]
    assert labels == [labels[0]] * 2 + [labels[2]] * 4 and labels[0] != labels[2]

    # A run of two codes is none of a third, but its numbers can be made anew.
    assert success(rescore(begun, catalogue=install("UP"))) == found


def test_a_worker_with_another_version_is_refused(
    begun: Path, install: Install
) -> None:
    ready = prepare(PLAN, install("LEFT"))
    with closing(RunFolder.open(begun).journal()) as journal:
        (share,) = shares(ready, ((),), journal, 1)
    elsewhere = replace(share, ready=prepare(PLAN, install("RIGHT")))
    work = Sharing(begun / "run.sqlite", Stop(), None)
    refused = r"agent turning: the run has turning_plugin \(\w+\), its worker on .* has"
    for job in (work, lambda one: DistantSharing(work)(one, print)):
        with pytest.raises(GdeError, match=refused):
            job(elsewhere)
    with closing(RunFolder.open(begun).journal(write=False)) as journal:
        assert len(journal.finished()) == 2


def test_rewards_of_accepted_code_are_reported_apart(
    tmp_path: Path, install: Install
) -> None:
    plan = replace(PLAN, rewards=("even",))
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan, tmp_path / "run", install("UP"))
    refused = "reward model even: rewards of this run were made by turning_plugin"
    with pytest.raises(GdeError, match=refused):
        resume(tmp_path / "run", install("RIGHT"))

    result = resume(tmp_path / "run", install("RIGHT"), accept_code=True)
    apart = [one for one in result.measurements if "code of even" in one.where]
    counts = {
        str(one.where["code of even"]): one.n for one in apart if one.name == "success"
    }
    assert (len(counts), sum(counts.values())) == (2, 6)
    notice = str(result.provenance["notice"])
    assert "Different code judged (reward model even) the episodes" in notice
    assert all(label in notice for label in counts)
    assert not any("code" in one.where for one in result.measurements)
