"""Settings of the blocks world."""

import math
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Interval

from gde.offers import FilePath
from gde_plugins.blocksworld.wording import Wording

BLOCKS = 4


@dataclass(frozen=True, kw_only=True)
class BlocksworldConfig:
    """Problems of a folder, or a random problem per seed."""

    blocks: Annotated[int, Interval(ge=2, le=50)] = BLOCKS
    """Number of blocks of a random problem."""
    problems: FilePath | None = None
    """Folder of PDDL problems (`*.pddl`, at any depth), used once each instead of
    random ones. A domain beside them, or above them within the folder, defines their
    vocabulary; the default is that of blocksworld-4ops.
    """
    text: Wording = "plain"
    """Wording of states and actions: plain, or that of PlanBench's translator, which
    calls blocks by colors.
    """
    play_on: bool = False
    """Continue after the goal; success then describes the current state."""
    horizon_factor: Annotated[float, Ge(1)] = 2.0
    """Maximum number of turns as a multiple of the optimal plan's length, rounded up."""

    def __post_init__(self) -> None:
        if self.problems is not None and self.blocks != BLOCKS:
            raise ValueError("no env.blocks with env.problems, whose files define them")

    def turns(self, steps: int) -> int:
        """Return the maximum number of turns for an optimal plan of `steps` actions."""
        return math.ceil(round(self.horizon_factor * steps, 9))
