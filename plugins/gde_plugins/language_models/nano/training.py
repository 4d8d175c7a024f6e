"""Training nano from scratch."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig

from gde.seeding import derive, generator
from gde_plugins.language_models.loading import quiet
from gde_plugins.language_models.nano.architecture import untrained_model
from gde_plugins.language_models.nano.losses import Heads, Losses, collate, measure
from gde_plugins.language_models.nano.recipe import (
    Recipe,
    learning_rate,
    phase,
)
from gde_plugins.language_models.nano.samples import (
    DENSITIES,
    Kind,
    MakeEnvironment,
    Sample,
    draw_sample,
)
from gde_plugins.language_models.nano.tokenizer import build_tokenizer

POOL = 4
"""Number of batches that are drawn together and sorted by length, to limit padding."""
ENDS_WEIGHT, LOOK_WEIGHT = 1.0, 2.0
LONGEST_ANSWER = 200
"""Token limit of a trace with its answer: a trace that never ends need not fill the
context.
"""
LONGEST_GRADIENT = 1.0


def train(
    recipe: Recipe,
    make_environment: MakeEnvironment,
    folder: Path,
    report: Callable[[int, Losses], None],
    device: str = "cpu",
) -> None:
    """Train a model and write it to `folder`, as transformers loads it.

    The same recipe gives the same samples on every machine, and the same weights on one
    with the same PyTorch and number of threads.

    Args:
        recipe: how long and how fast.
        make_environment: makes grids of a size and a density.
        folder: is made; a model that is already there is overwritten.
        report: called after every step with the number of steps done and its losses.
        device: where torch trains, e.g. cpu or cuda.
    """
    tokenizer = build_tokenizer()
    model: Any = untrained_model(tokenizer, recipe.seed)
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        heads = Heads().to(device)
    model.to(device)
    parameters = [*model.parameters(), *heads.parameters()]
    optimizer = torch.optim.AdamW(
        parameters, lr=learning_rate(recipe, 0), weight_decay=0.01, betas=(0.9, 0.98)
    )

    for step, samples in enumerate(batches(recipe, make_environment)):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(recipe, step)
        losses = measure(model, heads, collate(samples, tokenizer).to(device))
        loss = losses.token
        if recipe.auxiliary:
            loss = loss + phase(recipe, step).cell_weight * losses.cell
            loss = loss + ENDS_WEIGHT * losses.ends + LOOK_WEIGHT * losses.look

        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, LONGEST_GRADIENT)
        optimizer.step()
        report(step + 1, losses)
    save(model.cpu(), tokenizer, folder)


def batches(
    recipe: Recipe, make_environment: MakeEnvironment
) -> Iterator[list[Sample]]:
    """Yield the samples of every step. A batch has grids of one size."""
    make = cache(make_environment)
    for first in range(0, recipe.steps, POOL):
        rng = generator(recipe.seed, "pool", first)
        now = phase(recipe, first)
        size = now.sizes[int(rng.integers(len(now.sizes)))]
        kind: Kind = "practice" if rng.random() < now.p_practice else "episode"
        n = _batch_size(recipe.tokens, size, kind)
        samples = []
        for index in range(POOL * n):
            density = DENSITIES[int(rng.integers(len(DENSITIES)))]
            seed = derive(recipe.seed, "grid", first, index)
            samples.append(draw_sample(kind, make(size, density), seed, rng))

        samples.sort(key=lambda sample: len(sample.tokens))
        for part in rng.permutation(POOL)[: recipe.steps - first]:
            yield samples[part * n : (part + 1) * n]


def _batch_size(tokens: int, size: int, kind: Kind) -> int:
    prompt = (size + 1) ** 2 + 14
    continuation = 30 + 3.5 * size if kind == "practice" else 14 + 1.5 * size
    return max(6, int(tokens / (prompt + continuation)))


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a model and its tokenizer, as transformers loads them."""
    stops: Any = GenerationConfig
    model.generation_config = stops(
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        max_new_tokens=LONGEST_ANSWER,
    )
    with quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
