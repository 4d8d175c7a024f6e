"""Training on preferences: a contrastive ranking loss with centred rewards (Shen et al.
2026, eq. 13), or a regression of true rewards. The folder of a trained model is there
completely or not at all.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gde.errors import ConfigError
from gde.files import new_folder
from gde.reporting.drawing import svg_file
from gde.seeding import derive, generator
from gde_plugins.reward_classifier.scorer import CARD, Scorer, quietly
from reward_classifier_training.beginning import (
    base_tokenizer,
    begin,
    new_model,
    new_tokenizer,
)
from reward_classifier_training.curve_figure import curve_figure
from reward_classifier_training.held_out import HeldOut, held_out_table
from reward_classifier_training.preferences import Preference
from reward_classifier_training.recipe import SCRATCH, Recipe

CURVE = "curve.json"
DRAWN = "curve.svg"
Watch = Callable[[int, int, float], None]
"""Takes, after every step, its number, the number of all, and the loss."""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """The outcome of a training."""

    n_pairs: int
    n_held_out: int
    first_loss: float
    last_loss: float
    """Means over the first and the last tenth of the steps."""
    accuracy: float | None
    """Share of the held-out pairs that are ranked correctly; None where there are
    none.
    """
    held_out: tuple[HeldOut, ...] = ()
    """The same by domain, with intervals."""


def ranking_loss(
    chosen: torch.Tensor, rejected: torch.Tensor, centring: float
) -> torch.Tensor:
    """Minus the mean log likelihood of ranking chosen (N,) above rejected (N,), plus a
    penalty on their sums.
    """
    ranked = torch.nn.functional.logsigmoid(chosen - rejected).mean()
    return -ranked + centring * (chosen + rejected).square().mean()


def batch_loss(
    rewards: torch.Tensor, batch: Sequence[Preference], recipe: Recipe
) -> torch.Tensor:
    """The loss of the rewards of all chosen, then of all rejected texts."""
    n = len(batch)
    if recipe.objective == "ranking":
        return ranking_loss(rewards[:n], rewards[n:], recipe.centring)
    true = [one.chosen_reward for one in batch] + [one.rejected_reward for one in batch]
    target = torch.tensor(true, dtype=rewards.dtype, device=rewards.device)
    return torch.nn.functional.mse_loss(rewards, target)


def train(
    preferences: Sequence[Preference], recipe: Recipe, out: Path, watch: Watch
) -> Trained:
    """Train a model and write it to a new folder, with a card that says on what.

    Raises:
        ConfigError: `out` exists, the base is not available, nothing is left to train
        on, or the training diverged;
            nothing is written.
    """
    with new_folder(out) as folder:
        kept, held_out = _split(preferences, recipe)
        return _train(kept, held_out, recipe, folder, watch)


def train_curve(
    preferences: Sequence[Preference],
    recipe: Recipe,
    sizes: Sequence[int],
    out: Path,
    watch: Watch,
) -> tuple[Trained, ...]:
    """Train on growing numbers of pairs, in `out/N`; all are held against the same
    held-out pairs. `out/curve.json` keeps what was found, and `out/curve.svg` shows it
    where the packages to draw are installed.

    Raises:
        ConfigError: as `train`, or there are fewer pairs than the largest size.
    """
    with new_folder(out) as folder:
        kept, held_out = _split(preferences, recipe)
        if max(sizes) > len(kept):
            raise ConfigError(
                f"--sizes: wanted at most {len(kept)}, the pairs to train on, got {max(sizes)}"
            )
        # A smaller number of pairs is a part of every larger one.
        order = generator(recipe.seed, "curve").permutation(len(kept))
        found: list[Trained] = []
        for size in sorted({*sizes}):
            part = [kept[i] for i in order[:size]]
            inside = folder / str(size)
            inside.mkdir()
            found.append(_train(part, held_out, recipe, inside, watch))
        curve = json.dumps([asdict(one) for one in found], indent=2)
        (folder / CURVE).write_text(curve + "\n", encoding="utf-8")
        if find_spec("vl_convert"):
            drawn = svg_file(
                curve_figure([(one.n_pairs, one.held_out) for one in found])
            )
            (folder / DRAWN).write_text(drawn, encoding="utf-8")
    return tuple(found)


def _train(
    kept: Sequence[Preference],
    held_out: Sequence[Preference],
    recipe: Recipe,
    folder: Path,
    watch: Watch,
) -> Trained:
    if recipe.base == SCRATCH:
        recipe = replace(recipe, rank=0)
    if not kept:
        raise ConfigError(
            "--data: wanted preferences of more tasks: none are left to train on"
        )
    if recipe.objective == "regression" and any(
        None in (one.chosen_reward, one.rejected_reward) for one in kept
    ):
        raise ConfigError(
            "--data: train.objective=regression needs the true rewards: build the file again"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(recipe.seed, "reward classifier") % 2**63)
        scorer = _begun(kept, recipe)
        losses = _fit(scorer, kept, recipe, watch)
    tenth = max(1, len(losses) // 10)
    table = held_out_table(scorer, held_out, recipe.batch_size)
    trained = Trained(
        n_pairs=len(kept),
        n_held_out=len(held_out),
        first_loss=float(np.mean(losses[:tenth])),
        last_loss=float(np.mean(losses[-tenth:])),
        accuracy=table[-1].accuracy if table else None,
        held_out=table,
    )
    _write(scorer, [*kept, *held_out], recipe, trained, folder)
    return trained


def _split(
    preferences: Sequence[Preference], recipe: Recipe
) -> tuple[list[Preference], list[Preference]]:
    """Those to train on, and those of held-out tasks, the same share of every domain.

    Tasks with the content of a held-out one belong to neither.
    """
    tasks = sorted({(one.domain, one.task) for one in preferences})
    rng = generator(recipe.seed, "held out")
    held: set[tuple[str, str]] = set()
    for _, group in groupby(tasks, key=itemgetter(0)):
        of_domain = [*group]
        order = rng.permutation(len(of_domain))
        held |= {of_domain[i] for i in order[: int(recipe.held_out * len(of_domain))]}
    kept: list[Preference] = []
    held_out: list[Preference] = []
    for one in preferences:
        (held_out if (one.domain, one.task) in held else kept).append(one)
    known = {origin for one in held_out for origin in one.origins}
    return [one for one in kept if not known & {*one.origins}], held_out


def _begun(preferences: Sequence[Preference], recipe: Recipe) -> Scorer:
    if recipe.base == SCRATCH:
        texts = chain.from_iterable((one.chosen, one.rejected) for one in preferences)
        tokenizer = new_tokenizer(texts)
        model = new_model(tokenizer, recipe)
    else:
        tokenizer = base_tokenizer(recipe.base)
        model = begin(recipe.base, tokenizer, recipe.rank, recipe.alpha)
    if recipe.checkpointing:
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    model = model.to(
        recipe.device,
        torch.bfloat16 if recipe.precision == "bfloat16" else torch.float32,
    )
    return Scorer(model, tokenizer, _longest(model, recipe))


def _longest(model: Any, recipe: Recipe) -> int:
    return min(
        recipe.max_length,
        int(getattr(model.config, "max_position_embeddings", recipe.max_length)),
    )


def _fit(
    scorer: Scorer, preferences: Sequence[Preference], recipe: Recipe, watch: Watch
) -> list[float]:
    parameters = [each for each in scorer.model.parameters() if each.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=recipe.learning_rate)
    per_epoch = math.ceil(len(preferences) / recipe.batch_size)
    n_steps = per_epoch * recipe.epochs
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: (1 + math.cos(math.pi * step / n_steps)) / 2
    )
    losses: list[float] = []
    scorer.model.train()
    for epoch in range(recipe.epochs):
        order = generator(recipe.seed, "order", epoch).permutation(len(preferences))
        for i in range(0, len(order), recipe.batch_size):
            batch = [preferences[j] for j in order[i : i + recipe.batch_size]]
            rewards = scorer.rewards(
                [one.chosen for one in batch] + [one.rejected for one in batch]
            )
            loss = batch_loss(rewards, batch, recipe)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise _diverged(
                    f"loss {losses[-1]} at step {len(losses)} of {n_steps}", recipe
                )
            watch(len(losses), n_steps, losses[-1])
    scorer.model.eval()
    # The last loss is that of the weights before the last step, so that these have to
    # be checked as well.
    with torch.inference_mode():
        rewards = scorer.rewards(
            [one.chosen for one in preferences[: recipe.batch_size]]
        )
    if not rewards.isfinite().all():
        raise _diverged(
            f"rewards {rewards[~rewards.isfinite()][0]} after step {n_steps}", recipe
        )
    return losses


def _diverged(got: str, recipe: Recipe) -> ConfigError:
    advice = f"nothing was written; take less than train.learning_rate={recipe.learning_rate:g}"
    return ConfigError(f"wanted finite numbers, got {got}; {advice}")


def _write(
    scorer: Scorer,
    preferences: Sequence[Preference],
    recipe: Recipe,
    trained: Trained,
    folder: Path,
) -> None:
    with quietly():
        scorer.model.save_pretrained(str(folder))
    scorer.tokenizer.save_pretrained(str(folder))
    card = {
        "base": recipe.base,
        "domains": sorted({one.domain for one in preferences}),
        "recipe": {**asdict(recipe), "max_length": scorer.max_length},
        **asdict(trained),
        "origins": {origin: one.task for one in preferences for origin in one.origins},
    }
    (folder / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
