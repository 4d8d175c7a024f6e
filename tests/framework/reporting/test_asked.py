"""The models behind a result are named as the user named them, with host and cost."""

from dataclasses import replace

import pytest

from gde.data.model_use import ModelUse, Usage
from gde.data.result import Subject
from gde.reporting.asked import (
    agent_text,
    amount,
    asked_lines,
    days_text,
    model_text,
    money,
    named,
    seconds_text,
    usage_text,
)
from gde.reporting.wording import SPACE

SERVED = ModelUse(
    name="openai:gpt-5-mini",
    model="openai:gpt-5-mini@https://user:key@api.example.com/v1?key=1",
    kind="agent",
    part="gpt-oss",
    answered_by={"gpt-5-mini-2026-01": 3},
    days=("2026-11-23", "2026-11-23"),
    usage=Usage(
        calls=640,
        prompt_tokens=1_000_000,
        answer_tokens=200_000,
        seconds=340.2,
        cost=0.84,
    ),
)


def words(text: str) -> str:
    return text.replace(SPACE, " ")


def test_a_line_says_model_host_day_calls_tokens_time_and_cost() -> None:
    (line,) = asked_lines([SERVED])
    assert words(line) == (
        "gpt-oss with openai:gpt-5-mini (api.example.com), 23 Nov 2026, which calls itself"
        " gpt-5-mini-2026-01; 640 calls, 1.2 M tokens (1.0 M in, 200 k out), 340 s of model"
        " time, cost 0.84"
    )


def test_a_line_says_how_the_server_failed() -> None:
    failed = {"status 502": 3, "the answer has no content": 1}
    (line,) = asked_lines([replace(SERVED, failed=failed)])
    assert line.endswith(
        ", asked again after: status 502 (n = 3), the answer has no content (n = 1)"
    )


def test_a_brief_line_fits_on_a_terminal() -> None:
    brief = replace(SERVED, name="nano", model="nano", answered_by={"nano": 3})
    (line,) = asked_lines([brief], brief=True)
    assert words(line) == (
        "gpt-oss with nano, 23 Nov 2026; 640 calls, 1.2 M tokens, 340 s, cost 0.84"
    )


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (("2026-11-23", "2026-11-23"), "23 Nov 2026"),
        (("2026-11-23", "2026-11-24"), "23 Nov 2026 to 24 Nov 2026"),
        (("2025-11-23", "2026-11-24"), "23 Nov 2025 to 24 Nov 2026"),
    ],
)
def test_days_are_said_once(days: tuple[str, str], text: str) -> None:
    assert words(days_text(days)) == text


def test_other_parts_are_named_by_their_kind() -> None:
    judge = replace(
        SERVED, kind="reward_model", part="judge", name="nano", model="nano"
    )
    (line,) = asked_lines([replace(judge, answered_by={})])
    assert line.startswith("reward model judge with nano, 23")


@pytest.mark.parametrize(
    ("name", "model", "answered_by", "text"),
    [
        ("nano", "nano", (), "nano"),
        ("hf:/models/a", "hf:/models/a", (), "hf:/models/a"),
        (
            "openai",
            "openai:http://localhost:8000/v1",
            ("qwen",),
            "openai:qwen (localhost:8000)",
        ),
        ("openai", "openai:http://localhost:8000/v1", (), "openai (localhost:8000)"),
        (
            "big",
            "openai:gpt-5@https://api.example.com/v1",
            (),
            "big (openai:gpt-5, api.example.com)",
        ),
        ("big", "hf:/models/a", (), "big (hf:/models/a)"),
        (
            "openai",
            "openai:http://localhost:8000/v1",
            ("/models/qwen.gguf",),
            "openai:qwen.gguf (localhost:8000)",
        ),
    ],
)
def test_a_model_is_named_without_its_address(
    name: str, model: str, answered_by: tuple[str, ...], text: str
) -> None:
    use = replace(
        SERVED, name=name, model=model, answered_by=dict.fromkeys(answered_by, 1)
    )
    assert model_text(use) == text


def test_a_path_by_which_a_model_calls_itself_is_not_repeated() -> None:
    url = "http://localhost:8000/v1"
    model = f"openai:/a/b@{url}"
    use = replace(SERVED, name="openai:/a/b", model=model, answered_by={"/a/b@main": 1})
    (line,) = asked_lines([use])
    assert line.startswith("gpt-oss with openai:b (localhost:8000)")
    assert "/a" not in line and "calls itself" not in line
    other = replace(use, answered_by={"/c/d": 1})
    assert "which calls itself d;" in asked_lines([other])[0]


def test_no_text_has_a_key_of_the_address() -> None:
    of = Subject(agent="gpt-oss", model=SERVED.name)
    for text in (agent_text(of, [SERVED]), agent_text(of, []), *asked_lines([SERVED])):
        assert "key" not in text
    assert named(SERVED.model) == "openai:gpt-5-mini (api.example.com)"


def test_what_is_not_known_is_said_to_be_so() -> None:
    unknown = Usage(calls=3, cached=2, untold=3)
    assert words(usage_text(unknown)) == (
        "3 calls, 2 more from the cache, tokens of 3 calls unknown, no prices set"
    )
    assert usage_text(replace(unknown, cost=1.0)).endswith("cost at least 1.00")


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (7.25, "7.2"), (999.6, "1,000"), (12_345, "12 k"), (1_250_000, "1.2 M")],
)
def test_large_numbers_are_short(number: float, text: str) -> None:
    assert words(amount(number)) == text


def test_short_times_keep_two_digits() -> None:
    found = [words(seconds_text(each)) for each in (1234.5, 3.14, 0.31, 0.0004)]
    assert found == ["1,234 s", "3.1 s", "0.31 s", "< 0.1 s"]


def test_small_amounts_of_money_keep_two_digits() -> None:
    assert [money(each) for each in (12.345, 0.0123, 0.0)] == ["12.35", "0.012", "0.00"]
