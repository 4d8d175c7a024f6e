"""A person's run is one like any other: what is typed is what is played."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import gde
from gde.testing import check_plugin
from gde_plugins.human import agent, plugin
from gde_plugins.human.agent import Keyboard, matching

ACTIONS = ("UP", "DOWN", "PICK UP", "PICK DOWN")


def by(agent: str) -> gde.Plan:
    grid = gde.Choice(name="grid", config={"size": 5})
    return gde.Plan(environment=grid, agent=agent, episodes=2, seed=3)


def types(lines: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that wait at the keyboard, and then its end."""
    read, write = os.pipe()
    os.write(write, "".join(f"{line}\n" for line in lines).encode())
    os.close(write)
    monkeypatch.setattr(agent, "_KEYBOARD", Keyboard(read))


def test_contract() -> None:
    check_plugin(plugin)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("up", ["UP"]),
        ("d", ["DOWN"]),
        ("pick u", ["PICK UP"]),
        ("pick", ["PICK UP", "PICK DOWN"]),
        ("jump", []),
        ("", list(ACTIONS)),
    ],
)
def test_an_action_may_be_shortened(typed: str, meant: list[str]) -> None:
    assert list(matching(typed, ACTIONS)) == meant


def test_who_types_what_the_optimal_agent_does_is_as_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gde.evaluate(by("optimal"), tmp_path / "optimal")
    right = gde.open(tmp_path / "optimal").turns["action"]
    # A slip of the finger, and a name that is cut short, are no decisions of their own.
    types(["xx", *(str(action).lower()[:1] for action in right)], monkeypatch)
    gde.evaluate(by("human"), tmp_path / "human", how=gde.How(concurrency=1))

    run = gde.open(tmp_path / "human")
    assert run.turns["action"] == right
    assert {one.name: one.value for one in run.result.measurements}["success"] == 1
    assert run.compare(gde.open(tmp_path / "optimal").result.run)


def test_at_the_end_of_the_input_the_run_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types([], monkeypatch)
    with pytest.raises(gde.RunFailed, match=r"the input ended.*gde resume"):
        gde.evaluate(by("human"), tmp_path / "human")


def test_an_interrupt_is_heard_while_one_thinks(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "gde", "play", "--out", str(tmp_path / "run"))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        while "Move the agent" not in process.stderr.readline():
            assert process.poll() is None
        while process.stderr.read(1) != ":":  # the prompt
            pass
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(60) == 130, said
    assert "gde resume" in said
