"""The training samples of every step."""

from collections.abc import Iterator

from gde.seeding import derive, generator
from gde_plugins.language_models.nano.recipe import PHASES, Recipe, phase
from gde_plugins.language_models.nano.samples import (
    DENSITIES,
    Kind,
    MakeEnvironment,
    Sample,
    draw_sample,
)

POOL = 4
"""Batches that are drawn together and sorted by length, so that little of a batch is
padding.
"""


def batches(
    recipe: Recipe, make_environment: MakeEnvironment
) -> Iterator[list[Sample]]:
    """The samples of every step. A batch has grids of one size."""
    environments = {}
    for size in {size for each in PHASES for size in each.sizes}:
        for density in set(DENSITIES):
            environments[size, density] = make_environment(size, density)

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
            samples.append(draw_sample(kind, environments[size, density], seed, rng))

        samples.sort(key=lambda sample: len(sample.tokens))
        for part in rng.permutation(POOL)[: recipe.steps - first]:
            yield samples[part * n : (part + 1) * n]


def _batch_size(tokens: int, size: int, kind: Kind) -> int:
    prompt = (size + 1) ** 2 + 14
    continuation = 30 + 3.5 * size if kind == "practice" else 14 + 1.5 * size
    return max(6, int(tokens / (prompt + continuation)))
