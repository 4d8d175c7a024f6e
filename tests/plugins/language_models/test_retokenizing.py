"""The tokens of a served answer are those that the server read and wrote, or there are
none.
"""

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.errors import CannotReplay
from gde_plugins.language_models.channels import Plain, channels_of
from gde_plugins.language_models.chat_template import ChatTemplate
from gde_plugins.language_models.retokenizing import Retokenizing
from gde_plugins.language_models.transformers_model import TransformersModel

ASKED = (Message(role="user", content="w1 w2 w3"),)
SAID = Completion(
    text="w5 w6", reasoning="w7 w8 w9", finish="stop", prompt=ASKED, effort="low"
)
ANSWER = (
    "<|channel|> analysis <|message|> w7 w8 w9 <|end|> <|start|> assistant"
    " <|channel|> final <|message|> w5 w6"
)


def ids(model: TransformersModel, text: str) -> tuple[int, ...]:
    return model.tokenize(text).ids


def own_prompt(model: TransformersModel) -> tuple[int, ...]:
    request = ChatRequest(messages=ASKED, seed=0, sampling=Sampling(max_tokens=1))
    return asyncio.run(model.complete(request)).prompt_tokens


def test_tokens_are_rendered_from_the_record(tiny: TransformersModel) -> None:
    found = tiny.retokenize(SAID)
    assert found.prompt_tokens == own_prompt(tiny)
    assert found.tokens == ids(tiny, ANSWER)
    assert set(found.positions) == {"pre", "reasoning", "post"}
    assert replace(found, prompt_tokens=(), tokens=(), positions={}) == SAID


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [
        (replace(SAID, reasoning=None), "<|channel|> final <|message|> w5 w6"),
        (
            replace(SAID, text="", finish="length"),
            "<|channel|> analysis <|message|> w7 w8 w9",
        ),
        (replace(SAID, text="", reasoning=None), ""),
    ],
)
def test_half_an_answer_is_rendered_as_far_as_it_goes(
    tiny: TransformersModel, answer: Completion, tokens: str
) -> None:
    assert tiny.retokenize(answer).tokens == ids(tiny, tokens)


def test_the_effort_that_was_sent_is_in_the_prompt(tiny: TransformersModel) -> None:
    (word,) = ids(tiny, "w20")
    told = tiny.retokenize(replace(SAID, effort="w20")).prompt_tokens
    assert word in told
    # The template has a default of its own.
    unsent = tiny.retokenize(replace(SAID, effort=None)).prompt_tokens
    assert unsent == own_prompt(tiny) != told


def test_given_tokens_are_kept(tiny: TransformersModel) -> None:
    prompt = (*own_prompt(tiny), *ids(tiny, "w39"))
    tokens = ids(tiny, f"{ANSWER} <|return|>")
    found = tiny.retokenize(replace(SAID, prompt_tokens=prompt, tokens=tokens))
    assert (found.prompt_tokens, found.tokens) == (prompt, tokens)
    assert found.positions["pre"][-1] == len(prompt) - 1


