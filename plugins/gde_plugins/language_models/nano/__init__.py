"""The embedded model: GPT-OSS-class transformers of two million parameters that have learned to walk text grids."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Training = Literal["first", "auxiliary", "plain"]
"""One of the first generation, and two of the second, in which effort means something: with auxiliary losses as in the
first, and without."""

FIRST: Training = "first"
NOTICES: Mapping[Training, str] = {
    "first": (
        "These are results of nano, a model of two million parameters, and not of GPT-OSS-20B. This project trained it"
        " on text grids, with an auxiliary loss that puts agent and goal where the probes read: they show that the"
        " instrument works, and nothing about large models."
    ),
    "auxiliary": (
        "These are results of nano:auxiliary, a model of two million parameters, and not of GPT-OSS-20B. This project"
        " trained it on text grids, with an auxiliary loss that puts agent and goal where the probes read: they show"
        " that the instrument works, and nothing about large models."
    ),
    "plain": (
        "These are results of nano:plain, a model of two million parameters, and not of GPT-OSS-20B. This project"
        " trained it only to continue text, about grids, and no loss put anything where the probes read; it is much"
        " weaker than nano. They are about the instrument, and say nothing about large models."
    ),
}
"""What every report made with a training says."""


def model_name(training: Training) -> str:
    """As a user writes it: `nano` is the first generation."""
    return "nano" if training == FIRST else f"nano:{training}"


def folder(training: Training = FIRST) -> Path:
    """A packaged model: configuration, weights and tokenizer. One card, beside the folders, tells of all."""
    return Path(__file__).parent / "models" / training
