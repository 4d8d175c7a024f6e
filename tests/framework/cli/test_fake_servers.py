"""Whatever form a server gives an answer, and however it fails, a model that answers
optimal actions alone scores 100 %.
"""

import json
from pathlib import Path

import pytest
from commands import Gde
from fake_servers import FAKES, MODEL, serving

pytest.importorskip("openai", reason="needs the extra openai")
pytestmark = pytest.mark.extended

STRICT = ("--set", "agent.strict=true")
TOOLS = ("--set", "agent.actions=tools")
SETTINGS = {
    "tool calls": TOOLS,
    "flat call": TOOLS,
    "stream": ("--set", "model.stream=true"),
    "tail token": STRICT,
    "tail of a channel": STRICT,
}
FAILED = {
    "429 with Retry-After": {"status 429"},
    "truncated JSON": {"no whole answer"},
    "abort": {"the answer ends with finish_reason 'abort'"},
    "no content": {"the answer has no content"},
    "no choices": {"the answer has no choices"},
    "error in a choice": {"status 502"},
    "error in a 200": {"status 429"},
    "pages of a proxy": {f"status {status}" for status in range(520, 525)},
    "page in a 200": {"status 200"},
    "plain": set(),
    "fields refused": set(),
}
"""What is counted as the server's failures."""
SHARES = {
    "success": 1,
    "accuracy": 1,
    "outcomes.ok": 1,
    "outcomes.truncated": 0,
}


@pytest.mark.parametrize("fake", FAKES)
def test_no_failure_of_a_server_is_the_models(
    fake: str, gde: Gde, tmp_path: Path
) -> None:
    names = (MODEL, "qwen-3") if fake == "several models" else (MODEL,)
    with serving(FAKES[fake](), names) as server:
        done = gde(
            *("eval", "--env", "grid", "--agent", "gpt-oss"),
            *("--model", f"openai:{MODEL}@{server.url}", "--set", "env.size=5"),
            *("--episodes", "6", "--out", str(tmp_path / "run"), "--json", "--quiet"),
            *SETTINGS.get(fake, ()),
        )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    found = {
        each["name"]: each["value"]
        for each in result["measurements"]
        if not each["where"]
    }
    assert {name: found.get(name) for name in SHARES} == SHARES
    (model,) = result["models"]
    if fake in FAILED:
        assert {*model["failed"]} == FAILED[fake]
