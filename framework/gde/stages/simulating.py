"""The private simulators of agents: second environments at the same moment."""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Protocol

from gde.data.observation import Observation
from gde.data.trajectory import Trajectory
from gde.parts.environment import HasSimulator
from gde.parts.simulator import Situation
from gde.parts.snapshots import Restorable
from gde.seeding import derive
from gde.stages.beginning import begin
from gde.stages.hosting import Host
from gde.stages.judging import Judge, Moment


class Simulable(Restorable, HasSimulator, Protocol):
    """An environment that can be put back and given other dice."""


@dataclass
class Copy:
    """The second environment and where it stands."""

    host: Host
    goal_moved: bool
    """Whether the world has another goal than its own."""
    dice: int
    """Seed of all that is random in it."""
    certified: bool
    """Whether the optimum of every situation is worked out."""
    judge: Judge = field(default_factory=Judge, init=False)
    begun: bool = field(default=False, init=False)
    at: Situation | None = field(default=None, init=False)
    throws: int = field(default=0, init=False)

    def arrive(self, environment: Simulable, seed: int, snapshot: object) -> Situation:
        """Put it to a moment of the episode that began with `seed`."""
        if not self.begun:
            begin(environment, seed, self.goal_moved)
            self.begun = True
        shown = environment.restore(snapshot)
        self.at = self._situation(environment, shown, over=False)
        self._throw(environment)
        return self.at

    def follow(
        self, environment: Simulable, situation: Situation, action: str
    ) -> Situation:
        """Take an action in a situation."""
        if self.at is not situation:
            environment.restore(situation.snapshot)
            self._throw(environment)

        # If the step fails, it stands nowhere.
        self.at = None
        outcome = environment.step(action)
        over = outcome.terminated or outcome.truncated
        self.at = self._situation(environment, outcome.observation, over)
        return self.at

    def _throw(self, environment: Simulable) -> None:
        self.throws += 1
        environment.reseed(derive(self.dice, "throw", self.throws))

    def _situation(
        self, environment: Simulable, shown: Observation, over: bool
    ) -> Situation:
        if self.certified:
            moment = self.judge.moment(environment)
        else:
            moment = Moment(self.judge.state(environment), None)
        return Situation(
            observation=shown,
            over=over,
            state=moment.state,
            optimum=moment.optimum,
            snapshot=environment.snapshot(),
        )


@dataclass
class Simulation:
    """Implements `gde.parts.simulator.Simulator`.

    Each environment is called where it lives. Only a copy of the episode's snapshot
    passes between them.
    """

    begun: Trajectory
    _episode: Host
    _copy: Copy
    steps: int = 0

    async def present(self) -> Situation:
        snapshot = await self._episode.call(_snapshot)
        return await self._copy.host.call(self._copy.arrive, self.begun.seed, snapshot)

    async def step(self, situation: Situation, action: str) -> Situation:
        if situation.over:
            raise ValueError(
                f"the episode would be over here, nothing can be tried: got {action!r}"
            )
        self.steps += 1
        return await self._copy.host.call(self._copy.follow, situation, action)


def _snapshot(environment: Restorable) -> object:
    # The environment may go on to change what is mutable in its snapshot.
    return deepcopy(environment.snapshot())
