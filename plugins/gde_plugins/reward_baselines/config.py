"""What of the baselines can be chosen."""

from dataclasses import dataclass

from annotated_types import IsFinite


@dataclass(frozen=True, kw_only=True)
class ConstantConfig:
    """One number for all."""

    value: IsFinite[float] = 0.0
    """The reward of every turn."""
