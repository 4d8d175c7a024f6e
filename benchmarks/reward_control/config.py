"""Sizes of the study."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge


@dataclass(frozen=True, kw_only=True)
class ControlConfig:
    """Settings of `gde reproduce reward-control`."""

    domains: str = "blocksworld+webshop"
    """Domains, joined by +; those of slow simulators take hours."""
    compared: str = (
        "monotonic+goal-words+goal-clock+goal-unrepeated+goal-mentions-unrepeated"
        "+unrepeated+random+shuffled+flat+objects+statefactory"
    )
    """Reward models, joined by +; flat and objects are levels 1 and 3 of StateFactory."""
    rewards: str = ""
    """Additional reward models, joined by +; use --reward for one with settings."""
    worlds: Annotated[int, Ge(1)] = 100
    """Number of worlds per domain."""
    plans: Annotated[int, Ge(1)] = 16
    """Number of random plans of best-of-n."""
    depth: Annotated[int, Ge(1)] = 4
    """Steps of these plans."""
    budget: Annotated[int, Ge(1)] = 16
    """Simulations per turn of the tree search."""
