"""Servers that misbehave, over real connections: each fault costs what it must, has one
line, and harms nobody else.
"""

import asyncio
import gzip
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gde.data.completion import ChatRequest, Completion, Message
from gde.errors import GdeError, Unavailable

pytest.importorskip("openai", reason="needs the extra openai")

from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.openai_model import OpenAIModel

Send = Callable[[bytes], Awaitable[None]]
Behaviour = Callable[[Send], Awaitable[None]]
KEY = "sk-canary-0123456789"


def request(seed: int = 0) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content="where?"),), seed=seed)


def answer(**fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "here"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        **fields,
    }


def http(status: int, body: bytes, *headers: str) -> bytes:
    lines = [
        f"HTTP/1.1 {status} X",
        "content-type: application/json",
        f"content-length: {len(body)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def says(status: int, body: Any, *headers: str) -> Behaviour:
    async def behave(send: Send) -> None:
        await send(
            http(
                status,
                body if isinstance(body, bytes) else json.dumps(body).encode(),
                *headers,
            )
        )

    return behave


@asynccontextmanager
async def server(
    behave: Behaviour | Callable[[], Behaviour], seen: list[bytes]
) -> AsyncIterator[str]:
    """The URL of a server that behaves so, and notes the requests that it sees."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def send(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(each[15:])
                    for each in head.lower().split(b"\r\n")
                    if each.startswith(b"content-len")
                )
                seen.append(head + await reader.readexactly(length))
                await behave(send)  # type: ignore[misc]
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client, or the test, is gone
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    finally:
        listening.close()


def ask(
    behave: Behaviour, n: int = 1, **settings: Any
) -> tuple[list[Any], list[bytes]]:
    """What n requests at once give, and what the server saw."""
    seen: list[bytes] = []

    async def asked() -> list[Any]:
        async with server(behave, seen) as url:
            config = OpenAIConfig(
                source="m", url=url, **{"retries": 1, "timeout": 5.0, **settings}
            )
            model = OpenAIModel(config, KEY)
            return await asyncio.gather(
                *(model.complete(request(i)) for i in range(n)), return_exceptions=True
            )

    return asyncio.run(asked()), seen


def one_line(error: object) -> str:
    assert isinstance(error, GdeError), error
    assert "\n" not in str(error) and KEY not in str(error) and len(str(error)) < 500
    return str(error)


async def _drips(send: Send) -> None:
    await send(
        b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n"
    )
    for _ in range(1000):
        await send(b" ")
        await asyncio.sleep(0.02)


async def _never_ends(send: Send) -> None:
    await send(
        b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    for _ in range(1000):
        await send(b"10000\r\n" + b" " * 65536 + b"\r\n")


def sends(data: bytes) -> Behaviour:
    async def behave(send: Send) -> None:
        await send(data)

    return behave


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\xff\xfegarbage\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
    ],
)
def test_what_is_no_http_is_an_outage_in_one_line(data: bytes) -> None:
    (error,), _ = ask(sends(data), retries=0)
    assert isinstance(error, Unavailable)
    assert "the answer is no HTTP" in one_line(error)


@pytest.mark.parametrize("levels", [300, 450, 900, 100_000])
def test_answers_that_are_nested_deeply_are_read_or_refused(levels: int) -> None:
    content = b'[{"text":' * levels + b'"here"' + b"}]" * levels
    body = json.dumps(answer()).encode().replace(b'"here"', content)
    (found,), _ = ask(says(200, body), retries=0)
    if isinstance(found, Completion):
        assert found.text == "here"
    else:
        one_line(found)


def test_an_answer_that_drips_meets_the_deadline_of_the_whole() -> None:
    began = time.monotonic()
    (error,), _ = ask(_drips, timeout=0.3)
    assert (
        "timed out: no whole answer within 0.3 seconds. Raise model.timeout"
        in one_line(error)
    )
    assert time.monotonic() - began < 5


def test_an_answer_without_end_is_broken_off() -> None:
    (error,), seen = ask(_never_ends, max_bytes=300_000)
    assert "more than 300000 bytes. Raise model.max_bytes" in one_line(error)
    assert len(seen) == 1


def test_an_answer_that_is_longer_than_allowed_is_refused() -> None:
    long = answer(
        choices=[
            {"index": 0, "message": {"role": "assistant", "content": "x" * 10_000}}
        ]
    )
    (error,), _ = ask(says(200, long), max_bytes=9_000)
    assert "model.max_bytes" in one_line(error)
    (completion,), _ = ask(says(200, long), max_bytes=11_000)
    assert len(completion.text) == 10_000


def test_a_bomb_is_not_unpacked() -> None:
    (error,), _ = ask(
        says(200, gzip.compress(b" " * 10_000_000), "content-encoding: gzip")
    )
    assert "a compressed answer" in one_line(error)


def test_a_redirect_is_not_followed_and_the_key_stays_here() -> None:
    others: list[bytes] = []

    async def asked() -> object:
        async with server(says(200, answer()), others) as other:
            seen: list[bytes] = []
            async with server(
                says(307, b"", f"location: {other}/chat/completions"), seen
            ) as url:
                model = OpenAIModel(OpenAIConfig(source="m", url=url, retries=2), KEY)
                (outcome,) = await asyncio.gather(
                    model.complete(request()), return_exceptions=True
                )
                assert len(seen) == 1
                return outcome

    error = asyncio.run(asked())
    assert "the server redirects to http" in one_line(error) and isinstance(
        error, Unavailable
    )
    assert others == []


@pytest.mark.parametrize(
    ("behave", "tries", "away"),
    [
        (says(401, {"error": {"message": f"wrong key {KEY}"}}), 1, True),
        (says(403, b"no"), 1, True),
        (says(404, b"no such model"), 1, True),
        (says(400, {"error": {"message": "too long"}}), 1, False),
        (says(422, b""), 1, False),
        (says(502, b"<html>bad gateway</html>"), 2, True),
        (says(503, b"", "retry-after: 0"), 2, True),
        (says(429, {"error": {"message": "slower"}}, "retry-after: 0"), 2, True),
        (
            says(429, {"error": {"message": "pay", "code": "insufficient_quota"}}),
            1,
            True,
        ),
        (says(429, b"", "retry-after: 86400"), 1, True),
    ],
)
def test_what_nobody_is_answered_for_is_told_from_what_is_wrong_with_the_request(
    behave: Behaviour, tries: int, away: bool
) -> None:
    (error,), seen = ask(behave)
    one_line(error)
    assert isinstance(error, Unavailable) is away
    assert len(seen) == tries


HALVES = {
    False: b"HTTP/1.1 200 X\r\ncontent-length: 100\r\n\r\n{",
    True: b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: {}\n\r\n",
}
"""The beginning of an answer, in one piece and in several."""


@pytest.mark.parametrize("stream", [False, True])
def test_a_connection_that_breaks_is_tried_again(stream: bool) -> None:
    calls = 0

    async def behave(send: Send) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await send(HALVES[stream])
            raise OSError
        await says(200, answer())(send)

    (completion,), _ = ask(behave, stream=stream)
    assert completion.text == "here"


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_always_breaks_off_may_be_the_fault_of_its_request(
    stream: bool,
) -> None:
    async def behave(send: Send) -> None:
        await send(HALVES[stream])
        raise OSError

    (error,), seen = ask(behave, stream=stream)
    assert isinstance(error, Unavailable) and error.request
    assert "broke its answer off" in one_line(error)
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("odd", "expected"),
    [
        ({}, {"n_prompt": None, "n_completion": None, "answered_by": "m"}),
        ({"usage": "none of it"}, {"n_prompt": None, "n_completion": None}),
        (
            {"usage": {"prompt_tokens": -1, "completion_tokens": 2}},
            {"n_prompt": None, "n_completion": 2},
        ),
        (
            {"usage": {"prompt_tokens": 1e99, "completion_tokens": True}},
            {"n_prompt": None, "n_completion": None},
        ),
        ({"model": None}, {"answered_by": ""}),
        ({"model": ["x"]}, {"answered_by": ""}),
        ({"model": "m-2026-01-01"}, {"answered_by": "m-2026-01-01"}),
    ],
)
def test_what_is_odd_beside_a_good_answer_does_not_discard_it(
    odd: dict[str, Any], expected: dict[str, Any]
) -> None:
    (completion,), _ = ask(says(200, answer(**odd)))
    assert completion.text == "here"
    assert {name: getattr(completion, name) for name in expected} == expected


@pytest.mark.parametrize("finish", ["eos", "", None, 7, {"reason": "stop"}, "length"])
def test_any_reason_to_end_is_one(finish: Any) -> None:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "here"},
        "finish_reason": finish,
    }
    (completion,), _ = ask(says(200, answer(choices=[choice])))
    assert (completion.text, completion.finish) == (
        "here",
        "length" if finish == "length" else "stop",
    )


def test_three_hundred_malformed_answers_are_each_a_completion_or_one_line() -> None:
    rng, sent = random.Random(0), []
    whole = json.dumps(
        answer(usage={"prompt_tokens": 1, "completion_tokens": 1})
    ).encode()
    values = [
        b"null",
        b"[]",
        b"{}",
        b"1e999",
        b'"\\ud800"',
        b"-1",
        b"true",
        b'"\\u0000"',
        b"NaN",
    ]

    def malformed() -> bytes:
        match rng.randrange(3):
            case 0:  # cut off
                return whole[: rng.randrange(len(whole))]
            case 1:  # a byte is another
                at = rng.randrange(len(whole))
                return whole[:at] + bytes([rng.randrange(256)]) + whole[at + 1 :]
            case _:  # a value is another
                parts = whole.split(b": ")
                at = rng.randrange(1, len(parts))
                rest = parts[at][max(parts[at].find(b","), 0) :]
                return b": ".join(
                    [*parts[:at], rng.choice(values) + rest, *parts[at + 1 :]]
                )

    async def behave(send: Send) -> None:
        sent.append(malformed())
        await says(200, sent[-1])(send)

    outcomes, _ = ask(behave, n=300, retries=0)
    assert len(outcomes) == 300
    for outcome in outcomes:
        if isinstance(outcome, Completion):
            outcome.text.encode()
            (outcome.reasoning or "").encode()
        else:
            one_line(outcome)
    assert 30 < sum(isinstance(each, Completion) for each in outcomes) < 270


@pytest.mark.extended
def test_a_storm_of_refusals_loses_nothing() -> None:
    """The server takes 60 requests a second on average, and 5 at once."""
    tokens, at, refused = 5.0, time.monotonic(), 0

    async def behave(send: Send) -> None:
        nonlocal tokens, at, refused
        now = time.monotonic()
        tokens, at = min(5.0, tokens + 60 * (now - at)), now
        if tokens < 1:
            refused += 1
            await says(429, b"{}", "retry-after-ms: 20")(send)
            return
        tokens -= 1
        await says(200, answer())(send)

    outcomes, seen = ask(behave, n=40, retries=3)
    assert refused > 0
    assert [each.text for each in outcomes] == ["here"] * 40
    assert len(seen) == 40 + refused < 80
