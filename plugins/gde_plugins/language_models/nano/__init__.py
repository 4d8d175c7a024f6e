"""The embedded model: a GPT-OSS-class transformer of two million parameters that has learned to walk text grids."""

from pathlib import Path

NOTICE = (
    "These are results of nano, a model of two million parameters that this project trained on text grids,"
    " and not of GPT-OSS-20B."
)


def folder() -> Path:
    """The packaged model: configuration, weights, tokenizer and model card."""
    return Path(__file__).parent / "model"
