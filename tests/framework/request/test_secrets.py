"""Keys are given to parts, and stand in no text of the record."""

import json

import pytest

from gde.data.completion import Completion, Message
from gde.data.result import Failure
from gde.masking import MASK, SHORTEST, masked
from gde.request.secrets import Secrets, host_of

KEY = 'sk-"canary/0123'


@pytest.fixture
def knowing(monkeypatch: pytest.MonkeyPatch) -> Secrets:
    """Secrets that hold the key."""
    monkeypatch.setenv("CANARY_KEY", KEY)
    secrets = Secrets()
    secrets.keep_out(["CANARY_KEY"])
    return secrets


def test_a_key_that_was_given_is_kept_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CANARY_KEY", KEY)
    secrets = Secrets()
    assert secrets.scrubbed(KEY) == KEY
    assert secrets.give("CANARY_KEY") == KEY
    assert secrets.scrubbed(f"the key is {KEY}.") == f"the key is {MASK}."


@pytest.mark.parametrize("value", ["", None])
def test_a_variable_without_a_value_gives_none(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv("CANARY_KEY", raising=False)
    else:
        monkeypatch.setenv("CANARY_KEY", value)
    secrets = Secrets()
    assert secrets.give("CANARY_KEY") == ""
    secrets.keep_out(["CANARY_KEY"])
    assert secrets.scrubbed("left as it is") == "left as it is"


@pytest.mark.parametrize(
    ("length", "is_masked"), [(SHORTEST - 1, False), (SHORTEST, True)]
)
def test_only_a_text_as_long_as_a_key_is_masked(
    monkeypatch: pytest.MonkeyPatch, length: int, is_masked: bool
) -> None:
    secret = "0123456789abcdef"[:length]
    monkeypatch.setenv("CANARY_KEY", secret)
    secrets = Secrets()
    secrets.keep_out(["CANARY_KEY"])
    assert secrets.scrubbed(f"<{secret}>") == f"<{MASK if is_masked else secret}>"
    assert SHORTEST == 8


def test_a_piece_in_another_case_is_masked() -> None:
    key = "sk-A1b2C3d4E5f6"
    assert masked(f"İt is {key.lower()[:9]}, or {key.upper()}!", key) == (
        "İt is ***, or ***!"
    )
    assert masked("sk-a1b2 and c3d4e5f", key) == "sk-a1b2 and c3d4e5f"


def test_every_one_of_several_keys_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"ONE_KEY": "first-secret", "OTHER_KEY": "second-secret"}
    for variable, key in keys.items():
        monkeypatch.setenv(variable, key)
    secrets = Secrets()
    secrets.keep_out(keys)
    text = "first-secret second-secret first-secret"
    assert secrets.scrubbed(text) == f"{MASK} {MASK} {MASK}"


def test_a_key_is_masked_in_json_and_in_json_within_json(knowing: Secrets) -> None:
    once = json.dumps({"key": KEY})
    twice = json.dumps({"answer": once})
    assert json.loads(knowing.scrubbed(once)) == {"key": MASK}
    inner = json.loads(knowing.scrubbed(twice))["answer"]
    assert json.loads(inner) == {"key": MASK}


def test_texts_of_a_row_are_masked_and_other_values_stay(knowing: Secrets) -> None:
    row = (1, f"a {KEY}", None, 2.5, b"\x00", "plain")
    clean = knowing.scrubbed_row(row)
    assert list(clean) == [1, f"a {MASK}", None, 2.5, b"\x00", "plain"]


def test_without_keys_rows_and_answers_are_the_same_objects() -> None:
    secrets, row = Secrets(), (1, "text")
    answer = Completion(text="text", reasoning=None, finish="stop")
    assert secrets.scrubbed_row(row) is row
    assert secrets.scrubbed_answer(answer) is answer


@pytest.mark.parametrize(
    ("reasoning", "clean"), [(None, None), ("", ""), (f"saw {KEY}", f"saw {MASK}")]
)
def test_an_answer_is_masked_in_all_of_its_texts(
    knowing: Secrets, reasoning: str | None, clean: str | None
) -> None:
    messages = [
        Message(role="system", content="be brief"),
        Message(role="user", content=f"use {KEY}"),
    ]
    answer = Completion(
        text=f"{KEY}!",
        reasoning=reasoning,
        finish="stop",
        answered_by=KEY,
        served={"provider": KEY},
        prompt=tuple(messages),
    )
    found = knowing.scrubbed_answer(answer)
    assert (found.text, found.reasoning) == (f"{MASK}!", clean)
    assert (found.answered_by, found.finish) == (MASK, "stop")
    assert found.served == {"provider": MASK}
    told = [(one.role, one.content) for one in found.prompt]
    assert told == [("system", "be brief"), ("user", f"use {MASK}")]


def test_failures_are_masked_in_reason_and_traceback(knowing: Secrets) -> None:
    failure = Failure(
        stage="metric", subject="m", reason=f"not {KEY}", traceback=f"at {KEY}"
    )
    (clean,) = knowing.scrubbed_failures([failure])
    assert (clean.reason, clean.traceback) == (f"not {MASK}", f"at {MASK}")
    assert (clean.stage, clean.subject) == ("metric", "m")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.com/v1", "api.example.com"),
        ("https://API.example.com:8443/v1", "api.example.com:8443"),
        ("http://localhost:8000/v1", "localhost:8000"),
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("http://[::1]:8000/v1", "[::1]:8000"),
        ("http://api.example.com/v1", "http://api.example.com"),
        ("http://localhost.evil.example/v1", "http://localhost.evil.example"),
        ("https://api.example.com@evil.example/v1", "evil.example"),
        ("https://me@models.example@evil.example/v1", "evil.example"),
    ],
)
def test_a_host_is_what_a_key_travels_to_and_tells_whether_it_is_encrypted(
    url: str, host: str
) -> None:
    assert host_of(url) == host
