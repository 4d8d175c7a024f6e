"""The numbers of Choukrani et al. (2025). Figures 1, 2, 10 and 11 are shown without
numbers.
"""

from collections.abc import Mapping

MODELS = (
    "Claude-3.7-Sonnet",
    "DeepSeek-R1-Distill",
    "GPT-4o",
    "Llama-3.1-405B",
    "Llama-3.1-70B",
    "Llama-3.1-8B",
    "Qwen3-32B",
)
Shares = tuple[float, ...]
"""Percentages, one for each of `MODELS`."""

TABLE_3: Mapping[str, Shares] = {
    "easy": (97.50, 97.50, 97.50, 85.00, 63.82, 12.89, 95.00),
    "moderate": (94.29, 68.61, 84.68, 53.26, 39.36, 4.47, 65.48),
    "hard": (86.67, 50.79, 76.80, 62.19, 32.54, 2.08, 61.93),
    "very hard": (82.50, 37.24, 61.19, 41.25, 33.95, 2.78, 48.82),
}
"""Success in Predict by class of difficulty."""

TABLE_4: Mapping[str, Shares] = {
    "room": (98.33, 89.08, 93.98, 72.71, 54.47, 7.76, 85.00),
    "maze": (85.50, 44.21, 69.90, 45.81, 30.98, 2.79, 51.94),
    "unblocking": (83.00, 38.85, 66.03, 51.32, 31.81, 3.47, 54.84),
    "unlocking": (82.50, 38.56, 63.09, 48.36, 31.86, 4.34, 55.40),
    "go to": (87.50, 52.30, 70.51, 48.28, 39.54, 2.63, 52.40),
    "open": (83.00, 43.85, 68.37, 49.68, 34.49, 3.47, 58.32),
    "pick up": (86.43, 51.06, 69.87, 53.20, 31.74, 4.74, 59.09),
    "put": (85.00, 42.85, 68.25, 46.46, 34.96, 3.47, 54.32),
    "location": (89.29, 56.92, 73.38, 50.18, 38.57, 3.84, 61.47),
    "sequence": (80.00, 31.14, 53.52, 36.67, 30.27, 0.00, 35.27),
}
"""Success in Predict by competency."""

TABLE_6: Mapping[str, tuple[float, float]] = {
    "narrative": (56.78, 2.34),
    "json": (59.28, 2.65),
    "structured": (61.08, 2.24),
}
"""Format to success in percent and Manhattan distance, averaged over the models."""

TABLE_7: Mapping[str, tuple[float, float]] = {
    "zero_shot": (59.29, 3.09),
    "few_shot": (59.05, 2.47),
    "cot": (61.07, 2.79),
    "tot": (62.62, 2.41),
}
"""Prompting method to success in percent and Manhattan distance, averaged over the
models.
"""
