"""What of the baselines can be chosen."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ConstantConfig:
    """One number for all."""

    value: float = 0.0
    """The reward of every turn."""
