"""The check of environments that give SIMULATOR
(`gde.parts.environment.HasSimulator`).
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from gde.data.observation import Observation
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.parts.environment import Environment, HasMDP, HasSimulator, HasState
from gde.parts.snapshots import Restorable, restorable
from gde.seeding import generator
from gde.stages.hosting import Host
from gde.stages.simulating import Copy, Simulation
from gde.testing.promises import calling, promise, promise_equal, promise_protocol

DICE = range(8)
"""Seeds of the private copies that try the same action."""
APART = "what is tried in private must not reach the episode"
FURTHER = 2
"""Actions tried one after the other from the present state of the episode."""


def simulator(
    episode: Restorable, private: Restorable, seed: int, dice: int = 0
) -> Simulation:
    """A simulator as a run lends it to an agent.

    Args:
        episode: the environment of the episode, reset with `seed`.
        private: another such environment, which the simulator uses.
        seed: of the episode.
        dice: seed of chance in the simulator.
    """
    world = episode.world()
    task = episode.task()
    begun = Trajectory(
        key=EpisodeKey(condition=0, world=seed),
        seed=seed,
        world=world,
        labels=world.labels,
        horizon=task.horizon,
        turns=(),
        ending="horizon",
    )
    return Simulation(begun, Host(episode), Copy(Host(private), dice, certified=True))


def check_simulator(
    make: Callable[[], Environment],
    seeds: Sequence[int] = (0, 1, 2),
    turns: int = 20,
    actions: Sequence[str] = (),
) -> None:
    """Walk at random, simulate actions before every step, and check every promise of
    `HasSimulator`.

    Args:
        make: gives a new environment.
        seeds: the worlds to try.
        turns: length of a walk.
        actions: actions to try where an observation lists none.

    Raises:
        AssertionError: a promise is broken.
    """
    promise_protocol(make(), HasSimulator)
    walks = [_Walk(make, seed, tuple(actions)) for seed in seeds]
    for walk in walks:
        asyncio.run(walk.go(turns))

    random = sum(walk.random for walk in walks)
    differed = sum(walk.differed for walk in walks)
    promise(
        not random or differed,
        "after reseed, chance must follow from the new seed, not from the episode's",
    )


class _Walk:
    """An episode with a private copy, and the same episode without one."""

    def __init__(
        self, make: Callable[[], Environment], seed: int, actions: tuple[str, ...]
    ) -> None:
        self._episode = restorable(make())
        self._apart = restorable(make())
        self._private = restorable(make())
        self._seed = seed
        self._actions = actions
        self._rng = generator(seed, "walk")
        self.random = 0
        """Steps that chance decides."""
        self.differed = 0
        """Those of them with another outcome under other dice."""

    async def go(self, turns: int) -> None:
        observation = self._episode.reset(self._seed)
        self._apart.reset(self._seed)
        private = simulator(self._episode, self._private, self._seed)
        for _ in range(turns):
            await self._try(private, observation)
            action = self._choose(observation)
            if self._by_chance(action):
                await self._throw(action)

            outcome = calling(partial(self._episode.step, action), APART)
            promise_equal(
                outcome, calling(partial(self._apart.step, action), APART), APART
            )
            observation = outcome.observation
            if outcome.terminated or outcome.truncated:
                break
        for environment in (self._private, self._apart, self._episode):
            environment.close()

    async def _try(self, private: Simulation, observation: Observation) -> None:
        here = await private.present()
        promise_equal(
            here.observation,
            observation,
            "a private copy must show what the episode shows",
        )
        if isinstance(self._episode, HasState):
            promise_equal(
                here.state,
                self._episode.state(),
                "a private copy must stand where the episode stands",
            )
        for _ in range(FURTHER):
            if not here.over:
                here = await private.step(here, self._choose(here.observation))

    async def _throw(self, action: str) -> None:
        """Try the same action with several dice."""
        shown = set()
        for dice in DICE:
            private = simulator(self._episode, self._private, self._seed, dice)
            here = await private.present()
            after = await private.step(here, action)
            shown.add(after.observation.text)
        self.random += 1
        self.differed += len(shown) > 1

    def _by_chance(self, action: str) -> bool:
        """Whether the action may lead to several states, by the MDP of the world."""
        if not isinstance(self._episode, HasMDP):
            return False
        mdp = self._episode.mdp()
        index = self._episode.state().index
        row = mdp.transition[mdp.actions.index(action)][[index]].toarray()
        return bool(np.count_nonzero(row) > 1)

    def _choose(self, observation: Observation) -> str:
        choices = (
            observation.actions or self._actions or self._episode.task().actions or ()
        )
        promise(
            choices,
            "an observation without actions needs `actions` to try, given to check_simulator",
        )
        return str(self._rng.choice(choices))
