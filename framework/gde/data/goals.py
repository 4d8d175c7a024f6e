"""Counterfactual goals: what the generator of a world might have drawn instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose

GOAL_MOVED = "goal_moved"
"""Label of the conditions of a run with a goal swap: whether the goal was moved."""


@dataclass(frozen=True, kw_only=True)
class Goals:
    """The goals that a generator could have drawn, the present one among them.

    Raises:
        ValueError: no distribution, or one without the present goal.
    """

    probabilities: Mapping[str, float]
    """By name of a goal: its probability, above 0. The order must not depend on which
    of them is present.
    """
    present: str
    """The name of the goal that the episode has."""

    def __post_init__(self) -> None:
        values = self.probabilities.values()
        if not all(value > 0 for value in values) or not isclose(sum(values), 1):
            raise ValueError(
                f"probabilities must be above 0 and sum to one, got {[*values]}"
            )
        if self.present not in self.probabilities:
            raise ValueError(
                f"present must be one of {', '.join(self.probabilities)}, got {self.present!r}"
            )

    @classmethod
    def weighted(cls, weights: Mapping[str, float], present: str) -> "Goals":
        """Goals of these weights, which need not sum to one; those of 0 are left out."""
        total = sum(weights.values())
        possible = {name: each / total for name, each in weights.items() if each > 0}
        return cls(probabilities=possible, present=present)
