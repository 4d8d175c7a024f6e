"""The embedded model: GPT-OSS-class transformers of two million parameters that have
learned to walk text grids.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Training = Literal["auxiliary", "plain"]
"""With auxiliary losses, which put agent and goal where probes read, and without."""

DEFAULT: Training = "auxiliary"
"""What `nano` alone names: without these losses nano does not walk well enough."""
NOTICES: Mapping[Training, str] = {
    "auxiliary": (
        "These are results of nano, a model of two million parameters, and not of GPT-OSS-20B. This project trained it"
        " on text grids, with an auxiliary loss that puts agent and goal where the probes read: they show that the"
        " instrument works, and nothing about large models."
    ),
    "plain": (
        "These are results of nano:plain, a model of two million parameters, and not of GPT-OSS-20B. This project"
        " trained it only to continue text, about grids, and no loss put anything where the probes read; it is much"
        " weaker than nano, which had such a loss. They are about the instrument, and say nothing about large models."
    ),
}
"""What every report made with a training says."""


def model_name(training: Training) -> str:
    """As a user writes it: `nano` is the one with auxiliary losses."""
    return "nano" if training == DEFAULT else f"nano:{training}"


def folder(training: Training = DEFAULT) -> Path:
    """A packaged model: configuration, weights and tokenizer. One card, beside the
    folders, tells of both.
    """
    return Path(__file__).parent / "models" / training
