"""A private copy of an episode's world, in which an agent tries what it may do."""

from dataclasses import dataclass
from typing import Protocol

from gde.data.observation import Observation, Optimum, State
from gde.data.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False)
class Situation:
    """Where an episode stands, or would stand."""

    observation: Observation
    over: bool = False
    """Whether no further action can be taken."""
    state: State | None = None
    """The truth, for reward models and not for the agent; None where it is not known."""
    optimum: Optimum | None = None
    """What is best here, likewise; worked out only where a reward model that the agent names needs it."""
    snapshot: object = None
    """For the simulator that made it, and nobody else."""


class Simulator(Protocol):
    """A world of the agent's own that begins like that of the episode. Nothing that happens in it reaches the episode,
    and what is random in it is drawn by other dice."""

    @property
    def begun(self) -> Trajectory:
        """The episode without its turns, for reward models."""

    @property
    def steps(self) -> int:
        """Actions that have been tried so far."""

    async def present(self) -> Situation:
        """Where the episode stands now."""

    async def step(self, situation: Situation, action: str) -> Situation:
        """Where an action would lead from a situation that this simulator gave.

        Raises:
            ValueError: the action is not admissible there, or the episode would be over.
        """
