"""The openai backend against a server on this machine."""

import asyncio
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.completion import (
    AnswerForm,
    ChatRequest,
    Completion,
    Message,
    Sampling,
)
from gde.errors import GdeError, Unavailable
from gde.parts.language_model import WhiteBox
from gde.request.names import split_url
from gde.testing import check_language_model

pytest.importorskip("openai", reason="needs the extra openai")

import openai
from aiohttp import ServerDisconnectedError

from gde.parts.context import OutsideRun
from gde_plugins.language_models import openai_model, server_errors
from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.connection import http_package
from gde_plugins.language_models.openai_model import OpenAIModel
from gde_plugins.language_models.plugin import make_openai
from gde_plugins.language_models.server_errors import read_trouble

Reply = tuple[int, bytes]
REQUEST = ChatRequest(
    messages=(
        Message(role="system", content="be short"),
        Message(role="user", content="where?"),
    ),
    seed=2**40 + 5,
    sampling=Sampling(temperature=0.3, top_p=0.8, max_tokens=77),
    effort="medium",
)


def reply(message: dict[str, Any], finish: str = "stop", **fields: Any) -> Reply:
    """A chat completion as a server writes it."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, **message},
        "finish_reason": finish,
    }
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    return 200, json.dumps({**body, **fields}).encode()


def refusal(message: str) -> Reply:
    return 400, json.dumps({"error": {"message": message}}).encode()


class Server:
    """Answers with the replies it is given, the last one for ever, and keeps what it
    was asked.
    """

    def __init__(self) -> None:
        self.replies: list[Reply | Callable[[], Reply]] = [reply({"content": "here"})]
        self.models = ["only"]
        self.wait = ("retry-after-ms", "1")
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                data = [
                    {"id": name, "object": "model", "created": 0, "owned_by": "me"}
                    for name in outer.models
                ]
                self.answer(200, json.dumps({"object": "list", "data": data}).encode())

            def do_POST(self) -> None:
                outer.asked.append(
                    json.loads(self.rfile.read(int(self.headers["content-length"])))
                )
                outer.headers.append(
                    {name.lower(): value for name, value in self.headers.items()}
                )
                outer.paths.append(self.path)
                following = (
                    outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                )
                self.answer(*(following() if callable(following) else following))

            def answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.send_header(*outer.wait)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.host = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.url = f"{self.host}/v1"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_model, "FIRST_PAUSE", 0.001)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(
        target=made.http.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


def ask(
    server: Server, request: ChatRequest = REQUEST, model: str = "m", **settings: Any
) -> Completion:
    config = OpenAIConfig(source=model, url=server.url, **{"retries": 2, **settings})
    made = make_openai(config, OutsideRun())
    try:
        return asyncio.run(made.complete(request))
    finally:
        made.close()


def test_a_request_is_sent_whole(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    completion = ask(server, api_key_env="MY_KEY")
    assert (completion.text, completion.reasoning, completion.finish) == (
        "here",
        None,
        "stop",
    )
    assert (completion.n_prompt, completion.n_completion) == (11, 3)
    assert (completion.tokens, dict(completion.positions)) == ((), {})
    assert server.asked == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "be short"},
                {"role": "user", "content": "where?"},
            ],
            "seed": 5 + 2**40 % 2**31,
            "temperature": 0.3,
            "top_p": 0.8,
            "max_tokens": 77,
            "reasoning_effort": "medium",
            "return_token_ids": True,
        }
    ]
    (headers,) = server.headers
    assert headers["authorization"] == "Bearer secret"


def test_token_ids_are_kept_and_with_them_the_effort_that_was_sent(
    server: Server,
) -> None:
    choice = json.loads(reply({"content": "here"})[1])["choices"][0]
    given = {**choice, "token_ids": [3, 4]}
    server.replies = [reply({}, choices=[given], prompt_token_ids=[1, 2])]
    found = ask(server)
    assert (found.prompt_tokens, found.tokens) == ((1, 2), (3, 4))
    assert (dict(found.positions), found.effort) == ({}, "medium")
    assert ask(server, effort="minimal").effort == "minimal"
    assert ask(server, without=("reasoning_effort",)).effort is None
    assert ask(server, replace(REQUEST, effort=None)).effort is None
    assert "reasoning_effort" not in server.asked[-1]


def test_an_answer_says_whether_the_likeliest_tokens_were_asked_for(
    server: Server,
) -> None:
    assert ask(server, temperature=0).likeliest
    assert not ask(server, temperature=0.1).likeliest
    # Whatever the server then takes, or makes of it.
    assert not ask(server, temperature=0, without=("temperature",)).likeliest
    assert not ask(server, temperature=0, body={"repetition_penalty": 1.1}).likeliest
    form = AnswerForm(kind="json")
    assert not ask(server, replace(REQUEST, form=form), temperature=0).likeliest


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_to_give_ids_is_asked_without(
    server: Server, status: int
) -> None:
    refused = json.dumps({"detail": "Unexpected fields: {'return_token_ids'}"}).encode()
    server.replies = [(status, refused), reply({"content": "here"})]
    assert ask(server, retries=0).text == "here"
    sent = ["return_token_ids" in each for each in server.asked]
    assert sent == [True, False]


def test_log_probabilities_are_asked_for_where_that_is_set(server: Server) -> None:
    ask(server)
    ask(server, logprobs=True)
    assert [each.get("logprobs") for each in server.asked] == [None, True]


def test_servers_that_know_less_are_asked_for_less(server: Server) -> None:
    ask(server, without=("reasoning_effort",), limit_field="max_completion_tokens")
    assert server.asked[0].keys().isdisjoint({"reasoning_effort", "max_tokens"})
    assert server.asked[0]["max_completion_tokens"] == 77


def test_a_model_has_sampling_and_fields_of_its_own(server: Server) -> None:
    body = {"top_k": 20}
    ask(server, temperature=1.0, max_tokens=5, effort="minimal", body=body)
    (asked,) = server.asked
    assert (asked["temperature"], asked["max_tokens"], asked["top_k"]) == (1.0, 5, 20)
    assert (asked["reasoning_effort"], asked["top_p"]) == ("minimal", 0.8)


@pytest.mark.parametrize(("context", "limit"), [(1000, 77), (60, 21), (10, 1)])
def test_the_answer_gets_what_the_prompt_leaves(
    server: Server, context: int, limit: int
) -> None:
    # The prompt counts 2 x 16 tokens for its messages and 7 for their 14 bytes.
    ask(server, context=context)
    assert server.asked[0]["max_tokens"] == limit


def test_headers_may_hold_secrets_that_no_message_repeats(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "abcdefghijklmnopqrstuvwxyz0123456789"
    monkeypatch.setenv("MY_KEY", key)
    server.replies = [refusal(f"key {key[:20]}... of {key[-9:]} is wrong")]
    with pytest.raises(GdeError, match=r"key \*\*\*\.\.\. of \*\*\* is wrong"):
        ask(server, headers={"api-key": "$MY_KEY"}, retries=0)
    assert server.headers[0]["api-key"] == key


def test_no_variable_is_sent_that_nobody_named(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: custom-secret")
    monkeypatch.delenv("MY_KEY", raising=False)
    ask(server, headers={"api-key": "$MY_KEY", "X-Mine": "mine"})
    (sent,) = server.headers
    assert "secret" not in str(dict(sent))
    assert sent["x-mine"] == "mine"
    # A variable without a value gives no header.
    assert "api-key" not in sent


@pytest.mark.parametrize(
    ("name", "model", "url"),
    [
        ("openai:http://h/v1", "openai", "http://h/v1"),
        ("openai:m@http://h/v1", "openai:m", "http://h/v1"),
        ("openai:@cf/a/b@https://h/v1", "openai:@cf/a/b", "https://h/v1"),
        ("openai:a:b@c@https://me@h/v1", "openai:a:b@c", "https://me@h/v1"),
    ],
)
def test_a_name_is_a_model_at_a_url(name: str, model: str, url: str) -> None:
    assert split_url(name) == (model, url)


def test_an_agent_that_calls_a_tool_plays_over_a_server(
    server: Server, tmp_path: Path
) -> None:
    function = {"name": "act", "arguments": '{"action": "UP"}'}
    call = {"id": "c", "type": "function", "function": function}
    server.replies = [reply({"tool_calls": [call]}, "tool_calls")]
    config = {
        "model": f"openai:{server.url}",
        "actions": "tools",
        "history": "all",
    }
    plan = Plan(
        environment=Choice(name="grid", config={"size": 5, "min_distance": 2}),
        agent=Choice(name="gpt-oss", config=config),
        metrics=["outcomes"],
        episodes=1,
    )
    result = evaluate(plan, tmp_path / "run")
    values = {one.name: one.value for one in result.measurements}
    assert values["outcomes.ok"] == values["outcomes.strict"] == 1

    first, second, *_ = server.asked
    assert first["tool_choice"] == "required"
    assert first["parallel_tool_calls"] is False
    user, assistant, tool = second["messages"]
    assert first["messages"] == [user]
    assert assistant["tool_calls"][0]["function"] == function
    assert tool["tool_call_id"] == assistant["tool_calls"][0]["id"]

    # The record has the conversation as it was sent.
    (trajectory,) = load_evidence(tmp_path / "run").trajectories
    completion = trajectory.turns[1].decision.completion
    assert completion is not None
    roles = [message.role for message in completion.prompt]
    assert roles == ["user", "assistant", "tool"]
    assert completion.prompt[2].content == tool["content"]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_read_where_servers_put_it(server: Server, field: str) -> None:
    server.replies = [reply({"content": "up", field: "hmm"})]
    completion = ask(server)
    assert (completion.text, completion.reasoning) == ("up", "hmm")


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        (
            'analysis A wall.\nassistantfinal{"action": "UP"}',
            '{"action": "UP"}',
            " A wall.\n",
        ),
        ("analysisassistantfinalUP", "UP", ""),
        ('final{"action": "UP"}', '{"action": "UP"}', None),
        ("finally UP", "finally UP", None),
        ("analysis of the maze: UP", "analysis of the maze: UP", None),
        ("The assistantfinal is UP", "The assistantfinal is UP", None),
    ],
)
def test_channels_whose_names_have_run_into_the_text_are_told_apart(
    server: Server, content: str, text: str, reasoning: str | None
) -> None:
    server.replies = [reply({"content": content})]
    completion = ask(server)
    assert (completion.text, completion.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("answer", "text", "finish"),
    [
        (reply({"content": "cut"}, "length"), "cut", "length"),
        (reply({"content": ""}, "content_filter"), "", "refusal"),
        (reply({"refusal": "I will not."}), "I will not.", "refusal"),
        (reply({"content": None}, "SAFETY"), "", "refusal"),
        (reply({"content": "go"}, "refusal"), "go", "refusal"),
        (reply({"content": "go"}, "STOP"), "go", "stop"),
        (reply({"content": "go"}, "MAX_TOKENS"), "go", "length"),
        (reply({"content": None, "tool_calls": []}, "tool_use"), "", "stop"),
        (reply({"content": None, "tool_calls": []}, "tool_calls"), "", "stop"),
        (reply({"content": "a \ud800 b"}), "a ? b", "stop"),
        (reply({"content": "free"}, usage=None), "free", "stop"),
    ],
)
def test_endings_are_mapped(
    server: Server, answer: Reply, text: str, finish: str
) -> None:
    server.replies = [answer]
    completion = ask(server)
    assert (completion.text, completion.finish) == (text, finish)
    completion.text.encode()


def test_a_busy_server_is_asked_again(server: Server) -> None:
    server.replies = [
        (429, b'{"error": {"message": "slow down"}}'),
        (500, b"oops"),
        reply({"content": "at last"}),
    ]
    assert ask(server).text == "at last"
    assert len(server.asked) == 3


def test_a_server_that_wants_to_be_left_alone_for_ever_keeps_nobody_waiting(
    server: Server,
) -> None:
    """Neither whom it tells, nor who waits for a turn behind."""
    server.wait = ("retry-after", "1e99")
    server.replies = [(429, b'{"error": {"message": "slow down"}}')]
    model = make_openai(
        OpenAIConfig(source="m", url=server.url, retries=2), OutsideRun()
    )

    async def crowd() -> list[object]:
        asked = (model.complete(REQUEST) for _ in range(20))
        async with asyncio.timeout(20):
            return [*await asyncio.gather(*asked, return_exceptions=True)]

    told = asyncio.run(crowd())
    model.close()
    assert {type(each) for each in told} == {Unavailable} and all(
        "slow down" in str(each) for each in told
    )


@pytest.mark.parametrize(
    ("answer", "tries", "match"),
    [
        ((500, b'{"error": {"message": "on fire"}}'), 3, "on fire"),
        (
            (401, b'{"error": {"message": "bad key"}}'),
            1,
            r"the server wants a key: set OPENAI_API_KEY .*bad key",
        ),
        (
            (403, b'{"error": {"message": "not you"}}'),
            1,
            r"the server wants a key: set OPENAI_API_KEY .*not you",
        ),
        (
            (404, b"no such model"),
            1,
            r"not found: correct the URL or the model's name .*no such model",
        ),
        ((200, b"{}"), 3, "the answer is no chat completion"),
        ((200, b'"text"'), 3, "the answer is no chat completion"),
        (reply({}, choices=[]), 3, "the answer has no choices: the server has failed"),
        (reply({}, choices=None), 3, "the answer has no choices"),
        (reply({}), 3, "the answer has no content: the server has failed"),
        (reply({"content": "UP"}, "abort"), 3, "finish_reason 'abort'"),
        (reply({"content": "UP"}, "made up"), 3, "finish_reason 'made up'"),
        (
            (200, b'{"error": {"message": "Bad gateway", "code": 502}}'),
            3,
            r"the server failed: see its log \(status 502: Bad gateway\)",
        ),
        ((200, b'{"error": "overloaded"}'), 3, r"status 500: overloaded"),
        (
            (200, b'{"error": {"message": "bad key", "code": "401"}}'),
            1,
            "the server wants a key",
        ),
        ((520, b"<html><title>error 520</title></html>"), 3, r"\(status 520\)$"),
        ((524, b"  <!DOCTYPE html><html>slow</html>"), 3, r"\(status 524\)$"),
        (
            (200, b"<!doctype html><html>\n<p>Back  soon</html>"),
            3,
            r"no chat completion: correct the base URL, .* \(status 200: Back soon\)$",
        ),
        (reply({}, choices=[{"index": 0}]), 3, "no chat completion"),
        (reply({}, choices="what"), 3, "the answer is no chat completion"),
    ],
)
def test_a_useless_answer_is_one_clear_line(
    server: Server, answer: Reply, tries: int, match: str
) -> None:
    server.replies = [answer]
    with pytest.raises(GdeError, match=match) as caught:
        ask(server)
    assert server.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.asked) == tries


def test_pauses_double_up_to_a_longest(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_model, "FIRST_PAUSE", 1 / 64)
    monkeypatch.setattr(openai_model, "LONGEST_PAUSE", 1 / 20)
    waited: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", noted)
    server.replies = [reply({}, choices=[])]
    with pytest.raises(GdeError):
        ask(server, retries=3)
    assert [each for each in waited if each] == [1 / 64, 1 / 32, 1 / 20]


@pytest.mark.parametrize(
    "failed",
    [
        reply({"content": "LEFT"}, choices=[{"error": {"code": 502, "message": "x"}}]),
        reply({"content": "LEFT"}, error={"code": 429, "message": "slow down"}),
        reply({"content": "LEFT"}, "abort"),
        reply({"content": "LEFT"}, "error"),
        reply({}, choices=[]),
        reply({}),
        (200, b'{"error": {"message": "Bad gateway", "code": 502}}'),
        (522, b"<html></html>"),
    ],
)
def test_a_failure_of_the_server_is_never_an_answer_of_the_model(
    server: Server, failed: Reply
) -> None:
    server.replies = [failed, reply({"content": "UP"})]
    assert ask(server).text == "UP"
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("message", "finish"),
    [
        ({"content": ""}, "stop"),
        ({"content": None, "reasoning_content": "so"}, "stop"),
        ({"content": None}, "length"),
        ({"content": None}, "content_filter"),
        ({"content": "UP"}, "eos"),
        ({"content": "UP"}, ""),
    ],
)
def test_what_a_model_answers_is_its_own(
    server: Server, message: dict[str, Any], finish: str
) -> None:
    server.replies = [reply(message, finish)]
    ask(server)
    assert len(server.asked) == 1


def streamed(server: Server) -> list[bool]:
    return ["stream" in each for each in server.asked]


PIECES = b'data: {"choices": [{"delta": {"content": "UP"}, "finish_reason": "stop"}]}'


@pytest.mark.parametrize("status", [502, 504, 524])
@pytest.mark.parametrize("least", [0.0, 60.0])
def test_answers_come_in_pieces_once_a_proxy_has_cut_a_long_one(
    server: Server, monkeypatch: pytest.MonkeyPatch, least: float, status: int
) -> None:
    monkeypatch.setattr(server_errors, "PROXY", least)
    is_cut = status != 502 and not least
    server.replies = [(status, b"<html></html>"), (200, PIECES), (200, PIECES)]
    model = OpenAIModel(OpenAIConfig(source="m", url=server.url))

    async def twice() -> list[str]:
        return [(await model.complete(REQUEST)).text for _ in range(2)]

    assert asyncio.run(twice()) == ["UP", "UP"]
    assert streamed(server) == [False, is_cut, is_cut]


def test_pieces_are_given_up_where_the_server_sends_none(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_errors, "PROXY", 0.0)
    server.replies = [
        (524, b"<html></html>"),
        (400, b'{"error": {"message": "stream is not supported"}}'),
        reply({"content": "UP"}),
        reply({"content": "UP"}),
    ]
    model = OpenAIModel(OpenAIConfig(source="m", url=server.url))

    async def twice() -> list[str]:
        return [(await model.complete(REQUEST)).text for _ in range(2)]

    assert asyncio.run(twice()) == ["UP", "UP"]
    assert streamed(server) == [False, True, False, False]


def test_an_answer_that_takes_too_long_is_given_up(server: Server) -> None:
    def late() -> Reply:
        time.sleep(0.5)
        return reply({"content": "late"})

    server.replies = [late]
    with pytest.raises(GdeError, match="timed out"):
        ask(server, timeout=0.1, retries=0)


def test_a_server_that_is_not_there_is_named() -> None:
    model = OpenAIModel(
        OpenAIConfig(source="m", url="http://127.0.0.1:9/v1", retries=0)
    )
    with pytest.raises(
        GdeError,
        match=r"openai:m@http://127.0.0.1:9/v1: cannot connect: nothing listens there. Start the server",
    ):
        asyncio.run(model.complete(REQUEST))


@pytest.mark.parametrize(
    ("cause", "remedy"),
    [
        (socket.gaierror(-2, "Name or service not known"), "Correct the URL"),
        (ssl.SSLCertVerificationError(1, "verify failed"), "Set SSL_CERT_FILE"),
        (ssl.SSLError(1, "WRONG_VERSION_NUMBER"), "Write http://"),
        (ConnectionResetError(104, "reset by peer"), "See its log"),
        (ServerDisconnectedError(), "the server closes the connection"),
        (TimeoutError(), "check network and proxy"),
        (OSError(5, "Input/output error"), "Start the server"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failed_connection_says_what_to_set(cause: Exception, remedy: str) -> None:
    """The client wraps the cause in words of its own, which no user reads."""
    wrapped = OSError(f"Cannot connect to host ssl:default [{cause}]")
    wrapped.__cause__ = cause
    error = openai.APIConnectionError(request=http_package().Request("POST", "http://"))
    error.__cause__ = wrapped

    trouble = read_trouble(error, OpenAIConfig(source="m", url="http://127.0.0.1:9/v1"))
    assert trouble.message.startswith("cannot connect")
    assert remedy in trouble.message
    assert "ssl:default" not in trouble.message


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "h:80/v1",
        "ftp://h/v1",
        "file:///v1",
        "http://:80/v1",
        "http://h:port/v1",
        "http://h:99999/v1",
    ],
)
def test_a_url_that_is_none_is_named(url: str) -> None:
    with pytest.raises(
        GdeError,
        match=rf"model\.url: wanted openai:MODEL@URL, e\.g\. .*, got '{url}'",
    ):
        OpenAIConfig(url=url)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/chat/completions"),
        ("/", "/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/v1?api-version=1", "/v1/chat/completions?api-version=1"),
    ],
)
def test_a_base_url_may_end_in_any_way(server: Server, base: str, path: str) -> None:
    model = OpenAIModel(OpenAIConfig(source="m", url=f"{server.host}{base}"))
    assert asyncio.run(model.complete(REQUEST)).text == "here"
    assert server.paths == [path]


def test_a_refused_key_is_named_by_its_variables(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("MINE", "OTHER"):
        monkeypatch.setenv(variable, f"sk-{variable}-0123456789")
    settings = {
        "api_key_env": "MINE",
        "headers": {"api-key": "$OTHER", "x-plain": "mine"},
    }
    said = b'{"error": {"message": "sk-MINE-0123456789 is wrong"}}'
    for status, match in (
        (401, r"refused the key in MINE and OTHER: correct it"),
        (403, r"refused the key in MINE and OTHER: .*\*\*\* is wrong"),
    ):
        server.replies = [(status, said)]
        with pytest.raises(GdeError, match=match) as caught:
            ask(server, **settings)
        assert "sk-" not in str(caught.value)


def test_no_key_is_sent_where_none_is_set(server: Server) -> None:
    ask(server)
    assert "authorization" not in server.headers[0]


def test_the_only_model_of_a_server_needs_no_name(server: Server) -> None:
    model = OpenAIModel(OpenAIConfig(url=server.url))

    async def several() -> list[Completion]:
        return await asyncio.gather(*(model.complete(REQUEST) for _ in range(5)))

    assert [completion.text for completion in asyncio.run(several())] == ["here"] * 5
    assert {request["model"] for request in server.asked} == {"only"}
    assert model.info.versions["model"] == "only"


def test_one_model_of_several_must_be_named(server: Server) -> None:
    server.models = ["b", "a"]
    with pytest.raises(
        GdeError,
        match=r"server lists 2 models: a, b\. Name one: openai:MODEL@http",
    ):
        ask(server, model="")


def test_a_model_outlives_an_event_loop(server: Server) -> None:
    model = OpenAIModel(OpenAIConfig(source="m", url=server.url))
    for _ in range(3):
        assert asyncio.run(model.complete(REQUEST)).text == "here"


def test_it_keeps_the_contract_of_a_model_without_activations(server: Server) -> None:
    check_language_model(
        lambda: make_openai(OpenAIConfig(source="m", url=server.url), OutsideRun())
    )
    model = OpenAIModel(OpenAIConfig(source="m", url=server.url))
    assert not isinstance(model, WhiteBox)
    assert model.info.n_layers == 0
