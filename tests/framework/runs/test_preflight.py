"""One real question is asked before a run, and what it tells is set or said."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, GdeError, Plan, evaluate
from gde.runs.evaluating import dry
from gde.runs.preflight import preflight

Answer = tuple[int, dict[str, Any]]


class Server:
    """Answers chat completions by a function of the request's body."""

    def __init__(self, answer: Callable[[dict[str, Any]], Answer]) -> None:
        self.asked: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                names = [{"id": name} for name in ("llama-3", "qwen-3")]
                self.say(200, {"object": "list", "data": names})

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                body = json.loads(self.rfile.read(length))
                outer.asked.append(body)
                self.say(*answer(body))

            def say(self, status: int, body: dict[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        self.thread = threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


Serve = Callable[[Callable[[dict[str, Any]], Answer]], Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers = []

    def begin(answer: Callable[[dict[str, Any]], Answer]) -> Server:
        servers.append(Server(answer))
        return servers[-1]

    yield begin
    for server in servers:
        server.close()


def said(text: str) -> Answer:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return 200, {"choices": [{"message": message}], "usage": usage}


def refused(message: str, status: int = 400) -> Answer:
    return status, {"error": {"message": message}}


def plan(server: Server, model: str = "llama-3", **settings: Any) -> Plan:
    served = Choice(
        name=f"openai:{model}@{server.url}",
        alias="big",
        config={"retries": 0, **settings},
    )
    return Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={"model": "big"}),
        models=(served,),
        metrics=["success"],
        episodes=10,
        max_calls=5,
    )


ACTION = '{"action": "LEFT"}'


def test_calls_tokens_and_money_are_estimated_from_one_question(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION))
    flight = preflight(plan(server, prices=[1.0, 10.0]))
    assert len(server.asked) == 1
    assert "Current state" in str(server.asked[0]["messages"])
    (estimate,) = flight.estimates
    calls = estimate.calls
    assert calls is not None and calls > 5
    assert estimate.answer_tokens == 10 * calls
    assert estimate.prompt_tokens == pytest.approx(100 * calls, rel=0.05)
    cost = (estimate.prompt_tokens * 1 + 10 * calls * 10) / 1e6
    assert estimate.cost == pytest.approx(cost)
    assert flight.over == "the run would stop at run.max_calls=5"


def test_harmless_fields_that_a_server_refuses_are_left_out_and_recorded(
    serve: Serve,
) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        for field in ("reasoning_effort", "seed"):
            if field in body:
                return refused(f"Unrecognized request argument: {field}")
        if "max_tokens" in body:
            return refused("max_tokens is gone: use max_completion_tokens")
        return said(ACTION)

    flight = preflight(plan(serve(answer)))
    (model,) = flight.plan.models
    assert set(model.config["without"]) == {"reasoning_effort", "seed"}  # type: ignore[arg-type]
    assert model.config["limit_field"] == "max_completion_tokens"
    assert any("without" in note for note in flight.notes)


@pytest.mark.parametrize(
    ("answer", "model", "message"),
    [
        (refused("no such model", 404), "lama-3", r"did you mean llama-3\? It lists llama-3, qwen-3"),
        (refused("temperature must be 1"), "llama-3", "refuses temperature: set model.temperature"),
        (refused("unknown field tools"), "llama-3", "refuses tools: take another form of answers, such as agent"),
        (refused("bad key", 401), "llama-3", "authentication failed: set OPENAI_API_KEY"),
        (refused("exceeds the context window"), "llama-3", "set model.context=TOKENS"),
        (said("I like mazes."), "llama-3", "none of 3 first answers can be used, the last was 'I like mazes.' .*agent.actions=schema"),
        (said(""), "llama-3", r"\(empty: .*raise agent.max_tokens"),
        ((200, {"hello": 1}), "llama-3", "no chat completion"),
    ],
)  # fmt: skip
def test_what_would_fail_every_episode_is_one_line_before_it(
    answer: Answer, model: str, message: str, serve: Serve
) -> None:
    with pytest.raises(GdeError, match=message) as caught:
        preflight(plan(serve(lambda _: answer), model))
    assert "\n" not in str(caught.value)


def test_one_unusable_answer_is_no_reason_to_refuse(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION if len(server.asked) > 1 else "Well."))
    assert preflight(plan(server)).estimates
    assert len(server.asked) == 2


def judged(server: Server) -> Plan:
    one = plan(server)
    judge = Choice(name="judge", config={"model": "big", "repairs": 0})
    return replace(one, agent=Choice(name="random"), rewards=(judge,))


def test_a_judge_is_asked_about_a_turn(serve: Serve) -> None:
    server = serve(lambda _: said("score: 0.5"))
    flight = preflight(judged(server))
    assert "You judge" in str(server.asked[0]["messages"])
    (estimate,) = flight.estimates
    assert estimate.part == "judge" and estimate.calls == estimate.answer_tokens // 10  # type: ignore[operator]


def test_a_judge_that_cannot_score_is_refused(serve: Serve) -> None:
    server = serve(lambda _: said("I like mazes."))
    with pytest.raises(
        GdeError, match="reward model 'judge' cannot score a first turn"
    ):
        preflight(judged(server))


def test_worlds_of_all_sizes_are_counted(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION))
    swept = Choice(name="grid", config={"size": [5, 9]})
    both = replace(plan(server), environment=swept)
    (found,) = preflight(both).estimates
    separate = []
    for size in (5, 9):
        one = Choice(name="grid", config={"size": size})
        separate += preflight(replace(both, environment=one)).estimates
    assert found.calls == separate[0].calls + separate[1].calls  # type: ignore[operator]
    assert separate[1].prompt_tokens > separate[0].prompt_tokens  # type: ignore[operator]


def test_a_dry_run_counts_without_asking(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION))
    silent = plan(server, prices=[1.0, 10.0])
    (counted,) = dry(silent).estimates
    assert server.asked == []
    (estimated,) = preflight(silent).estimates
    assert counted.calls == estimated.calls
    limit = counted.calls * 10_000  # type: ignore[operator]
    assert counted.answer_tokens == limit
    assert counted.cost is not None and counted.cost > 10 * limit / 1e6


def test_a_run_asks_no_more_than_was_counted(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda _: said(ACTION))
    # Nobody reaches a goal by one direction alone in all worlds.
    wanted = replace(plan(server), max_calls=None, episodes=4)
    (counted,) = dry(wanted).estimates
    result = evaluate(wanted, tmp_path / "run")
    assert counted.calls is not None
    assert result.models[0].usage.calls <= counted.calls


def test_models_in_this_process_are_left_alone() -> None:
    embedded = Plan(environment="grid", agent="gpt-oss")
    assert preflight(embedded).notes == ()
