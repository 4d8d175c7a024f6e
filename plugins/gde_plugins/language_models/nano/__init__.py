"""The embedded model: small GPT-OSS-class transformers that walk text grids."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Training = Literal["auxiliary", "plain", "turns"]
"""Trainings with auxiliary losses on agent and goal positions, without them, and the
first one trained further on prompts that show earlier turns too.
"""

DEFAULT: Training = "auxiliary"
"""The training of `nano` alone: without these losses nano does not walk well enough."""
NOTICES: Mapping[Training, str] = {
    "auxiliary": (
        "Toy model, trained to show places: nano has two million parameters and is not GPT-OSS-20B. A loss in its"
        " training puts agent and goal where the probes read. Its results show that the instrument works, and nothing"
        " about large models."
    ),
    "plain": (
        "Toy model: nano:plain has two million parameters and is not GPT-OSS-20B. This project trained it only to"
        " continue text, about grids, and no loss put anything where the probes read; it is much weaker than nano,"
        " which had such a loss. Its results are about the instrument, and say nothing about large models."
    ),
    "turns": (
        "Toy model, trained to show places: nano:turns has two million parameters and is not GPT-OSS-20B. It is nano,"
        " trained further on prompts that show earlier turns too. A loss in the training of nano puts agent and goal"
        " where the probes read. Its results show that the instrument works, and nothing about large models."
    ),
}
"""Notice in every report of results with a training."""


def model_name(training: Training) -> str:
    """Return the name that a user writes: `nano` is the one with auxiliary losses."""
    return "nano" if training == DEFAULT else f"nano:{training}"


def folder(training: Training = DEFAULT) -> Path:
    """Return a packaged model: configuration, weights and tokenizer.

    The model card beside the folders describes all.
    """
    return Path(__file__).parent / "models" / training
