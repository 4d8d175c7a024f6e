"""Time to read activations by replay, beside the time to generate the same turns.
Prints one JSON object.

    python benchmarks/bench_capture.py

`share` is capture over generation: at most 0.1 is wanted. It is small where a
completion is long beside its prompt, for generation takes a forward pass a token and
replay takes one in all.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from threading import Event
from typing import Any

import numpy as np
import torch
from sizes import size
from transformers import GptOssConfig, GptOssForCausalLM

from gde.data.activations import EMBEDDING, CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.parts.context import OutsideRun
from gde.parts.language_model import WhiteBox
from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.config import NanoConfig
from gde_plugins.language_models.generation import Job, generate
from gde_plugins.language_models.plugin import make_nano

TURNS = size(32, 2)
LENGTHS = size(((100, 64), (280, 64), (280, 256)), ((20, 12),))
"""Tokens of the prompt and of the completion."""
NANO_SIZES = size((7, 11, 15), (7,))
COMPACT = "Go from A to G by the shortest way; # is wall, _ is free.\n"


def tiny_model() -> Any:
    """A random GPT-OSS of nano's size; its completions never stop, so they are as long
    as they are told to be.
    """
    config = GptOssConfig(
        vocab_size=1000,
        hidden_size=128,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        intermediate_size=128,
        num_local_experts=4,
        num_experts_per_tok=2,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )
    torch.manual_seed(0)
    model: Any = GptOssForCausalLM(config).double()
    model.eval()
    model.set_experts_implementation("eager")
    return model


def bench_tiny(model: Any, prompt: int, completion: int) -> dict[str, float]:
    """Prompts and completions of given lengths, in tokens."""
    rng = np.random.default_rng(0)
    prompts = [
        tuple(int(token) for token in rng.integers(1000, size=prompt))
        for _ in range(TURNS)
    ]
    jobs = [
        Job(prompt=each, seed=n, sampling=Sampling(max_tokens=completion))
        for n, each in enumerate(prompts)
    ]
    began = time.perf_counter()
    made = generate(model, jobs, stops=frozenset(), context=4096, halt=Event())
    generated = time.perf_counter() - began
    sequences = [
        TokenSequence(
            tokens=each + answer.tokens,
            positions=positions(prompt, prompt + completion),
        )
        for each, answer in zip(prompts, made, strict=True)
    ]
    read = timed_capture(
        partial(Reader(model, TURNS).capture, sequences), model.config.num_hidden_layers
    )
    return report(prompt, completion, generated, read)


def bench_nano(side: int) -> dict[str, float]:
    """The embedded model on open grids of a given size."""
    model = make_nano(NanoConfig(), OutsideRun())
    assert isinstance(model, WhiteBox)
    requests = [
        ChatRequest(
            messages=(Message(role="user", content=COMPACT + open_grid(side, seed)),),
            seed=seed,
        )
        for seed in range(TURNS)
    ]

    async def complete_all() -> Sequence[Completion]:
        return await asyncio.gather(*(model.complete(request) for request in requests))

    began = time.perf_counter()
    made = asyncio.run(complete_all())
    generated = time.perf_counter() - began
    sequences = [
        TokenSequence(tokens=each.prompt_tokens + each.tokens, positions=each.positions)
        for each in made
    ]
    read = timed_capture(partial(model.capture, sequences), model.info.n_layers)
    model.close()
    lengths = np.mean([(each.n_prompt, each.n_completion) for each in made], axis=0)
    return report(float(lengths[0]), float(lengths[1]), generated, read)


def open_grid(side: int, seed: int) -> str:
    """A walled room with agent and goal, as the grid environment writes it."""
    cells = np.full((side, side), "_")
    cells[[0, -1], :] = cells[:, [0, -1]] = "#"
    inside = np.argwhere(cells == "_")
    agent, goal = np.random.default_rng(seed).choice(inside, 2, replace=False)
    cells[tuple(agent)], cells[tuple(goal)] = "A", "G"
    width = len(str(side)) + 1
    lines = ["", *map(str, range(side))]
    rows = [[str(column) for column in range(side)], *cells.tolist()]
    return "\n".join(
        head.ljust(width)
        + "".join(symbol.ljust(width) for symbol in row).rstrip()
        + " "
        for head, row in zip(lines, rows, strict=True)
    )


def positions(prompt: int, end: int) -> dict[str, tuple[int, ...]]:
    """As harmony sets them: the end of the prompt, and eight tokens before the end of
    the answer.
    """
    return {
        "pre": tuple(range(prompt - 3, prompt)),
        "post": tuple(range(end - 11, end - 8)),
    }


def timed_capture(
    read: Callable[[CaptureRequest], object], n_layers: int
) -> dict[str, float]:
    """Seconds to read the middle layer, and all layers."""
    read(
        CaptureRequest(layers=(EMBEDDING,))
    )  # the first call prepares the model for reading
    seconds = {}
    for name, layers in (("middle", (n_layers // 2,)), ("all", tuple(range(n_layers)))):
        began = time.perf_counter()
        read(CaptureRequest(layers=layers))
        seconds[name] = time.perf_counter() - began
    return seconds


def report(
    prompt: float, completion: float, generated: float, read: dict[str, float]
) -> dict[str, float]:
    """One case."""
    shares = {
        f"share_{name}": round(seconds / generated, 3) for name, seconds in read.items()
    }
    seconds = {f"capture_{name}_s": round(value, 3) for name, value in read.items()}
    lengths = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {**lengths, "generation_s": round(generated, 3), **seconds, **shares}


def main() -> None:
    """Random models over the lengths that matter, and nano where it is installed."""
    torch.set_num_threads(1)
    model = tiny_model()
    bench_tiny(
        model, 32, 32
    )  # the first pass of a process pays for lazy initialisation
    cases = {
        f"tiny/{prompt}+{completion}": bench_tiny(model, prompt, completion)
        for prompt, completion in LENGTHS
    }
    if find_spec("gde_plugins.language_models.nano"):
        cases |= {f"nano/{side}x{side}": bench_nano(side) for side in NANO_SIZES}
    sys.stdout.write(json.dumps({"turns": TURNS, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
