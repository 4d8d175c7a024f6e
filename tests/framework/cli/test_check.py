"""`gde check` of a distribution: a line a check, and an exit code for what is
broken.
"""

import json
from pathlib import Path

import pytest
from commands import Gde

PLUGIN = """
from gde import NoConfig, Offer, hookimpl


class Silent:
    def begin(self, brief):
        print("talk")

    async def act(self, observation):
        return None


@hookimpl
def gde_agents():
    return (Offer(name="silent", summary="Silent.", config=NoConfig, make=lambda _, __: Silent()),)
"""
SAID = "agent silent: act must return a Decision, got None"


def test_a_distribution_is_checked_line_by_line(
    gde: Gde, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_silence.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "of_silence")
    done = gde("check", "of_silence")
    first, second = done.stdout.splitlines()
    assert first.startswith("kept      plugin of_silence, ")
    assert second == f"broken    {SAID}"
    assert "talk" in done.stderr
    assert done.stderr.endswith("1 kept, 1 broken, 0 unchecked\n")
    assert done.returncode == 2
    found = json.loads(gde("check", "of-silence", "--json").stdout)
    assert (found["kept"], found["broken"], found["unchecked"]) == (1, 1, 0)
    assert [one["kind"] for one in found["checks"]] == ["plugin", "agent"]


def test_a_distribution_that_nobody_installed_is_unknown(gde: Gde) -> None:
    done = gde("check", "gde-of-nobody")
    assert done.stderr.startswith(
        "gde: unknown distribution with plugins, or plan file, 'gde-of-nobody'."
    )
    assert done.returncode == 2


def test_what_is_installed_without_a_plugin_is_said_to_have_none(gde: Gde) -> None:
    # uv installs no pip.
    done = gde("check", "pytest")
    assert (
        done.stderr
        == "gde: pytest is installed and registers no plugin: wanted entry points of the group 'gde'\n"
    )
    assert done.returncode == 2


def test_an_environment_is_checked_alone(gde: Gde) -> None:
    done = gde("check", "gde-eval", "--env", "grid")
    assert done.returncode == 2
    assert done.stderr.startswith("gde: --env: checked alone, without PLAN or DIST")


def test_an_environment_is_checked_without_a_run(gde: Gde, tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    done = gde("check", "--env", "grid")
    assert done.stdout == "" and "ok: a world for every seed of grid" in done.stderr
    for name, goal in (("good", "(on a b)"), ("odd", "(or (on a b) (on b a))")):
        text = f"""(define (problem p) (:objects a b) (:init (handempty) (ontable a)
            (clear a) (ontable b) (clear b)) (:goal {goal}))"""
        (tmp_path / "rows" / f"{name}.pddl").write_text(text)
    asked = ("check", "--env", "blocksworld", "--set", "env.problems=rows", "--json")
    told = json.loads(gde(*asked).stdout)
    (remark,) = told["remarks"]
    assert (told["environment"], told["worlds"]) == ("blocksworld", 2)
    assert remark.startswith("env.problems: read 1, left out 1: 1 wanted atoms")
    assert remark.endswith(" (odd.pddl:2)")
    assert gde("check").returncode == 2
