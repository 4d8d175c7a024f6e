"""Options of the cliff world, of its study and of the metrics."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from gde.data.ranges import Count, Index, Share


@dataclass(frozen=True, kw_only=True)
class CliffWorldConfig:
    """One cliff world; its seed decides only the wind."""

    width: Annotated[int, Interval(ge=2, le=100)] = 10
    """Columns."""
    height: Annotated[int, Interval(ge=1, le=100)] = 4
    """Rows."""
    goal_length: Count = 1
    """Goal cells along the top row, and along the last column; the corner counts in
    both.
    """
    wind: Share = 0.3
    """Probability that a move ends one row further up."""
    horizon: Annotated[int, Interval(ge=1, le=1000)] = 30
    """Steps of an episode; the printed values of MacDermott et al. (2024) fit 30."""

    def __post_init__(self) -> None:
        # The corner where the agent starts is never a goal.
        longest = min(self.height, self.width - 1)
        if self.goal_length > longest:
            size = f"{self.height} x {self.width}"
            raise ValueError(
                f"a goal_length of at most {longest} in a world of {size}, got {self.goal_length}"
            )


@dataclass(frozen=True, kw_only=True)
class CliffWorldStudyConfig:
    """How the networks of the study are fitted; everything else is exact."""

    starts: Count = 5
    """Number of networks fitted to each policy; their mean is compared with the
    published mean of several runs.
    """
    steps: Count = 1000
    """Gradient steps of each; the default of the algorithm that MacDermott et al.
    (2024) adapted.
    """


@dataclass(frozen=True, kw_only=True)
class VerdictConfig:
    """The simulation of the test's power."""

    runs: Index = 8
    """Simulated runs of a walker that is 70 % random, in the same worlds."""


@dataclass(frozen=True, kw_only=True)
class MegConfig:
    """What the agent is assumed to know."""

    deadline: bool = False
    """Assume that the agent knows the deadline."""


@dataclass(frozen=True, kw_only=True)
class BoundConfig:
    """How a world is sampled."""

    tries: Count = 1
    """Samples of each action in each decision. More than one needs an environment with
    a simulator, and makes the bound closer where chance plays a part.
    """
