"""Settings of the blocks world."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval

BLOCKS, GOAL = 4, "towers"


@dataclass(frozen=True, kw_only=True)
class BlocksworldConfig:
    """Problems of a folder, or random ones: every seed is another."""

    blocks: Annotated[int, Interval(ge=2, le=26)] = BLOCKS
    """Number of blocks of a random problem."""
    goal: Literal["towers", "part"] = "towers"
    """What a random problem asks for: everything that stands on another block in some
    arrangement, as PlanBench does; or part, a random half of that.
    """
    problems: str | None = None
    """A folder of problems in PDDL (`*.pddl`, at any depth) to use instead of random
    ones, each once. A `domain.pddl` beside them, or above them within the folder, says
    in which words they are written where these are not those of blocksworld-4ops.
    """
    play_on: bool = False
    """Whether the episode goes on when the goal has been reached; success is then that
    of each moment.
    """
    horizon_factor: Annotated[float, Ge(1)] = 2.0
    """Turns allowed, as a multiple of the length of an optimal plan, rounded up."""

    def __post_init__(self) -> None:
        if self.problems is not None and (self.blocks, self.goal) != (BLOCKS, GOAL):
            raise ValueError(
                "neither blocks nor goal beside problems, which are taken from their folder as they are"
            )

    def turns(self, steps: int) -> int:
        """Return the number of turns allowed if an optimal plan has so many actions."""
        return math.ceil(round(self.horizon_factor * steps, 9))
