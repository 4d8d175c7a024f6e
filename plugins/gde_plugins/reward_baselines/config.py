"""Settings of the baselines."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ConstantConfig:
    """The constant baseline."""

    value: float = 0.0
    """The reward of every turn."""
