"""The check of environments that give SIMULATOR (`HasSimulator`)."""

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
APART = "actions in a private copy must not change the episode"
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
    copy = Copy(host=Host(private), goal_moved=False, dice=dice, certified=True)
    return Simulation(begun, Host(episode), copy)


def check_simulator(
    make: Callable[[], Environment],
    seeds: Sequence[int] = (0, 1, 2),
    turns: int = 20,
    actions: Sequence[str] = (),
) -> None:
    """Simulate actions before every step of a walk: the promises of `HasSimulator`.

    Args:
        make: gives a new environment.
        seeds: the worlds to try.
        turns: length of a walk.
        actions: actions to try where an observation lists none.

    Raises:
        AssertionError: a promise is broken.
    """
    promise_protocol(make(), HasSimulator)
    differed = []
    for seed in seeds:
        differed += asyncio.run(_walk(make, seed, turns, actions))
    promise(
        not differed or any(differed),
        "after reseed, chance must follow from the new seed, not from the episode's",
    )


async def _walk(
    make: Callable[[], Environment], seed: int, turns: int, actions: Sequence[str]
) -> list[bool]:
    """Play an episode with a private copy, and the same episode without one.

    Returns:
        For each step that chance decides, whether its outcome depended on the dice.
    """
    episode = restorable(make())
    apart = restorable(make())
    private = restorable(make())
    rng = generator(seed, "walk")

    def choose(observation: Observation) -> str:
        choices = observation.actions or tuple(actions) or episode.task().actions
        promise(
            choices,
            "an observation without actions needs `actions` to try, given to check_simulator",
        )
        return str(rng.choice(choices or ()))

    observation = episode.reset(seed)
    apart.reset(seed)
    simulation = simulator(episode, private, seed)
    differed = []
    for _ in range(turns):
        here = await simulation.present()
        promise_equal(
            here.observation,
            observation,
            "a private copy must show the same observation as the episode",
        )
        if isinstance(episode, HasState):
            promise_equal(
                here.state,
                episode.state(),
                "a private copy must be in the same state as the episode",
            )
        for _ in range(FURTHER):
            if not here.over:
                here = await simulation.step(here, choose(here.observation))

        action = choose(observation)
        if _is_random(episode, action):
            shown = set()
            for dice in DICE:
                thrown = simulator(episode, private, seed, dice)
                after = await thrown.step(await thrown.present(), action)
                shown.add(after.observation.text)
            differed.append(len(shown) > 1)

        outcome = calling(partial(episode.step, action), APART)
        promise_equal(outcome, calling(partial(apart.step, action), APART), APART)
        observation = outcome.observation
        if outcome.terminated or outcome.truncated:
            break
    for environment in (private, apart, episode):
        environment.close()
    return differed


def _is_random(environment: Environment, action: str) -> bool:
    """Whether the action may lead to several states, by the MDP of the world."""
    if not isinstance(environment, HasMDP):
        return False
    mdp = environment.mdp()
    index = environment.state().index
    row = mdp.transition[mdp.actions.index(action)][[index]].toarray()
    return bool(np.count_nonzero(row) > 1)
