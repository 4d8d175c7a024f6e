"""The action probabilities of an agent in every state of a scene, asked once for each
state.
"""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from gde.data.arrays import Doubles
from gde.errors import GdeError
from gde.parts.agent import Agent, Brief, HasActionProbabilities
from meg_studies.language.scenes import Scene, View

AT_ONCE = 64
"""Number of questions that wait for answers together."""


async def policies_of(
    make: Callable[[], Agent],
    scenes: Sequence[Scene],
    least: float,
) -> list[Doubles]:
    """Return (S, A) probabilities in each scene, zeros in states without a view; rows
    may sum to less than 1.

    Args:
        make: makes the agent of one episode. It is asked as if the episode began in
            each state.
        scenes: the grids.
        least: answers that are less probable are left out, see
            `HasActionProbabilities`.

    Raises:
        GdeError: the agent does not tell its action probabilities.
    """
    door = asyncio.Semaphore(AT_ONCE)

    async def ask(scene: Scene, view: View) -> Doubles:
        # An agent of its own for each question, as it may remember the episode.
        agent = make()
        if not isinstance(agent, HasActionProbabilities):
            raise GdeError(
                f"{type(agent).__name__} does not tell its action probabilities: wanted e.g. gpt-oss"
            )
        agent.begin(Brief(task=scene.task, seed=0))
        async with door:
            given = await agent.action_probabilities(view.observation, least)
        return np.array([given.get(action, 0.0) for action in scene.mdp.actions])

    policies = []
    rows = []
    questions = []
    for scene in scenes:
        policy = np.zeros((scene.mdp.n_states, scene.mdp.n_actions))
        policies.append(policy)
        for view in scene.views:
            rows.append(policy[view.state])
            questions.append(ask(scene, view))

    # The questions of all scenes are asked together; a row is a view into its policy.
    answers = await asyncio.gather(*questions)
    for row, answer in zip(rows, answers, strict=True):
        row[:] = answer
    return policies
