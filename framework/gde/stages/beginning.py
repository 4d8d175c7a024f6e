"""The beginning of an episode's world, with its own goal or with another."""

from dataclasses import replace
from typing import NamedTuple

from gde.data.observation import Observation, World
from gde.errors import GdeError
from gde.parts.environment import Environment, HasGoals
from gde.seeding import generator


class Begun(NamedTuple):
    """A world at its start."""

    observation: Observation
    world: World


def begin(environment: Environment, seed: int, goal_moved: bool) -> Begun:
    """Begin the world of a seed.

    Args:
        environment: in which it begins.
        seed: of the world.
        goal_moved: whether the world has another of the goals that its generator could
            have drawn, if there is one. The seed decides which, by the generator's
            probabilities. It is then a variation of the world with its own goal.

    Raises:
        GdeError: the goal is to be moved, and the environment cannot draw it again.
    """
    observation = environment.reset(seed)
    world = environment.world()
    if not goal_moved:
        return Begun(observation, world)

    if not isinstance(environment, HasGoals):
        raise GdeError("the environment cannot draw its goal again")
    goals = environment.goals()
    others = {**goals.probabilities}
    others.pop(goals.present)
    if others:
        total = sum(others.values())
        chances = [each / total for each in others.values()]
        number = generator(seed, "goal swap").choice(len(others), p=chances)
        observation = environment.set_goal([*others][number])
    moved = replace(environment.world(), base=world.cluster)
    return Begun(observation, moved)
