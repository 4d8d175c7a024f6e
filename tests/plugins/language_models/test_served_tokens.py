"""Token ids and log-probabilities of a served answer, in the words of several servers,
and in none that make sense.
"""

from typing import Any

import pytest

from gde.data.completion import Completion

pytest.importorskip("openai", reason="needs the extra openai")

from gde_plugins.language_models.served_tokens import LOWEST, with_tokens

SAID = Completion(text="up", reasoning=None, finish="stop")


def read(choice: dict[str, Any], **answer: Any) -> tuple[Any, ...]:
    found = with_tokens(SAID, {"choices": [choice], **answer})
    assert (found.text, found.positions) == ("up", {})
    return found.prompt_tokens, found.tokens, found.logprobs


def entries(*values: object) -> dict[str, Any]:
    return {"content": [{"token": "x", "logprob": value} for value in values]}


@pytest.mark.parametrize(
    ("choice", "answer", "found"),
    [
        (
            {"token_ids": [3, 4]},
            {"prompt_token_ids": [1, 2]},
            ((1, 2), (3, 4), ()),
        ),
        ({"token_ids": [3], "prompt_token_ids": [1, 2]}, {}, ((1, 2), (3,), ())),
        (
            {"logprobs": {"content": [{"id": 7, "token": "u", "logprob": -0.5}]}},
            {},
            ((), (7,), (-0.5,)),
        ),
        (
            {"token_ids": [3, 4], "logprobs": entries(-1, -0.0)},
            {},
            ((), (3, 4), (-1.0, -0.0)),
        ),
        ({"logprobs": entries(-3.4e38)}, {}, ((), (), (LOWEST,))),
    ],
    ids=["vLLM", "SGLang", "llama.cpp", "ids and logprobs", "probability 0"],
)
def test_ids_and_log_probabilities_are_found(
    choice: dict[str, Any], answer: dict[str, Any], found: tuple[Any, ...]
) -> None:
    assert read(choice, **answer) == found


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"token_ids": None, "logprobs": None},
        {"token_ids": "12", "prompt_token_ids": {"0": 1}},
        {"token_ids": [1, -2], "prompt_token_ids": [1.5]},
        {"token_ids": [True], "prompt_token_ids": [2**31]},
        {"logprobs": []},
        {"logprobs": {"content": "no"}},
        {"logprobs": {"content": [None, 3]}},
        {"logprobs": entries(-1.0, None)},
        {"logprobs": entries(-1.0, float("nan"))},
        {"logprobs": entries(0.5)},
        {"logprobs": entries(float("-inf"))},
        {"logprobs": entries("-1")},
    ],
)
def test_what_makes_no_sense_is_left_out(choice: dict[str, Any]) -> None:
    assert read(choice) == ((), (), ())
