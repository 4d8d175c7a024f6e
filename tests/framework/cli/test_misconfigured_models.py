"""What would fail every episode is one line that says what to set, before the first."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import Done, Gde
from fake_servers import (
    MODEL,
    Answer,
    Body,
    FakeServer,
    Reply,
    plain,
    refused,
    said,
    serving,
)

pytest.importorskip("openai", reason="needs the extra openai")

KEY = "sk-0123456789abcdef0123"
TWO = (MODEL, "qwen-3")


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A misconfiguration, and the message about it."""

    says: str
    """A regular expression."""
    model: str = "openai:llama-3@{url}"
    settings: Sequence[str] = ()
    answer: Answer = plain
    listed: Sequence[str] = TWO
    probe: str = ""


def always(reply: Reply) -> Answer:
    return lambda _: reply


def refusing(field: str, reply: Reply, most: float = 0) -> Answer:
    """Answers where the field is absent, or a number up to the most."""

    def answer(body: Body) -> Reply:
        value = body.get(field, 0)
        is_allowed = isinstance(value, int | float) and value <= most
        return plain(body) if is_allowed else reply

    return answer


def too_large(body: Body) -> Reply:
    """Refuses long answers by either name of the limit, as vLLM does."""
    most = body.get("max_tokens") or body["max_completion_tokens"]
    said = "'max_tokens' or 'max_completion_tokens' is too large"
    return plain(body) if most < 512 else refused(f"{said}: {most}")


def wants_a_key(body: Body) -> Reply:
    """Repeats a part of the wrong key, as OpenAI does."""
    return refused(f"Incorrect API key provided: {body['key'][:20]}***", 401)


CUT = said('{"action": "U', choice={"finish_reason": "length"})
HTML = Reply(body=b"<!doctype html><title>Welcome</title>", kind="text/html")
FOUND = Reply(status=307, headers={"location": "https://models.example/v1"})

WRONG = {
    "port": Wrong(
        model="openai:llama-3@http://127.0.0.1:1/v1",
        says="cannot connect: nothing listens there. Start the server",
    ),
    "host": Wrong(
        model="openai:llama-3@http://nowhere.invalid/v1",
        says="cannot connect: no such host is found. Correct the URL",
    ),
    "scheme": Wrong(
        model="openai:llama-3@https://{host}/v1",
        says="cannot connect: .* does not speak TLS. Write http:// in place of https://",
    ),
    "no scheme": Wrong(
        model="openai:llama-3@{host}/v1",
        says="wanted openai:MODEL@URL, whose URL begins with http:// or https://",
    ),
    "path": Wrong(
        model="openai:llama-3@http://{host}/v2",
        says="not found: correct the URL or the model's name .*Not Found",
    ),
    "redirect": Wrong(
        answer=always(FOUND),
        says="redirects to https://models.example/v1, .*Set that URL",
    ),
    "HTML": Wrong(answer=always(HTML), says="no chat completion: .*base URL.*Welcome"),
    "other JSON": Wrong(
        answer=always(Reply(body={"hello": 1})), says="no chat completion"
    ),
    "name": Wrong(
        model="openai:lama-3@{url}",
        answer=always(refused("no such model", 404)),
        says=r"no model 'lama-3': did you mean llama-3\? It lists llama-3, qwen-3",
    ),
    "no name of several": Wrong(
        model="openai:{url}",
        says="lists 2 models: llama-3, qwen-3. Name one: openai:MODEL@",
    ),
    "key": Wrong(
        settings=("model.api_key_env=WRONG_KEY",),
        answer=wants_a_key,
        says="the server refused the key in WRONG_KEY: correct it",
    ),
    "refused whatever is sent": Wrong(
        answer=always(refused("temperature must be 1")),
        says=r"refuses the request \(status 400: temperature must be 1\)\n",
    ),
    "no key": Wrong(
        settings=("model.api_key_env=NO_KEY",),
        answer=wants_a_key,
        says="the server wants a key: set NO_KEY",
    ),
    "harmful field": Wrong(
        answer=refusing("temperature", refused("temperature must be 1")),
        says="refuses the request: set model.without=temperature",
    ),
    "field of the user": Wrong(
        settings=('model.body={"top_k": 20}',),
        answer=refusing("top_k", refused("top_k: extra fields are forbidden", 422)),
        says="refuses the request: take top_k out of model.body",
    ),
    "timeout": Wrong(
        settings=("model.timeout=0.001",), says="timed out: .*Raise model.timeout"
    ),
    "context": Wrong(
        answer=refusing("max_tokens", refused("the context has 512 tokens"), 512),
        says="lower model.max_tokens, or set model.context",
    ),
    "context as an error": Wrong(
        answer=refusing(
            "max_tokens", refused("Context size has been exceeded", 500), 512
        ),
        says="lower model.max_tokens, or set model.context",
    ),
    "limit by either name": Wrong(
        answer=too_large,
        says="lower model.max_tokens, or set model.context",
    ),
    "log-probabilities": Wrong(
        settings=("model.logprobs=true",),
        answer=refusing("logprobs", refused("not allowed to request logprobs", 403)),
        says=r"set model.logprobs=false \(not allowed",
    ),
    "empty whatever is sent": Wrong(
        answer=always(Reply(body=b"")),
        says="the answer is no whole JSON: it is empty\n",
    ),
    "limit of answers": Wrong(
        answer=always(CUT), says="(?i)truncated: .*raise agent.max_tokens"
    ),
    "empty answers": Wrong(
        answer=always(said("")), says="empty: the model ended without an answer"
    ),
    "unusable answers": Wrong(
        answer=always(said("I like mazes.")),
        says="none of 3 first answers can be used, the last was 'I like mazes.'",
    ),
    "no tools": Wrong(
        settings=("agent.actions=tools",),
        answer=refusing("tools", refused("unknown field tools")),
        says="refuses the request: set model.without=tool_choice,tools",
    ),
    "no schemas": Wrong(
        settings=("agent.actions=schema",),
        answer=refusing("response_format", refused("response_format.type", 500)),
        says="refuses the request: set model.without=response_format",
    ),
    "malformed prices": Wrong(
        settings=("model.prices=cheap",), says="model.prices: wanted .*, got 'cheap'"
    ),
    "no prices": Wrong(
        settings=("run.max_cost=1",), says="run.max_cost: .*model.prices=PROMPT,ANSWER"
    ),
    "weights": Wrong(
        settings=("cogmap.weights=nano",),
        probe="cogmap",
        says="'nano' cannot replay the answers of .*prompt has 1000 tokens there and .*set cogmap.weights",
    ),
    "quota": Wrong(
        answer=always(refused("pay first", 402)), says="quota of this key is spent"
    ),
}


