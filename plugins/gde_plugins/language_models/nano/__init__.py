"""The embedded model: a GPT-OSS-class transformer of two million parameters that has learned to walk text grids."""

from pathlib import Path

NOTICE = (
    "These are results of nano, a model of two million parameters, and not of GPT-OSS-20B. This project trained it on"
    " text grids, with an auxiliary loss that puts agent and goal where the probes read: they show that the instrument"
    " works, and nothing about large models."
)


def folder() -> Path:
    """The packaged model: configuration, weights, tokenizer and model card."""
    return Path(__file__).parent / "model"
