"""Whatever form a server gives an answer, `gde eval` reads the same run from it."""

import json
from pathlib import Path

import pytest
from commands import Gde
from fake_servers import FAKES, MODEL, serving

pytest.importorskip("openai", reason="needs the extra openai")
pytestmark = pytest.mark.extended

SETTINGS = {
    "tool calls": ("--set", "agent.actions=tools"),
    "stream": ("--set", "model.stream=true"),
}


def numbers(gde: Gde, fake: str, out: Path) -> dict[str, float]:
    """The measurements that depend on actions alone."""
    names = (MODEL, "qwen-3") if fake == "several models" else (MODEL,)
    with serving(FAKES[fake](), names) as server:
        done = gde(
            *("eval", "--env", "grid", "--agent", "gpt-oss"),
            *("--model", f"openai:{MODEL}@{server.url}", "--set", "env.size=5"),
            *("--episodes", "6"),
            *("--out", str(out), "--json", "--quiet", *SETTINGS.get(fake, ())),
        )
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
    found = {}
    for each in result["measurements"]:
        if not each["name"].startswith("outcomes."):
            found[f"{each['name']} {each['where']}"] = each["value"]
    return found


@pytest.fixture(scope="module")
def expected() -> dict[str, float]:
    return {}


@pytest.mark.parametrize("fake", FAKES)
def test_every_server_gives_the_same_numbers(
    fake: str, gde: Gde, tmp_path: Path, expected: dict[str, float]
) -> None:
    if not expected:
        expected.update(numbers(gde, "plain", tmp_path / "plain"))
        # Chance takes some optimal steps, and not all of them.
        accuracy = [v for k, v in expected.items() if k.startswith("accuracy {}")]
        assert accuracy and 0 < accuracy[0] < 1, expected
    assert numbers(gde, fake, tmp_path / "run") == expected