def run(gde: Gde, wrong: Wrong, server: FakeServer, *more: str) -> Done:
    model = wrong.model.format(url=server.url, host=server.host)
    settings = [word for each in wrong.settings for word in ("--set", each)]
    words = ["eval", "--env", "grid", "--agent", "gpt-oss", "--model", model]
    if wrong.probe:
        words += ["--probe", wrong.probe]
    return gde(*words, *settings, "--set", "env.size=5", "--episodes", "4", *more)


NAMES = [
    # Weights have to be loaded.
    pytest.param(name, marks=pytest.mark.extended) if wrong.probe else name
    for name, wrong in WRONG.items()
]


@pytest.mark.parametrize("name", NAMES)
def test_a_misconfiguration_is_one_line_before_anything_is_written(
    name: str, gde: Gde, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG_KEY", KEY)
    wrong = WRONG[name]
    with serving(wrong.answer, wrong.listed) as server:
        done = run(gde, wrong, server, "--set", "model.retries=0")
    assert done.returncode == 2
    assert done.stdout == "" and done.stderr.count("\n") == 1
    with pytest.raises(AssertionError, match=wrong.says):
        raise AssertionError(done.stderr)
    assert KEY[:8] not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_study_is_refused_alike(gde: Gde, tmp_path: Path) -> None:
    with serving(always(said("I like mazes."))) as server:
        done = gde(
            *("reproduce", "telos-behaviour", "--scale", "0.01"),
            *("--model", f"openai:{MODEL}@{server.url}"),
        )
    assert done.returncode == 2 and "none of 3 first answers" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_agents_cost_together_is_said(gde: Gde, tmp_path: Path) -> None:
    with serving(plain, TWO) as server:
        models = ",".join(f"openai:{name}@{server.url}" for name in TWO)
        done = gde(
            *("eval", "--env", "grid", "--agent", "gpt-oss", "--model", models),
            *("--set", "env.size=5", "--episodes", "2", "--dry-run", "--json"),
        )
        assert server.asked == []
    assert done.returncode == 0, done.stderr
    variants = json.loads(done.stdout)["variants"]
    calls = [each["estimates"][0]["calls"] for each in variants.values()]
    assert len(calls) == 2 and calls[0] == calls[1] > 0
    assert not list(tmp_path.iterdir())
