"""Train the player: `python -m babyai_player --out FOLDER`."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from babyai_player.training import Recipe, train


def main() -> None:
    defaults = Recipe()
    parser = argparse.ArgumentParser(prog="babyai_player", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="new folder to write")
    parser.add_argument("--steps", type=int, default=defaults.steps)
    parser.add_argument(
        "--worlds", type=int, default=defaults.worlds, help="training worlds"
    )
    parser.add_argument(
        "--held-out", type=int, default=defaults.held_out, help="worlds to score in"
    )
    given = parser.parse_args()
    recipe = Recipe(steps=given.steps, worlds=given.worlds, held_out=given.held_out)
    train(recipe, given.out, report)


def report(step: int, n_steps: int, row: Mapping[str, Any]) -> None:
    print(
        f"step {step}/{n_steps}: loss {row['loss']:.3f}; {row['actions']['value']:.1%} of the expert's actions, "
        f"{row['last_states']['value']:.1%} of last states ({row['counted']['value']:.1%} without a look)"
    )


if __name__ == "__main__":
    main()
