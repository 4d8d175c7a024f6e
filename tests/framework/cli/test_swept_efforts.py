"""Efforts that a server refuses are no sweep: nothing is played."""

from pathlib import Path

import pytest
from commands import Gde
from fake_servers import MODEL, Body, Reply, plain, refused, refuses_fields, serving

pytest.importorskip("openai", reason="needs the extra openai")


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("agent.effort=low,medium,high", "agent.effort=low"),
        ("model.effort=low,high", "reasoning_effort"),
        ("agent.effort=high", "agent.effort=high"),
    ],
)
def test_an_effort_that_a_server_refuses_is_refused_before_a_run(
    gde: Gde, tmp_path: Path, setting: str, named: str
) -> None:
    out = tmp_path / "run"
    with serving(refuses_fields) as server:
        done = gde(
            *("eval", "--env", "grid", "--set", "env.size=5", "--agent", "gpt-oss"),
            *("--model", f"openai:{MODEL}@{server.url}", "--set", setting),
            *("--episodes", "2", "--out", str(out), "--quiet"),
        )
    assert done.returncode == 2
    assert named in done.stderr and "without=" in done.stderr
    assert not out.exists()


def takes_low_alone(body: Body) -> Reply:
    if body.get("reasoning_effort", "low") == "low":
        return plain(body)
    return refused(f"reasoning_effort: {body['key']} is low or nothing")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "agent.effort=high",
            "(reasoning_effort: *** is low or nothing). Take a value",
        ),
        ("model.effort=high", "take another model.effort or set model.without="),
    ],
)
def test_the_refusal_of_one_effort_is_not_told_of_all(
    gde: Gde, monkeypatch: pytest.MonkeyPatch, setting: str, said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123")
    with serving(takes_low_alone) as server:
        model = ("--model", f"openai:{MODEL}@{server.url}", "--set", setting)
        done = gde("eval", "--env", "grid", "--agent", "gpt-oss", *model)
    assert done.returncode == 2
    assert said in done.stderr and "canary" not in done.stderr


def test_what_nobody_has_set_is_left_out_and_told(gde: Gde) -> None:
    with serving(refuses_fields) as server:
        done = gde(
            *("eval", "--env", "grid", "--set", "env.size=5", "--agent", "gpt-oss"),
            *("--model", f"openai:{MODEL}@{server.url}", "--episodes", "1"),
        )
    assert done.returncode == 0, done.stderr
    told = "refuses the request as it is, so gde asks with without=reasoning_effort"
    assert told in done.stderr
