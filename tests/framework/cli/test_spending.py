"""gde show RUN: what a run has spent."""

import json
from pathlib import Path

from commands import Gde


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
