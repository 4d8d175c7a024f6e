"""Generation is a function of the request alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch
from held import held
from transformers import GptOssForCausalLM

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde_plugins.language_models import generation
from gde_plugins.language_models.generation import (
    LEFT_ACCELERATOR,
    Decoder,
    Generated,
    Generation,
    Job,
)
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


def generate(
    model: Any, jobs: Sequence[Job], *, stops: frozenset[int], halt: Event
) -> list[Generated]:
    """Continue jobs that begin together, in a context of 160 tokens."""
    generation = Generation(stops=stops, context=160)
    done = generation.advance(model, jobs, halt)
    while len(done) < len(jobs):
        done |= generation.advance(model, (), halt)
    return [done[number] for number in range(len(jobs))]


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
    ours = generate(reference, jobs, stops=frozenset({1}), halt=Event())
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
    assert generate(model, jobs, stops=frozenset(), halt=halt) == [
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
    (generated,) = generate(held(tiny).original, [job], stops=frozenset({1}), halt=halt)
    assert (len(passes), generated.tokens) == (3, ())


def test_rows_that_join_are_answered_as_alone(
    tiny: TransformersModel, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "LEFT_CPU", LEFT_ACCELERATOR)
    asked = requests(30)
    alone = [answer(tiny, [request])[0] for request in asked]
    few = TransformersModel.load(
        tiny_folder, device="cpu", dtype="float64", batch_size=5
    )
    window = held(few).original.config.sliding_window
    assert max(len(one.prompt_tokens + one.tokens) for one in alone) > 2 * window
    joined = []
    join = Decoder.join

    def counted(self: Decoder, other: Decoder) -> None:
        joined.append(len(other.logits))
        join(self, other)

    monkeypatch.setattr(Decoder, "join", counted)
    assert answer(few, asked) == alone
    assert len(joined) > 5
    few.close()


def test_rows_are_busy_where_answers_differ_in_length(
    tiny: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = np.exp(np.random.default_rng(0).normal(np.log(8), 0.9, 400))
    limits = lengths.round().astype(int).clip(1, 80).tolist()
    drawn: list[int] = []
    draw = generation._draw

    def counted(logits: torch.Tensor, rows: Any) -> list[int]:
        drawn.append(len(rows))
        return draw(logits, rows)

    monkeypatch.setattr(generation, "LEFT_CPU", LEFT_ACCELERATOR)
    monkeypatch.setattr(generation, "_draw", counted)
    monkeypatch.setattr(tiny, "_stops", frozenset())
    asked = [
        replace(requests(1)[0], seed=seed, sampling=Sampling(max_tokens=limit))
        for seed, limit in enumerate(limits)
    ]
    completions = answer(tiny, asked)
    assert [len(one.tokens) for one in completions] == limits
    # The last rows of all end alone.
    rest = next(i for i in range(len(drawn)) if sum(drawn[i:]) < 300)
    assert np.mean(drawn[:rest]) / tiny._batch_size > 0.8


def test_activations_are_read_while_answers_wait_for_others(
    tiny: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "LEFT_CPU", LEFT_ACCELERATOR)
    long, short = requests(2)
    sequence = TokenSequence(tokens=(5, 6, 7), positions={"last": (2,)})
    request = CaptureRequest(layers=(0,), positions=("last",))

    async def read_after(asked: ChatRequest) -> list[ActivationRecord]:
        await tiny.complete(asked)
        return tiny.capture([sequence], request)

    async def both() -> list[list[ActivationRecord]]:
        waiting = [
            read_after(replace(one, sampling=Sampling(max_tokens=limit)))
            for one, limit in ((short, 1), (long, 40), (long, 20), (short, 30))
        ]
        return await asyncio.gather(*waiting)

    values = [found[0].values[0, "last"] for found in asyncio.run(both())]
    assert all(np.array_equal(each, values[0]) for each in values)
