"""A private copy of an episode's world, in which an agent tries what it may do."""

from dataclasses import dataclass
from typing import Protocol

from gde.data.observation import Observation, Optimum, State
from gde.data.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False)
class Situation:
    """A moment of an episode, or one that an action would lead to."""

    observation: Observation
    over: bool = False
    """Whether no further action can be taken."""
    state: State | None = None
    """The truth, for reward models and not for the agent; None where it is not
    known.
    """
    optimum: Optimum | None = None
    """The optimum, for reward models too; computed only where a reward model that the
    agent names needs it.
    """
    snapshot: object = None
    """Private to the simulator that made it."""


class Simulator(Protocol):
    """A private world of the agent that begins like the world of the episode.

    Nothing that happens in it reaches the episode, and it draws its random numbers by
    another seed.
    """

    @property
    def begun(self) -> Trajectory:
        """The episode without its turns, for reward models."""

    @property
    def steps(self) -> int:
        """The number of actions tried so far."""

    async def present(self) -> Situation:
        """The present moment of the episode."""

    async def step(self, situation: Situation, action: str) -> Situation:
        """The situation that an action leads to from one that this simulator gave.

        Raises:
            ValueError: the action is not admissible there, or the episode would be
                over.
        """
