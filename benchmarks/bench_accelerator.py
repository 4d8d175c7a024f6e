"""Generation and capture of a wide model by the `hf` path in bfloat16. Prints one JSON
object.

    python benchmarks/bench_accelerator.py

With CUDA the model has the width and the experts of GPT-OSS-20B, 8 of its 24 layers and
random weights: 6.6e9 parameters, for which the folder of temporary files needs 14 GB.
Without CUDA it is tiny, and its figures mean nothing. `share` is the capture of one
layer, or of all, over the generation of the same answers.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from prompts import COMPACT, open_grid
from sizes import size
from transformers import AutoTokenizer, GptOssConfig, GptOssForCausalLM

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.parts.context import OutsideRun
from gde.parts.language_model import WhiteBox
from gde_plugins.language_models import nano
from gde_plugins.language_models.config import HfConfig
from gde_plugins.language_models.plugin import make_hf

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WIDE = DEVICE == "cuda"
LAYERS = 8
TURNS = size(32, 2)
LENGTHS = size((64, 200), (4,))
"""Token limits of the answers."""
SIDE = size(11, 5)
REPEATS = size(3, 1)


def save_model(folder: Path) -> float:
    """Write a random model, and return the number of its parameters."""
    tokenizer: Any = AutoTokenizer.from_pretrained(nano.folder())
    narrow = {
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "num_local_experts": 4,
    }
    shape: Any = GptOssConfig
    config = shape(
        vocab_size=len(tokenizer),
        num_hidden_layers=LAYERS,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **({"num_local_experts": 32} if WIDE else narrow),
    )
    torch.manual_seed(0)
    with torch.device(DEVICE):
        model: Any = GptOssForCausalLM._from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return float(sum(parameter.numel() for parameter in model.parameters()))


def ask(model: WhiteBox, length: int) -> Sequence[Completion]:
    """Answers of at most a length, generated together."""
    requests = [
        ChatRequest(
            messages=(Message(role="user", content=COMPACT + open_grid(SIDE, seed)),),
            seed=seed,
            sampling=Sampling(max_tokens=length),
        )
        for seed in range(TURNS)
    ]

    async def complete_all() -> Sequence[Completion]:
        return await asyncio.gather(*map(model.complete, requests))

    return asyncio.run(complete_all())


def capture(
    model: WhiteBox, answers: Sequence[Completion], layers: Sequence[int]
) -> float:
    """The least seconds of several captures at the ends of the prompts."""
    sequences = []
    for answer in answers:
        end = len(answer.prompt_tokens)
        places = {"pre": tuple(range(end - 3, end))}
        tokens = answer.prompt_tokens + answer.tokens
        sequences.append(TokenSequence(tokens=tokens, positions=places))
    request = CaptureRequest(layers=tuple(layers), positions=("pre",))
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        model.capture(sequences, request)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def bench(model: WhiteBox, length: int) -> dict[str, float]:
    """Generation and capture of answers of a length."""
    began = time.perf_counter()
    answers = ask(model, length)
    generation = time.perf_counter() - began
    n_tokens = sum(len(answer.tokens) for answer in answers)
    middle = capture(model, answers, [LAYERS // 2])
    every = capture(model, answers, range(LAYERS))
    return {
        "answer_tokens": round(n_tokens / TURNS, 1),
        "tokens_per_s": round(n_tokens / generation),
        "share_middle": round(middle / generation, 4),
        "share_all": round(every / generation, 4),
    }


def main() -> None:
    """Answers of several lengths."""
    with TemporaryDirectory() as folder:
        parameters = save_model(Path(folder))
        config = HfConfig(source=folder, dtype="bfloat16", device=DEVICE)
        model = make_hf(config, OutsideRun())
    assert isinstance(model, WhiteBox)
    ask(model, 4)  # the first pass of a process pays for lazy initialisation
    cases = {str(length): bench(model, length) for length in LENGTHS}
    model.close()
    figures = {"device": DEVICE, "parameters": parameters, "cases": cases}
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
