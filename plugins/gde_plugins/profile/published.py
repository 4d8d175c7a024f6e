"""Published numbers of language models that stand beside an agent's.

They are from the worlds of their publications, not from those of the profile: Arghal et
al. (2026), section 4.3 and figure 9; Choukrani et al. (2025), table 3, the class of
difficulty of the profile's levels; Shen et al. (2026), table 1, blocks.
"""

from collections.abc import Mapping

PUBLISHED: Mapping[tuple[str, str], Mapping[str, float]] = {
    ("keys", "success"): {"gpt-oss-20b": 1.0},
    ("beliefs", "plan.prefix.1"): {"gpt-oss-20b": 0.4031},
    ("predict", "predict.success"): {
        "Claude-3.7-Sonnet": 0.9429,
        "DeepSeek-R1-Distill": 0.6861,
        "GPT-4o": 0.8468,
        "Llama-3.1-405B": 0.5326,
        "Llama-3.1-70B": 0.3936,
        "Llama-3.1-8B": 0.0447,
        "Qwen3-32B": 0.6548,
    },
    ("judge", "epic"): {"gpt-oss-20b": 0.362, "Qwen3-14B": 0.436},
}
"""Run and measurement to the numbers by model."""


def column(model: str) -> str:
    """The column of a published number."""
    return f"{model}, published"


COLUMNS = frozenset(column(model) for found in PUBLISHED.values() for model in found)
