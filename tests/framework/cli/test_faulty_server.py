"""A server that fails at 15 % of the requests changes no number of a run."""

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from commands import Gde
from fake_servers import MODEL, Answer, Body, Reply, refused, said, serving

pytest.importorskip("openai", reason="needs the extra openai")
pytest.importorskip("minigrid", reason="needs the extra minigrid")
pytestmark = pytest.mark.extended

SHARE = 0.15
TASKS = {
    "babyai-predict": "GoToObj",
    "babyai-plan": "CustomBabyAI-GoToRedBall-Small-4Dists",
}


def chance(text: str) -> float:
    """A number in [0, 1) that the text alone decides."""
    return int.from_bytes(sha256(text.encode()).digest()[:4]) / 2**32


def answered(body: Body) -> Reply:
    """An answer in the form asked for; one of ten is unusable."""
    question = body["messages"][-1]["content"]
    number = chance(question)
    if number < 0.1:
        return said("I cannot tell.")
    if "final state" in question:
        return said(f"The agent's final state is: ((4, {int(10 * number) % 7}), 1)")
    walk = ["right", "forward", "forward", "left", "forward", "forward"]
    return said(f"The LLM's action sequence is: {', '.join(walk[int(7 * number) :])}")


def faults(body: Body) -> Sequence[Reply]:
    """What goes wrong instead of an answer, cut off in its last two kinds."""
    whole = json.dumps(answered(body).body).encode()
    return (
        refused("slow down", 429, **{"retry-after": "0"}),
        refused("broken", 500),
        refused("busy", 503),
        Reply(body=whole[:-20]),
        Reply(body=b""),
    )


def faulty(made: list[int]) -> Answer:
    """Fails at a share of the requests, and notes the kinds of its faults."""
    asked: Counter[str] = Counter()

    def answer(body: Body) -> Reply:
        question = str(body["messages"])
        asked[question] += 1
        number = chance(f"{asked[question]} {question}") / SHARE
        if number >= 1:
            return answered(body)
        possible = faults(body)
        kind = int(number * len(possible))
        made.append(kind)
        return possible[kind]

    return answer


def numbers(gde: Gde, task: str, answer: Answer, out: Path) -> list[Any]:
    with serving(answer) as server:
        done = gde(
            *("eval", "--env", task, "--set", f"env.level={TASKS[task]}"),
            *("--agent", "babyai-prompter", "--model", f"openai:{MODEL}@{server.url}"),
            *("--episodes", "40", "--out", str(out), "--json", "--quiet"),
        )
    result = json.loads(done.stdout)
    assert result["failures"] == []
    assert done.returncode == 0
    return list(result["measurements"])


@pytest.mark.parametrize("task", TASKS)
def test_faults_of_a_server_change_no_number(
    task: str, gde: Gde, tmp_path: Path
) -> None:
    made: list[int] = []
    without = numbers(gde, task, answered, tmp_path / "without")
    assert numbers(gde, task, faulty(made), tmp_path / "with") == without
    assert len(made) > 3
    assert len({*made}) > 1
    usable = next(one for one in without if one["name"].endswith(".unusable"))
    assert 0 < usable["value"] < 1
