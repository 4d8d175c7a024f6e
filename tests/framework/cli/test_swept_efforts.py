"""Efforts that a server refuses are no sweep: nothing is played."""

from pathlib import Path

import pytest
from commands import Gde
from fake_servers import MODEL, refuses_fields, serving

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
