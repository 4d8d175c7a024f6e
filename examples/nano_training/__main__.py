"""Train nano from scratch, in about two hours on one core."""

import argparse
import time
from pathlib import Path
from typing import Any

from gde_plugins.grid.composition import compose
from gde_plugins.grid.config import GridConfig
from gde_plugins.language_models.nano import NOTICES, folder, model_name
from nano_training.losses import Losses
from nano_training.recipe import SHIPPED_STEPS, TOKENS, Recipe
from nano_training.training import train
from nano_training.walks import GridWorld

REPORT_EVERY = 50
"""Steps between two lines of progress."""


def main() -> None:
    given = arguments().parse_args()
    given.out.mkdir(parents=True)
    recipe = Recipe(
        steps=given.steps,
        tokens=given.tokens,
        seed=given.seed,
        auxiliary=given.auxiliary,
        turns=given.turns,
        start=named_folder(given.start) if given.start else None,
    )
    began = time.monotonic()

    def report(step: int, losses: Losses) -> None:
        if step % REPORT_EVERY and step != recipe.steps:
            return
        print(
            f"step {step}/{recipe.steps}  {time.monotonic() - began:.0f} s"
            f"  token {losses.token.item():.3f}  cell {losses.cell.item():.3f}"
            f"  ends {losses.ends.item():.3f}  look {losses.look.item():.3f}"
            f"  right {losses.accuracy:.3f}"
        )

    train(recipe, make_grid, given.out, report, given.device, given.workers)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nano_training", description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, required=True, help="new folder; its model is hf:./OUT")
    add("--steps", type=int, default=SHIPPED_STEPS, help="batches")
    add("--tokens", type=int, default=TOKENS, help="tokens of a batch, about")
    add("--seed", type=int, default=0, help="random seed of weights and samples")
    add(
        "--auxiliary",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="losses on agent and goal positions",
    )
    add("--start", help="model to train further: an embedded one, or a folder")
    add("--turns", type=int, default=0, help="most earlier turns in a prompt")
    add("--workers", type=int, default=0, help="other processes that draw samples")
    add("--device", default="cpu", help="where to train, e.g. cuda")
    return parser


def named_folder(model: str) -> Path:
    """Return the folder of an embedded model by its name, else the path itself."""
    for training in NOTICES:
        if model == model_name(training):
            return folder(training)
    return Path(model)


def make_grid(**options: Any) -> GridWorld:
    return compose(GridConfig(**options))


if __name__ == "__main__":
    main()
