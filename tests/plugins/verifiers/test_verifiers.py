"""Environments of gde under verifiers, whose client asks a server on this machine."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import gde
from gde import Choice, Decision, GdeError, Plan, evaluate, load_evidence
from gde.data.transcript import Transcript

pytest.importorskip("verifiers", reason="`nox -s verifiers` installs it")
pytestmark = pytest.mark.filterwarnings("default")

from gde_plugins.verifiers import load_environment  # noqa: E402

WORLDS = 6


@contextmanager
def server(answers: Any) -> Iterator[str]:
    """A server whose answer is a function of the messages."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            message = {"role": "assistant", "content": answers(asked["messages"])}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            used = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            body = json.dumps(
                {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "fake",
                    "choices": [choice],
                    "usage": used,
                }
            ).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/v1"
    finally:
        running.shutdown()
        running.server_close()


def played(
    monkeypatch: pytest.MonkeyPatch, answers: Any, **options: Any
) -> list[dict[str, Any]]:
    """The rollouts of a model that answers so."""
    from verifiers.types import ClientConfig

    monkeypatch.setenv("FAKE_KEY", "none")
    environment = load_environment(
        "grid", worlds=1, evaluation_worlds=WORLDS, size=5, **options
    )
    with server(answers) as address:
        client = ClientConfig(api_base_url=address, api_key_var="FAKE_KEY")
        found = environment.evaluate_sync(
            client=client, model="fake", num_examples=WORLDS, rollouts_per_example=1
        )
    return list(found["outputs"])


def up_or_left(turn: int) -> str:
    return "UP" if turn % 2 else "LEFT"


def test_rewards_are_the_numbers_of_a_run_in_the_same_worlds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def answers(messages: list[dict[str, Any]]) -> str:
        return json.dumps({"action": up_or_left(len(messages) // 2)})

    found = played(monkeypatch, answers, reward="optimal")

    class Alternating:
        def begin(self, brief: Any) -> None:
            self.turn = 0

        async def act(self, observation: Any) -> Decision:
            self.turn += 1
            return Decision.act(up_or_left(self.turn - 1))

    plan = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Alternating,
        metrics=["accuracy"],
        episodes=WORLDS + 1,
    )
    trajectories = load_evidence(evaluate(plan, tmp_path / "run").run).trajectories
    by_world = {
        one.world.id: [
            turn.decision.action in (turn.optimal or ()) for turn in one.turns
        ]
        for one in trajectories
    }
    assert len(found) == WORLDS
    for one in found:
        right = by_world[one["info"]["world"]]
        assert one["reward"] == pytest.approx(sum(right) / len(right))
        assert one["metrics"]["num_turns"] == len(right)
        assert one["metrics"]["success"] in (0.0, 1.0)


def test_progress_is_what_is_nearer_and_a_reward_model_values_the_last_action(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answers(messages: list[dict[str, Any]]) -> str:
        return json.dumps({"action": up_or_left(len(messages) // 2)})

    def words(transcript: Transcript) -> list[float]:
        assert transcript.objective and transcript.start
        return [len(transcript.steps) + len(one.action) for one in transcript.steps]

    by_progress = played(monkeypatch, answers, reward="progress")
    gained = [one["reward"] for one in by_progress]
    # A success gains all that was left; walking off gains nothing or less.
    assert {one["metrics"]["success"] for one in by_progress} == {0.0, 1.0}
    for one, value in zip(by_progress, gained, strict=True):
        assert value == int(value) and (value > 0) >= one["metrics"]["success"]
    assert min(gained) <= 0 < max(gained)

    by_words = played(monkeypatch, answers, reward=gde.reward_model(words))
    for one in by_words:
        turns = one["metrics"]["num_turns"]
        assert one["reward"] == turns + len(up_or_left(int(turns) - 1))


def test_an_unusable_answer_takes_a_turn_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = played(monkeypatch, lambda _: "hm")
    for one in found:
        assert one["reward"] == 0.0
        assert "No action was taken: " in one["completion"][1]["content"]
        assert one["stop_condition"] == "has_final_env_response"


def test_evaluation_worlds_are_not_trained_on() -> None:
    environment = load_environment("grid", worlds=30, evaluation_worlds=20, size=5)
    trained = {row["info"]["world"] for row in environment.get_dataset()}
    held_out = {row["info"]["world"] for row in environment.get_eval_dataset()}
    assert (len(trained), len(held_out)) == (30, 20)
    assert not trained & held_out


def test_what_cannot_be_made_is_refused() -> None:
    with pytest.raises(GdeError, match="unknown environment 'gird'"):
        load_environment("gird")
    with pytest.raises(GdeError, match="reward: wanted success, optimal, progress or"):
        load_environment("grid", reward="profit")  # type: ignore[arg-type]
    with pytest.raises(GdeError, match="certifies no optimal actions"):
        load_environment("webshop", reward="progress")
    with pytest.raises(GdeError, match=r"has \d+ distinct worlds, wanted 2000"):
        load_environment("two-path-key", worlds=1990, evaluation_worlds=10)
