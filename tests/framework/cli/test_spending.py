"""gde show RUN: what a run has spent."""

import json
from pathlib import Path

import pytest
from commands import Gde
from fake_servers import MODEL, plain, serving


def test_a_run_shows_what_it_has_spent(gde: Gde, tmp_path: Path) -> None:
    log = f"agent.model.log={tmp_path / 'log'}"
    stopped = gde(
        *("eval", "--env", "corridor", "--agent", "asking-logged"),
        *("--set", log.removeprefix("agent."), "--set", "run.max_calls=2"),
        *("--episodes", "2", "--out", "run"),
    )
    assert "run.max_calls=2 is spent" in stopped.stderr
    shown = json.loads(gde("show", "run", "--json").stdout)
    calls, tokens, _ = shown["limits"]
    assert calls == {"name": "max_calls", "limit": 2, "spent": 2, "left": 0}
    assert tokens["limit"] is None
    assert tokens["spent"] > 0
    table = gde("show", "run").stdout.split("\n")
    assert ["run.max_calls", "2", "2", "0"] in [line.split() for line in table]
    refused = gde("show", "nowhere")
    assert refused.returncode == 2
    assert "wanted a run folder, or KIND NAME" in refused.stderr


def test_what_the_preflight_asks_counts_against_the_limits(
    gde: Gde, tmp_path: Path
) -> None:
    pytest.importorskip("openai", reason="needs the extra openai")
    names = (MODEL, "qwen-3")
    with serving(plain, names) as server:
        words = ("eval", "--env", "grid", "--set", "env.size=5", "--episodes", "1")
        words += ("--agent", "gpt-oss")
        models = [f"openai:{name}@{server.url}" for name in names]
        limit = ("--set", "run.max_calls=2")
        gde(*words, "--model", models[0], *limit, "--out", "run")
        assert len(server.asked) == 2
        gde(*words, "--model", ",".join(models), "--out", "contest")

    runs = ["run", *map(str, (tmp_path / "contest").glob("*/"))]
    assert len(runs) == 3
    for run in runs:
        shown = json.loads(gde("show", run, "--json").stdout)
        calls, tokens, _ = shown["limits"]
        assert (shown["preflight"], shown["unsettled"]) == (1, 0)
        assert calls["spent"] == shown["models"][0]["usage"]["calls"] + 1
        assert tokens["spent"] == calls["spent"] * 1010
    assert "spent calls include 1 of the preflight" in gde("show", "run").stdout
