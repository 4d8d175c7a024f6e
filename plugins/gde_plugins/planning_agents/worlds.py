"""World models that plans are made in: a private copy of the world, or a language model's imagination."""

from dataclasses import dataclass, replace

from gde.data.completion import Message
from gde.data.observation import Observation, Task, World
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.simulator import Simulator, Situation
from gde_plugins.planning_agents.asking import Asker
from gde_plugins.planning_agents.effort import Effort

SEEN = 4
"""Earlier steps that whoever imagines the next one is shown."""
PREDICT = """You predict what an agent in a world of text will see next. Say nothing but what it will see, in the form \
of the observations so far."""


@dataclass(frozen=True)
class SimulatedWorld:
    """A private copy of the world."""

    simulator: Simulator
    begun: Trajectory

    async def look(self, observation: Observation) -> Situation:  # noqa: ARG002 - the copy knows more
        return await self.simulator.present()

    async def step(self, situation: Situation, action: str, effort: Effort) -> Situation:
        effort.simulator_steps += 1
        return await self.simulator.step(situation, action)


class ImaginedWorld:
    """A language model says what would be seen. It lists no actions, so that nothing is tried there: rollouts are of a
    single step (Shen et al. 2026, appendix C.6.3)."""

    def __init__(self, asker: Asker, brief: Brief) -> None:
        self._asker, self._task = asker, brief.task
        self._past: tuple[tuple[str, str], ...] = ()
        self.begun = _unknown(brief)

    async def look(self, observation: Observation) -> Situation:
        return Situation(observation=observation)

    async def step(self, situation: Situation, action: str, effort: Effort) -> Situation:
        completion = await self._asker.complete(self._question(situation.observation.text, action), effort)
        text = completion.text.strip()
        if not text:
            effort.malformed += 1
        # Whoever foresees nothing foresees no change.
        return Situation(observation=Observation(text=text or situation.observation.text))

    def taken(self, observation: Observation, action: str) -> None:
        """The agent has acted."""
        self._past = (*self._past, (observation.text, action))[-SEEN:]

    def _question(self, now: str, action: str) -> tuple[Message, ...]:
        task, steps = self._task, (*self._past, (now, action))
        told = "\n\n".join(f"Observation:\n{seen}\n\nAction: {taken}" for seen, taken in steps)
        parts = (PREDICT, task.rules, f"The agent's objective: {task.objective}", told, "Next observation:")
        return (Message(role="user", content="\n\n".join(part for part in parts if part)),)


def world_model(kind: str, asker: Asker | None, brief: Brief) -> "SimulatedWorld | ImaginedWorld":
    """The world model of an episode.

    Raises:
        GdeError: there is nothing that it could be made of.
    """
    if kind == "model" and asker is not None:
        return ImaginedWorld(asker, brief)
    if brief.simulator is None:
        raise GdeError("a planning agent needs a simulator of its world, or agent.world=model with a language model")
    begun = brief.simulator.begun
    return SimulatedWorld(brief.simulator, replace(begun, world=begun.world.asking(brief.task)))


def _unknown(brief: Brief) -> Trajectory:
    """The episode as far as an agent knows it that has no simulator."""
    task: Task = brief.task
    world = World(id="imagined").asking(task)
    key = EpisodeKey(stratum=0, world=0)
    return Trajectory(
        key=key, seed=brief.seed, world=world, labels={}, horizon=task.horizon, turns=(), ending="horizon"
    )
