"""An answer in pieces reads as the same answer in one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.completion import Completion

pytest.importorskip("openai", reason="needs the extra openai")

from gde_plugins.language_models.connection import CutOff
from gde_plugins.language_models.served_tokens import with_tokens
from gde_plugins.language_models.server_answers import Failed, failure, read_answer
from gde_plugins.language_models.server_stream import assemble, is_stream

Body = dict[str, Any]


def events(*chunks: Body, done: bool = True) -> bytes:
    """The bytes of a stream."""
    lines = [": a comment", ""]
    for chunk in chunks:
        lines += [f"data: {json.dumps(chunk, ensure_ascii=False)}", ""]
    if done:
        lines += ["data: [DONE]", ""]
    return "\r\n".join(lines).encode()


def piece(delta: Body | None = None, **choice: Any) -> Body:
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [
            {"index": 0, "delta": delta or {}, "finish_reason": None, **choice}
        ],
    }


END = piece(finish_reason="stop")
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


def read(answer: Body) -> Completion:
    assert failure(answer) is None
    return with_tokens(read_answer(answer), answer)


texts = st.lists(st.text(min_size=1, max_size=8), max_size=5)


@given(content=texts, reasoning=texts, arguments=texts, n_tokens=st.integers(0, 4))
def test_pieces_read_as_the_whole(
    content: list[str], reasoning: list[str], arguments: list[str], n_tokens: int
) -> None:
    chunks = [piece({"role": "assistant", "content": ""})]
    chunks += [piece({"reasoning_content": each}) for each in reasoning]
    chunks += [piece({"role": "assistant", "content": each}) for each in content]
    message: Body = {"role": "assistant", "content": "".join(content)}
    if reasoning:
        message["reasoning_content"] = "".join(reasoning)
    if arguments:
        call = {"index": 0, "id": "1", "type": "function"}
        named = {**call, "function": {"name": "act", "arguments": ""}}
        chunks.append(piece({"tool_calls": [named]}))
        for each in arguments:
            more = {**call, "function": {"arguments": each}}
            chunks.append(piece({"tool_calls": [more]}))
        written = {"name": "act", "arguments": "".join(arguments)}
        message["tool_calls"] = [{**call, "function": written}]
    logprobs = [{"token": "t", "logprob": -1.0 - i, "id": i} for i in range(n_tokens)]
    for each in logprobs:
        token: Body = {"logprobs": {"content": [each]}, "token_ids": [each["id"]]}
        chunks.append(piece(**token))
    chunks += [END, {**USAGE, "system_fingerprint": "f", "provider": "p"}]

    choice: Body = {"index": 0, "message": message, "finish_reason": "stop"}
    choice["logprobs"] = {"content": logprobs}
    choice["token_ids"] = [each["id"] for each in logprobs]
    whole = {
        "model": "m",
        "system_fingerprint": "f",
        "provider": "p",
        "choices": [choice],
        "usage": USAGE["usage"],
    }
    streamed = events(*chunks)
    assert is_stream(streamed) and not is_stream(json.dumps(whole).encode())
    assert read(assemble(streamed)) == read(whole)
    assert read(assemble(streamed)).served == read(whole).served
    # A server may forget to say that it is done.
    assert read(assemble(events(*chunks, done=False))) == read(whole)


def called(place: int, identity: str, arguments: str) -> Body:
    function = {"name": f"f{identity}", "arguments": arguments}
    return {"index": place, "id": identity, "function": function}


@pytest.mark.parametrize("places", [(0, 1), (0, 0)])
def test_two_calls_stay_apart_although_they_have_one_number(
    places: tuple[int, int],
) -> None:
    chunks = []
    for identity, place in zip("ab", places, strict=True):
        more = {"index": place, "function": {"arguments": "}"}}
        chunks.append(piece({"tool_calls": [called(place, identity, "{")]}))
        chunks.append(piece({"tool_calls": [more]}))
    (choice,) = assemble(events(*chunks, END))["choices"]
    calls = [called(places[0], "a", "{}"), called(places[1], "b", "{}")]
    assert choice["message"]["tool_calls"] == calls


def test_a_content_may_begin_in_parts_and_go_on_as_text() -> None:
    chunks = [piece({"role": "assistant", "content": ""})]
    for word in ("go ", "north"):
        text = [{"type": "text", "text": word}]
        chunks.append(piece({"content": [{"type": "thinking", "thinking": text}]}))
    chunks += [piece({"content": "U"}), piece({"content": "P"}), END]
    found = read(assemble(events(*chunks)))
    assert (found.text, found.reasoning) == ("UP", "go north")
    parts = [
        piece({"content": "U"}),
        piece({"content": [{"type": "text", "text": "P"}]}),
    ]
    assert read(assemble(events(*parts, END))).text == "UP"


def test_empty_fields_of_later_pieces_take_nothing_back() -> None:
    empty = {**piece({"content": ""}, finish_reason=""), "model": ""}
    found = read(assemble(events(piece({"content": "UP"}), END, USAGE, empty)))
    assert (found.text, found.finish, found.answered_by) == ("UP", "stop", "m")
    assert found.n_completion == 3


def test_a_whole_message_may_come_by_an_event() -> None:
    choice = {"message": {"content": "UP"}, "finish_reason": "stop"}
    assert read(assemble(events({"choices": [choice]}))).text == "UP"


def test_what_a_server_repeats_is_no_text_in_pieces() -> None:
    def call(arguments: str) -> Body:
        function = {"name": "act", "arguments": arguments}
        calls = [{"index": 0, "id": "1", "type": "function", "function": function}]
        return piece({"role": "assistant", "tool_calls": calls}, finish_reason="stop")

    (choice,) = assemble(events(call("{"), call("}")))["choices"]
    assert choice["message"] == call("{}")["choices"][0]["delta"]
    assert choice["finish_reason"] == "stop"


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("chunks", [[], [piece({"content": "UP"})], [USAGE]])
def test_pieces_without_an_end_are_a_failure_of_the_server(
    chunks: list[Body], done: bool
) -> None:
    with pytest.raises(Failed, match="stops without a finish_reason"):
        assemble(events(*chunks, done=done))


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"error": {"message": "gone", "code": 502}}, 502),
        ({"object": "error", "message": "gone", "code": 503}, 503),
        (piece(error={"message": "gone", "code": 429}), 429),
        (piece(finish_reason="error"), None),
    ],
)
def test_an_error_among_the_pieces_is_a_failure_of_the_server(
    error: Body, status: int | None
) -> None:
    failed = failure(assemble(events(piece({"content": "UP"}), error)))
    assert failed is not None and failed.status == status


def test_half_a_piece_is_cut_off() -> None:
    with pytest.raises(CutOff, match="no whole JSON"):
        assemble(events(piece({"content": "UP"}), END, done=False)[:-20])


def test_a_long_answer_takes_no_long_time_to_join() -> None:
    chunks = [piece({"content": "word "}, token_ids=[1]) for _ in range(20_000)]
    (choice,) = assemble(events(*chunks, END))["choices"]
    assert len(choice["token_ids"]) == 20_000
