"""Training nano from scratch."""

from collections.abc import Callable
from functools import cache
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GenerationConfig, GptOssForCausalLM

from gde.seeding import derive, generator, pick
from gde_plugins.language_models.loading import quiet
from gde_plugins.language_models.nano.architecture import untrained_model
from nano_training.losses import (
    Batch,
    Heads,
    Losses,
    collate,
    measure,
)
from nano_training.recipe import (
    Recipe,
    learning_rate,
    phase,
)
from nano_training.samples import (
    DENSITIES,
    Kind,
    Sample,
    draw_sample,
)
from nano_training.tokenizer import build_tokenizer
from nano_training.walks import MakeEnvironment, draw_scene

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
    workers: int = 0,
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
        workers: other processes that draw samples; 0 for none.
    """
    tokenizer = build_tokenizer()
    model = _model(recipe, tokenizer)
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        heads = Heads().to(device)
    model.to(device)
    parameters = [*model.parameters(), *heads.parameters()]
    optimizer = torch.optim.AdamW(
        parameters, lr=learning_rate(recipe, 0), weight_decay=0.01, betas=(0.9, 0.98)
    )

    loader = DataLoader(
        Pools(recipe, make_environment, tokenizer),
        batch_size=None,
        num_workers=workers,
        generator=torch.Generator(),
    )
    for step, batch in enumerate(chain.from_iterable(loader)):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(recipe, step)
        losses = measure(model, heads, batch.to(device))
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


def _model(recipe: Recipe, tokenizer: Any) -> Any:
    if recipe.start is None:
        return untrained_model(tokenizer, recipe.seed)
    with quiet():
        model: Any = GptOssForCausalLM.from_pretrained(recipe.start)
    model.set_experts_implementation("eager")
    return model.train()


class Pools(Dataset[list[Batch]]):
    """The batches of a training, `POOL` at a time. Each pool has draws of its own, so
    that other processes can make it.
    """

    def __init__(
        self, recipe: Recipe, make_environment: MakeEnvironment, tokenizer: Any
    ) -> None:
        self._recipe = recipe
        self._make = cache(make_environment)
        self._tokenizer = tokenizer

    def __len__(self) -> int:
        return ceil(self._recipe.steps / POOL)

    def __getitem__(self, index: int) -> list[Batch]:
        drawn = draw_pool(self._recipe, self._make, POOL * index)
        return [collate(samples, self._tokenizer) for samples in drawn]


def draw_pool(
    recipe: Recipe, make_environment: MakeEnvironment, first: int
) -> list[list[Sample]]:
    """Return the samples of step `first` and of the next, up to `POOL` steps.

    They have grids of one size and prompts of as many turns.
    """
    rng = generator(recipe.seed, "pool", first)
    now = phase(recipe, first)
    size = pick(now.sizes, rng)
    kind: Kind = "practice" if rng.random() < now.p_practice else "episode"
    n_earlier = _earlier_turns(recipe, first) if kind == "episode" else 0
    n = _batch_size(recipe.tokens, size, kind, n_earlier)
    samples = []
    for index in range(POOL * n):
        density = pick(DENSITIES, rng)
        seed = derive(recipe.seed, "grid", first, index)
        scene = draw_scene(
            make_environment, size, density, seed=seed, n_earlier=n_earlier, rng=rng
        )
        samples.append(draw_sample(kind, scene, rng))

    samples.sort(key=lambda sample: len(sample.tokens))
    parts = rng.permutation(POOL)[: recipe.steps - first]
    return [samples[part * n : (part + 1) * n] for part in parts]


def _earlier_turns(recipe: Recipe, first: int) -> int:
    # A stream of its own: a recipe without turns draws what it drew before there were
    # any.
    rng = generator(recipe.seed, "turns", first)
    return int(rng.integers(recipe.turns + 1))


def _batch_size(tokens: int, size: int, kind: Kind, n_earlier: int) -> int:
    prompt = (size + 1) ** 2 + 14
    continuation = 30 + 3.5 * size if kind == "practice" else 14 + 1.5 * size
    return max(6, int(tokens / ((1 + n_earlier) * prompt + continuation)))


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