@pytest.mark.parametrize(("n", "finish"), [(15, "stop"), (14, "stop"), (14, "length")])
def test_the_token_that_ends_an_answer_may_be_counted_or_not(
    tiny: TransformersModel, n: int, finish: Any
) -> None:
    n_prompt = len(own_prompt(tiny))
    counted = replace(SAID, n_prompt=n_prompt, n_completion=n, finish=finish)
    assert len(tiny.retokenize(counted).tokens) == 14
    given = replace(counted, tokens=ids(tiny, f"{ANSWER} <|return|>"))
    if finish == "stop":
        assert len(tiny.retokenize(given).tokens) == 15


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n_prompt": 351}, "^prompt has 351 tokens there and 14 here$"),
        ({"n_completion": 16}, "^completion has 16 tokens there and 14 here$"),
        (
            {"n_completion": 15, "finish": "length"},
            "^completion has 15 tokens there and 14 here$",
        ),
        ({"text": "strange"}, "^the answer's tokens give another text here$"),
        ({"reasoning": "strange"}, "^the reasoning's tokens give another text here$"),
        ({"tokens": (9, 9)}, "^the answer's tokens give another text here$"),
        ({"tokens": (1_000,)}, "^token 1000 is none of the 53 of the weights$"),
        ({"prompt_tokens": (1_000,)}, "^token 1000 is none of the 53 of the weights$"),
        ({"prompt_tokens": (3, 4, 5)}, "^the prompt's tokens give another text here$"),
        ({"prompt": ()}, "^the record has no conversation to render$"),
    ],
)
def test_an_answer_that_is_not_the_servers_is_refused(
    tiny: TransformersModel, change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(CannotReplay, match=reason):
        tiny.retokenize(replace(SAID, **change))


def test_a_conversation_that_the_template_refuses_is_a_reason(
    tiny: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        tiny._template, "_template", "{{ raise_exception('no such role') }}"
    )
    with pytest.raises(CannotReplay, match="no such role"):
        tiny.retokenize(SAID)


def scores(
    model: TransformersModel, prompt: tuple[int, ...], tokens: tuple[int, ...]
) -> tuple[float, ...]:
    sequence = TokenSequence(tokens=prompt + tokens, positions={}, scored=len(tokens))
    (record,) = model.capture([sequence], CaptureRequest(layers=()))
    return record.logprobs


def test_log_probabilities_are_those_of_generation(tiny: TransformersModel) -> None:
    """Of the likeliest tokens in a row, no other is likelier."""
    request = ChatRequest(
        messages=ASKED, seed=0, sampling=Sampling(max_tokens=3, temperature=0.0)
    )
    own = asyncio.run(tiny.complete(request))
    best = scores(tiny, own.prompt_tokens, own.tokens)
    assert len(best) == 3
    for place in range(3):
        every = []
        for other in range(53):
            tokens = (*own.tokens[:place], other)
            every.append(scores(tiny, own.prompt_tokens, tokens)[-1])
        assert best[place] == pytest.approx(max(every), abs=1e-4)
        assert np.exp(every).sum() == pytest.approx(1.0, abs=1e-4)


class Tags:
    """Weights whose template reasons between tags, perhaps opened in the prompt."""

    def __init__(self, *, opened: bool) -> None:
        words = ["<think>", "</think>", "\n", "[unk]", "user", "a", "b", "up"]
        core = Tokenizer(
            models.WordLevel({word: i for i, word in enumerate(words)}, "[unk]")
        )
        core.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
        core.add_special_tokens(["<think>", "</think>"])
        core.add_tokens(["\n"])
        template = "{% for m in messages %}{{ m.role + ' ' + m.content }}{% endfor %}"
        opening = "{{ ' <think>\n' }}" if opened else ""
        self.tokenizer: Any = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
            tokenizer_object=core, chat_template=template + opening
        )
        self.local = Retokenizing(
            tokenizer=self.tokenizer,
            template=ChatTemplate(self.tokenizer, whose="x", date="2026-01-01"),
            channels=channels_of(self.tokenizer),
            stops=frozenset(),
            vocabulary=len(words),
        )

    def tokens(self, **answer: Any) -> list[str]:
        said = Completion(
            **{
                "text": "up",
                "reasoning": "a b",
                "finish": "stop",
                "prompt": (Message(role="user", content="b"),),
                **answer,
            }
        )
        found = self.local.retokenize(said).tokens
        return list(self.tokenizer.convert_ids_to_tokens(found))


WITH_LINES = ["\n", "</think>", "\n", "\n", "up"]


@pytest.mark.parametrize("opened", [False, True])
def test_reasoning_between_tags_is_rendered_as_models_write_it(opened: bool) -> None:
    begun = [] if opened else ["<think>", "\n"]
    assert Tags(opened=opened).tokens() == [*begun, "a", "b", *WITH_LINES]
    silent = [*WITH_LINES] if opened else ["up"]
    assert Tags(opened=opened).tokens(reasoning=None) == silent
    cut = Tags(opened=opened).tokens(text="", finish="length")
    assert cut == [*begun, "a", "b"]


def test_the_servers_count_tells_how_much_white_space_it_cut_off() -> None:
    assert Tags(opened=False).tokens(n_completion=9) == [
        "<think>",
        "\n",
        "a",
        "b",
        *WITH_LINES,
    ]
    bare = ["<think>", "a", "b", "</think>", "up"]
    assert Tags(opened=False).tokens(n_completion=5) == bare
    with pytest.raises(CannotReplay, match="has 7 tokens there and 9 here"):
        Tags(opened=False).tokens(n_completion=7)


def test_weights_without_a_form_for_reasoning_refuse_it() -> None:
    tags = Tags(opened=False)
    plain = Plain(decode=tags.local.channels.decode)
    asked = (Message(role="user", content="b"),)
    said = Completion(text="up", reasoning="a", finish="stop", prompt=asked)
    with pytest.raises(CannotReplay, match="the reasoning's tokens give another text"):
        replace(tags.local, channels=plain).retokenize(said)
