"""Printed numbers of Shen et al. (2026): table 1 and the ablation tables, by the
study's names of reward models.

Of table 2, success rates of planning agents, the available text has two gains only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

ORDER = ("alfworld", "scienceworld", "webshop", "blocksworld", "textworld")
"""The columns, before the overall one."""
MAIN = "Shen et al. (2026), table 1"
ABLATION = "Shen et al. (2026), appendix C.5.4"


@dataclass(frozen=True)
class Row:
    """One printed row."""

    title: str
    source: str
    values: Mapping[str, float]
    """By domain."""
    overall: float | None = None


def _row(title: str, source: str, *values: float) -> Row:
    return Row(
        title, source, dict(zip(ORDER, values, strict=False)), values[len(ORDER)]
    )


TABLE_1: Mapping[str, Row] = {
    # Columns are those of `ORDER`, then the mean over the domains.
    "monotonic": _row("monotonic", MAIN, 0.532, 0.508, 0.535, 0.589, 0.536, 0.540),
    "supervised-alfworld": _row(
        "supervised on AlfWorld", MAIN, 0.212, 0.542, 0.618, 0.596, 0.414, 0.476
    ),
    "supervised-scienceworld": _row(
        "supervised on ScienceWorld", MAIN, 0.506, 0.305, 0.661, 0.706, 0.580, 0.552
    ),
    "supervised-webshop": _row(
        "supervised on WebShop", MAIN, 0.707, 0.624, 0.242, 0.706, 0.707, 0.597
    ),
    "supervised-blocksworld": _row(
        "supervised on BlocksWorld", MAIN, 0.556, 0.471, 0.596, 0.472, 0.556, 0.530
    ),
    "supervised-textworld": _row(
        "supervised on TextWorld", MAIN, 0.523, 0.658, 0.678, 0.604, 0.203, 0.533
    ),
    "supervised": _row(
        "supervised on all domains", MAIN, 0.178, 0.283, 0.285, 0.489, 0.177, 0.282
    ),
    "vlwm": _row("VLWM critic", MAIN, 0.823, 0.673, 0.636, 0.663, 0.896, 0.738),
    "judge-brief": _row(
        "judge Qwen3-14B, no thinking", MAIN, 0.395, 0.542, 0.403, 0.466, 0.316, 0.424
    ),
    "judge-thinking": _row(
        "judge Qwen3-14B, thinking", MAIN, 0.370, 0.371, 0.356, 0.436, 0.211, 0.349
    ),
    "judge": _row(
        "judge gpt-oss-20b, effort low", MAIN, 0.368, 0.394, 0.376, 0.362, 0.119, 0.324
    ),
    "judge-medium": _row(
        "judge gpt-oss-20b, effort medium",
        MAIN,
        0.366,
        0.391,
        0.374,
        0.363,
        0.115,
        0.322,
    ),
    "statefactory": _row(
        "StateFactory, gpt-oss-20b", MAIN, 0.285, 0.288, 0.286, 0.427, 0.201, 0.297
    ),
}
ABLATIONS: Mapping[str, Row] = {
    "level-1": _row(
        "level 1, what is seen", ABLATION, 0.49, 0.45, 0.52, 0.88, 0.50, 0.57
    ),
    "level-2": _row("level 2, sentences", ABLATION, 0.31, 0.35, 0.42, 0.72, 0.37, 0.43),
    "level-3": _row("level 3, objects", ABLATION, 0.33, 0.33, 0.40, 0.45, 0.26, 0.35),
    "level-4": _row(
        "level 4, attributes", ABLATION, 0.28, 0.29, 0.29, 0.43, 0.20, 0.30
    ),
    "goal-oracle": _row(
        "goals of the oracle", ABLATION, 0.26, 0.27, 0.26, 0.40, 0.22, 0.28
    ),
    "goal-online": _row("goals online", ABLATION, 0.28, 0.29, 0.29, 0.43, 0.20, 0.30),
    "embedder-distilroberta": _row(
        "nli-distilroberta-base-v2", ABLATION, 0.28, 0.29, 0.29, 0.47, 0.20, 0.31
    ),
    "embedder-mpnet": _row(
        "all-mpnet-base-v2", ABLATION, 0.28, 0.29, 0.29, 0.54, 0.20, 0.32
    ),
    "embedder-minilm": _row(
        "all-MiniLM-L6-v2", ABLATION, 0.28, 0.29, 0.29, 0.43, 0.20, 0.30
    ),
    "embedder-bge": _row(
        "bge-base-en-v1.5", ABLATION, 0.32, 0.34, 0.31, 0.41, 0.25, 0.33
    ),
    "embedder-gemma": _row(
        "embeddinggemma-300m", ABLATION, 0.45, 0.47, 0.42, 0.52, 0.38, 0.45
    ),
    "backbone-qwen3-14b": _row(
        "Qwen3-14B", ABLATION, 0.53, 0.57, 0.59, 0.68, 0.53, 0.58
    ),
    "backbone-qwen3-30b": _row(
        "Qwen3-30B-A3B-Instruct-2507", ABLATION, 0.53, 0.59, 0.58, 0.53, 0.52, 0.55
    ),
    "backbone-qwen3-thinking": _row(
        "Qwen3-30B-A3B-Thinking-2507", ABLATION, 0.36, 0.46, 0.40, 0.52, 0.31, 0.41
    ),
    "effort-low": _row(
        "gpt-oss-20b, effort low", ABLATION, 0.37, 0.35, 0.34, 0.47, 0.26, 0.36
    ),
    "effort-medium": _row(
        "gpt-oss-20b, effort medium", ABLATION, 0.28, 0.29, 0.29, 0.43, 0.20, 0.30
    ),
}
GAINS: Mapping[str, float] = {"alfworld": 0.2164, "scienceworld": 0.1240}
"""Success of ReAct with rewards less that of ReAct alone, by domain."""
TRIPLETS: Mapping[str, float] = {
    "distilroberta": 0.83,
    "mpnet": 0.76,
    "minilm": 0.81,
    "bge": 0.78,
    "gemma": 0.67,
}
"""Printed triplet accuracy, by embedder."""
