"""The check of environments that give SIMULATOR (`HasSimulator`)."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

import numpy as np

from gde.data.trajectory import EpisodeKey, Trajectory
from gde.parts.environment import Environment, HasMDP, HasSimulator
from gde.parts.snapshots import Restorable, restorable
from gde.stages.hosting import Host
from gde.stages.simulating import Copy, Simulation
from gde.testing.promises import calling, promise, promise_equal, promise_protocol
from gde.testing.walk import Walk, walk_at_random

DICE = range(8)
"""Seeds of the private copies that try the same action."""
APART = "actions in a private copy must not change the episode"
FURTHER = 2
"""Next actions of the walk tried one after the other in the private copy."""


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
        with closing(make()) as world:
            walk = walk_at_random(world, seed, turns, actions)
        differed += asyncio.run(_simulated(make, walk, seed))
    promise(
        not differed or any(differed),
        "after reseed, chance must follow from the new seed, not from the episode's",
    )


async def _simulated(
    make: Callable[[], Environment], walk: Walk, seed: int
) -> list[bool]:
    """Repeat a walk beside a private copy, in which its next actions are tried.

    Returns:
        For each step that chance decides, whether its outcome depended on the dice.
    """
    episode = restorable(make())
    private = restorable(make())
    shown = episode.reset(seed)
    simulation = simulator(episode, private, seed)
    differed = []
    for turn, action in enumerate(walk.actions):
        here = await simulation.present()
        promise_equal(
            here.observation,
            shown,
            "a private copy must show the same observation as the episode",
        )
        if walk.states:
            promise_equal(
                here.state,
                walk.states[turn],
                "a private copy must be in the same state as the episode",
            )
        for further in walk.actions[turn : turn + FURTHER]:
            known = here.observation.actions
            if not here.over and (known is None or further in known):
                here = await simulation.step(here, further)

        if _is_random(episode, action):
            texts = set()
            for dice in DICE:
                thrown = simulator(episode, private, seed, dice)
                after = await thrown.step(await thrown.present(), action)
                texts.add(after.observation.text)
            differed.append(len(texts) > 1)

        outcome = calling(partial(episode.step, action), APART)
        promise_equal(outcome, walk.outcomes[turn], APART)
        shown = outcome.observation
    for environment in (private, episode):
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
