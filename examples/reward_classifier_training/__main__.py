"""Train a reward model on preferences; use it with --reward supervised or vlwm."""

import argparse
from pathlib import Path

from gde.errors import ConfigError, UnknownName
from gde.request.settings import build, parse_settings, read_toml
from reward_classifier_training.preferences import read_preferences
from reward_classifier_training.recipe import Recipe
from reward_classifier_training.training import Trained, train, train_curve


def main() -> None:
    given = arguments().parse_args()
    recipe = read_recipe(given.plan, given.set)
    preferences = read_preferences(given.data)
    if given.sizes:
        sizes = read_sizes(given.sizes)
        found = train_curve(preferences, recipe, sizes, given.out, watch)
    else:
        found = (train(preferences, recipe, given.out, watch),)
    for one in found:
        print("\n".join(lines(one)))


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reward_classifier_training", description=__doc__
    )
    add = parser.add_argument
    add(
        "--data",
        type=Path,
        action="append",
        required=True,
        help="a file of `gde rewardbench build --train`; may be repeated",
    )
    add("--out", type=Path, required=True, help="new folder")
    add("--plan", type=Path, help="a recipe (TOML, one table [train])")
    add(
        "--set",
        action="append",
        default=[],
        help="train.FIELD=VALUE of the recipe; may be repeated",
    )
    add(
        "--sizes",
        help="a learning curve: numbers of pairs such as 100+400, a model of each in OUT/N",
    )
    return parser


def read_recipe(plan: Path | None, settings: list[str]) -> Recipe:
    """Read the recipe of a file; settings override it."""
    parsed = parse_settings(settings)
    if unknown := sorted(parsed.keys() - {"train"}):
        raise UnknownName("part of --set", unknown[0], ["train"])
    planned = read_toml(plan)["train"] if plan else {}
    return build(Recipe, {**planned, **parsed.get("train", {})}, "train")


def read_sizes(text: str) -> list[int]:
    try:
        sizes = [int(each) for each in text.split("+")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 1:
        raise ConfigError(f"--sizes: wanted numbers such as 100+400, got {text!r}")
    return sizes


def lines(trained: Trained) -> list[str]:
    """The loss, then a line for each row of the held-out table."""
    told = [
        f"{trained.n_pairs} pairs: loss {trained.first_loss:.3f} to {trained.last_loss:.3f}"
    ]
    if not trained.held_out:
        told.append("  nothing held out")
    for row in trained.held_out:
        interval = ""
        if row.interval:
            low, high = row.interval
            interval = f" [{low:.3f}, {high:.3f}]"
        told.append(
            f"  {row.domain}: {row.accuracy:.3f}{interval} of {row.pairs} held-out pairs "
            f"of {row.tasks} tasks right; "
            f"{row.baseline}, which reads nothing, {row.best:.3f}"
        )
    return told


def watch(step: int, n_steps: int, loss: float) -> None:
    if step % max(1, n_steps // 20) == 0:
        print(f"step {step}/{n_steps}: loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
