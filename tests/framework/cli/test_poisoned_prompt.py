"""A prompt at which a server always fails costs its own episode; a server that hangs
stops the run.
"""

import json
import time
from pathlib import Path

import pytest
from commands import Done, Gde
from fake_servers import MODEL, Body, Reply, plain, refused, serving

pytest.importorskip("openai", reason="needs the extra openai")
pytestmark = pytest.mark.extended


def run(gde: Gde, url: str, out: Path, *more: str, episodes: int = 12) -> Done:
    return gde(
        *("eval", "--env", "grid", "--set", "env.size=5", "--agent", "gpt-oss"),
        *("--model", f"openai:{MODEL}@{url}", "--set", "model.retries=1"),
        *("--episodes", str(episodes), "--out", str(out), "--json", "--quiet", *more),
    )


@pytest.mark.parametrize(
    ("place", "status", "concurrency", "episodes"),
    [
        ("middle", 500, "1", 12),
        ("middle", 400, "8", 12),
        ("last", 500, "1", 12),
        ("last", 400, "1", 12),
        ("last", 500, "8", 12),
        ("middle", 500, "8", 200),
    ],
)
def test_a_poisoned_prompt_costs_one_episode(
    gde: Gde, tmp_path: Path, place: str, status: int, concurrency: str, episodes: int
) -> None:
    prompts: list[str] = []

    def noting(body: Body) -> Reply:
        prompts.append(body["messages"][-1]["content"])
        return plain(body)

    with serving(noting) as server:
        run(
            gde,
            server.url,
            tmp_path / "before",
            "--set",
            "run.concurrency=1",
            episodes=episodes,
        )
    # Prompts of several episodes would cost all of these.
    unique = [one for one in prompts if prompts.count(one) == 1]
    poisoned = unique[-1 if place == "last" else len(unique) // 2]

    healthy = []

    def poisonous(body: Body) -> Reply:
        if body["messages"][-1]["content"] == poisoned and not healthy:
            return refused("unexpected tokens remaining in message header", status)
        return plain(body)

    out = tmp_path / "run"
    with serving(poisonous) as server:
        many = ("--set", f"run.concurrency={concurrency}")
        done = run(gde, server.url, out, *many, episodes=episodes)
        assert done.returncode == 3, done.stderr
        result = json.loads(done.stdout)
        assert [one["stage"] for one in result["failures"]] == ["rollout"]
        assert "unexpected tokens" in result["failures"][0]["reason"]
        assert result["subject"]["failed"] == 1
        named = {one["name"]: one for one in result["measurements"]}
        assert named["success"]["n"] == episodes - 1
        assert named["success"]["value"] == named["accuracy"]["value"] == 1

        healthy.append(True)
        again = gde("resume", str(out), "--retry-failed", "--json", "--quiet")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["failures"] == []


def test_a_server_that_hangs_stops_the_run(gde: Gde, tmp_path: Path) -> None:
    asked: list[float] = []

    def hanging(body: Body) -> Reply:
        asked.append(time.monotonic())
        if len(asked) > 1:
            time.sleep(3)
        return plain(body)

    with serving(hanging) as server:
        done = run(
            *(gde, server.url, tmp_path / "run", "--set", "model.timeout=1"),
            *("--set", "run.concurrency=1"),
        )
    assert done.returncode == 3
    assert "timed out" in done.stderr and "run stopped" in done.stderr
    # The preflight's question, which was answered, and three that were not.
    assert len(asked) <= 5
