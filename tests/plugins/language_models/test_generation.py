"""Generation is a function of the request alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import torch
from held import held
from transformers import GptOssForCausalLM

from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde_plugins.language_models import generation
from gde_plugins.language_models.generation import Generated, Job, generate
from gde_plugins.language_models.transformers_model import TransformersModel


def requests(count: int) -> list[ChatRequest]:
    """Prompts of 1 to 60 words, with all kinds of sampling."""
    rng = np.random.default_rng(0)
    kinds = [
        Sampling(max_tokens=30),
        Sampling(temperature=1.5, top_p=1.0, max_tokens=45),
        Sampling(temperature=0, max_tokens=9),
    ]
    return [
        ChatRequest(
            messages=(
                Message(
                    role="user",
                    content=" ".join(
                        f"w{word}" for word in rng.integers(40, size=1 + 5 * (n % 13))
                    ),
                ),
            ),
            seed=n,
            sampling=kinds[n % 3],
        )
        for n in range(count)
    ]


def answer(model: TransformersModel, asked: Sequence[ChatRequest]) -> list[Completion]:
    async def together() -> list[Completion]:
        return await asyncio.gather(*(model.complete(request) for request in asked))

    return asyncio.run(together())


def test_the_same_request_gives_the_same_tokens_in_any_company(
    tiny: TransformersModel,
) -> None:
    asked = requests(24)
    alone = [answer(tiny, [request])[0] for request in asked]
    assert len({completion.tokens for completion in alone}) > 20, (
        "random completions should differ"
    )
    assert answer(tiny, asked) == alone
    order = np.random.default_rng(1).permutation(len(asked))
    shuffled = answer(tiny, [asked[index] for index in order])
    assert [shuffled[place] for place in np.argsort(order)] == alone
    long = ChatRequest(
        messages=(Message(role="user", content="w1 " * 100),),
        seed=5,
        sampling=Sampling(max_tokens=3),
    )
    padded = [answer(tiny, [long, request])[1] for request in asked[:6]]
    assert padded == alone[:6]


def test_equal_prompts_are_read_once_and_answered_each_by_its_own_seed(
    tiny: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = requests(2)
    asked = [
        replace(request, seed=seed) for seed in range(6) for request in (first, second)
    ]
    alone = [answer(tiny, [request])[0] for request in asked]
    read: list[int] = []
    forward = GptOssForCausalLM.forward

    def counted(self: GptOssForCausalLM, *args: object, **options: object) -> object:
        read.append(len(options["input_ids"]))  # type: ignore[arg-type]
        return forward(self, *args, **options)

    monkeypatch.setattr(GptOssForCausalLM, "forward", counted)
    assert answer(tiny, asked) == alone
    assert read[0] == 2
    assert read[1] > 2


def test_another_seed_gives_other_tokens(tiny: TransformersModel) -> None:
    request = requests(2)[1]
    first, second = answer(tiny, [request, replace(request, seed=99)])
    assert first.tokens != second.tokens


def test_greedy_generation_is_that_of_transformers(tiny_folder: Path) -> None:
    reference = GptOssForCausalLM.from_pretrained(
        str(tiny_folder), dtype=torch.float64, experts_implementation="eager"
    )
    prompts = [tuple(range(10, 10 + length)) for length in (3, 14, 25)]
    jobs = [
        Job(prompt=prompt, seed=0, sampling=Sampling(temperature=0, max_tokens=20))
        for prompt in prompts
    ]
    ours = generate(reference, jobs, stops=frozenset({1}), context=160, halt=Event())
    for prompt, generated in zip(prompts, ours, strict=True):
        theirs = reference.generate(  # type: ignore[misc]
            input_ids=torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            do_sample=False,
            max_new_tokens=20,
        )
        assert generated.tokens == tuple(theirs[0, len(prompt) :].tolist())


def test_the_limit_and_the_context_end_a_completion(tiny: TransformersModel) -> None:
    request = ChatRequest(
        messages=(Message(role="user", content="w1 " * 140),),
        seed=0,
        sampling=Sampling(max_tokens=500),
    )
    full, short, overflow = answer(
        tiny,
        [
            request,
            replace(request, sampling=Sampling(max_tokens=2)),
            replace(request, messages=(Message(role="user", content="w1 " * 200),)),
        ],
    )
    assert full.n_prompt + full.n_completion <= 160
    assert full.finish == (
        "length" if full.n_prompt + full.n_completion == 160 else "stop"
    )
    assert (short.n_completion, short.finish) == (2, "length")
    assert (overflow.tokens, overflow.finish, overflow.text) == ((), "length", "")


def test_a_stop_token_ends_a_completion_and_belongs_to_it(
    tiny: TransformersModel,
) -> None:
    completions = answer(
        tiny,
        [
            replace(request, sampling=Sampling(temperature=2.0, top_p=1.0))
            for request in requests(16)
        ],
    )
    stopped = [completion for completion in completions if completion.finish == "stop"]
    assert stopped
    for completion in stopped:
        assert completion.tokens[-1] in (1, 2), "<|return|> or <|call|>"
        assert not {1, 2} & set(completion.tokens[:-1])


def test_generation_gives_up_when_told_to(tiny_folder: Path) -> None:
    model = GptOssForCausalLM.from_pretrained(
        str(tiny_folder), dtype=torch.float64, experts_implementation="eager"
    )
    halt = Event()
    halt.set()
    jobs = [Job(prompt=(9, 9), seed=0, sampling=Sampling())]
    assert generate(model, jobs, stops=frozenset(), context=160, halt=halt) == [
        Generated(tokens=(), finish="length")
    ]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_one_row_batches_repeat_in_any_arithmetic(
    tiny_folder: Path, dtype: str
) -> None:
    model = TransformersModel.load(tiny_folder, device="cpu", dtype=dtype, batch_size=1)
    asked = requests(4)
    assert answer(model, asked) == answer(model, asked[::-1])[::-1]
    assert model.info.versions["dtype"] == f"torch.{dtype}"
    model.close()


def test_prompts_are_read_in_pieces_as_at_once(
    tiny: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = requests(12)
    at_once = answer(tiny, asked)
    for piece in (1, 40):
        monkeypatch.setattr(generation, "PIECE_CPU", piece)
        assert answer(tiny, asked) == at_once


def test_reading_stops_between_two_pieces(
    tiny: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    halt, passes = Event(), []
    forward = GptOssForCausalLM.forward

    def halting(self: GptOssForCausalLM, *args: object, **options: object) -> object:
        passes.append(options["input_ids"])
        if len(passes) == 3:
            halt.set()
        return forward(self, *args, **options)

    monkeypatch.setattr(GptOssForCausalLM, "forward", halting)
    monkeypatch.setattr(generation, "PIECE_CPU", 10)
    job = Job(prompt=tuple(range(10, 110)), seed=0, sampling=Sampling(max_tokens=20))
    (generated,) = generate(
        held(tiny).original, [job], stops=frozenset({1}), context=160, halt=halt
    )
    assert (len(passes), generated.tokens) == (3, ())
