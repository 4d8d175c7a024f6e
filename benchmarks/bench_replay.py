"""CPU time to replay a server's answers, beside the CPU time to generate them. Prints one
JSON object.

    python benchmarks/bench_replay.py

`share` is all that a probe of the middle layer takes, over generation: at most 0.15 is
wanted. Its parts are finding the tokens ("retokenize") and a forward pass up to that
layer ("capture"). Where a run checks the weights, a pass through all layers scores the
tokens of some turns ("scored"), as replays do. The model has the size of nano, and
random weights, so that answers are as long as they may be; both generate and replay in
float32.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
from prompts import COMPACT, open_grid
from sizes import size

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.parts.context import OutsideRun
from gde.parts.language_model import LanguageModel, Retokenizer
from gde.stages.replaying import SCORED
from gde_plugins.language_models.config import NanoConfig
from gde_plugins.language_models.plugin import make_nano

TURNS = size(32, 2)
LENGTHS = size((64, 256), (12,))
"""Tokens of the answers."""
SIDE = size(9, 5)
POSITIONS = ("pre", "reasoning", "post")
REPEATS = size(3, 1)
T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The least seconds of CPU of several times, and what came out."""
    seconds = []
    for _ in range(REPEATS):
        began = time.process_time()
        found = work()
        seconds.append(time.process_time() - began)
    return min(seconds), found


def whole(answer: Completion) -> TokenSequence:
    """The answer as one that has reasoned to its end: random weights write no channels."""
    n_prompt = len(answer.prompt_tokens)
    end = n_prompt + len(answer.tokens)
    positions = {
        "pre": tuple(range(n_prompt - 3, n_prompt)),
        "reasoning": tuple(range(n_prompt, end - 3)),
        "post": tuple(range(end - 3, end)),
    }
    return TokenSequence(
        tokens=answer.prompt_tokens + answer.tokens, positions=positions
    )


def bench(model: Retokenizer, length: int) -> dict[str, float]:
    """Generation and replay of answers of a length."""
    requests = []
    for seed in range(TURNS):
        content = COMPACT + open_grid(SIDE, seed)
        request = ChatRequest(
            messages=(Message(role="user", content=content),),
            seed=seed,
            sampling=Sampling(temperature=1.0, max_tokens=length),
        )
        requests.append(request)

    async def complete_all() -> Sequence[Completion]:
        return await asyncio.gather(*map(model.complete, requests))

    generation, answers = timed(lambda: asyncio.run(complete_all()))
    served = [
        replace(answer, positions={}, prompt=request.messages)
        for answer, request in zip(answers, requests, strict=True)
    ]

    retokenize, found = timed(lambda: [*map(model.retokenize, served)])
    sequences = [whole(each) for each in found]
    middle = CaptureRequest(layers=(model.info.n_layers // 2,), positions=POSITIONS)
    capture, _ = timed(lambda: model.capture(sequences, middle))
    with_scores = [*sequences]
    for turn in range(0, TURNS, SCORED):
        n_tokens = len(answers[turn].tokens)
        with_scores[turn] = replace(sequences[turn], scored=n_tokens)
    scored, _ = timed(lambda: model.capture(with_scores, middle))

    n_tokens = sum(len(answer.tokens) for answer in answers)
    n_prompt = sum(len(answer.prompt_tokens) for answer in answers)
    return {
        "prompt_tokens": round(n_prompt / TURNS, 1),
        "answer_tokens": round(n_tokens / TURNS, 1),
        "generation_s": round(generation, 3),
        "retokenize_s": round(retokenize, 3),
        "capture_s": round(capture, 3),
        "scored_s": round(scored, 3),
        "share": round((retokenize + capture) / generation, 3),
        "share_scored": round((retokenize + scored) / generation, 3),
    }


def main() -> None:
    """Answers of several lengths."""
    torch.set_num_threads(1)
    nano: LanguageModel = make_nano(NanoConfig(dtype="float32"), OutsideRun())
    assert isinstance(nano, Retokenizer)
    model = nano.untrained(0)
    bench(model, 4)  # the first pass of a process pays for lazy initialisation
    cases = {str(length): bench(model, length) for length in LENGTHS}
    model.close()
    nano.close()
    sys.stdout.write(json.dumps({"turns": TURNS, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
