"""The action probabilities of an agent in every state of a scene, asked once for each state."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from gde.data.mdp import Floats
from gde.errors import GdeError
from gde.parts.agent import Agent, Brief, HasActionProbabilities
from gde_plugins.meg.language.scenes import Scene, View

AT_ONCE = 64
"""Questions that wait for answers together."""


async def policies_of(make: Callable[[], Agent], scenes: Sequence[Scene], least: float) -> list[Floats]:
    """Return (S, A) probabilities in each scene, zeros in states without a view; rows may sum to less than 1.

    Args:
        make: makes the agent of one episode; it is asked as if the episode began in each state.
        scenes: in which the agent is put everywhere.
        least: answers that are less probable are left out, see `HasActionProbabilities`.

    Raises:
        GdeError: the agent does not tell its action probabilities.
    """
    door = asyncio.Semaphore(AT_ONCE)

    async def ask(scene: Scene, view: View) -> Floats:
        agent = make()
        if not isinstance(agent, HasActionProbabilities):
            raise GdeError(f"{type(agent).__name__} does not tell its action probabilities: wanted e.g. gpt-oss")
        agent.begin(Brief(task=scene.task, seed=0))
        async with door:
            given = await agent.action_probabilities(view.observation, least)
        return np.array([given.get(action, 0.0) for action in scene.mdp.actions])

    questions = []
    for scene in scenes:
        questions += [ask(scene, view) for view in scene.views]
    answers = iter(await asyncio.gather(*questions))

    policies = []
    for scene in scenes:
        policy = np.zeros((scene.mdp.n_states, scene.mdp.n_actions))
        for view in scene.views:
            policy[view.state] = next(answers)
        policies.append(policy)
    return policies
