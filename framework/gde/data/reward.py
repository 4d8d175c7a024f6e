"""What a reward model makes of a trajectory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardTrace:
    """One predicted reward a turn."""

    model: str
    """Name of the reward model as chosen in the plan."""
    episode: str
    values: NDArray[np.float64]
    """(T,); NaN never stands for a failure, see `failure`."""
    failure: str = ""
    """Why there are no values; empty when there are."""
