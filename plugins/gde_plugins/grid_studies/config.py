"""Options of the studies of Arghal et al. (2026)."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BehaviourConfig:
    """Options of the behavioural study."""

    grids: str = ""
    """File of base grids (JSON lines, as for env.grids of the grid world) to use
    instead of random ones. Of grids that name a `transform`, only those of "none" are
    taken.
    """
