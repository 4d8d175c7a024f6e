"""World models for planning: a copy of the world, or a language model's predictions."""

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
"""Number of earlier steps that the predicting model sees."""
PREDICT = """You predict what an agent in a world of text will see next. Say nothing but what it will see, in the form \
of the observations so far."""


@dataclass(frozen=True)
class SimulatedWorld:
    """A private copy of the world."""

    simulator: Simulator
    begun: Trajectory

    async def look(self, observation: Observation) -> Situation:  # noqa: ARG002 - the copy knows more
        return await self.simulator.present()

    async def step(
        self, situation: Situation, action: str, effort: Effort
    ) -> Situation:
        effort.simulator_steps += 1
        return await self.simulator.step(situation, action)

    def taken(self, observation: Observation, action: str) -> None:
        """Forget the action: the copy follows the world."""


class ImaginedWorld:
    """Predictions of the next observation by a language model.

    A prediction lists no actions, so rollouts have a single step (Shen et al. 2026,
    appendix C.6.3).
    """

    def __init__(self, asker: Asker, brief: Brief) -> None:
        self._asker = asker
        self._task = brief.task
        self._past: tuple[tuple[str, str], ...] = ()
        self.begun = _unknown(brief)

    async def look(self, observation: Observation) -> Situation:
        return Situation(observation=observation)

    async def step(
        self, situation: Situation, action: str, effort: Effort
    ) -> Situation:
        completion = await self._asker.complete(
            self._question(situation.observation.text, action), effort
        )
        text = completion.text.strip()
        if not text:
            effort.malformed += 1
        # An empty prediction is taken for no change.
        return Situation(
            observation=Observation(text=text or situation.observation.text)
        )

    def taken(self, observation: Observation, action: str) -> None:
        """Record the agent's action."""
        self._past = (*self._past, (observation.text, action))[-SEEN:]

    def _question(self, now: str, action: str) -> tuple[Message, ...]:
        parts = [PREDICT]
        if self._task.rules:
            parts.append(self._task.rules)
        parts.append(f"The agent's objective: {self._task.objective}")
        for seen, taken in (*self._past, (now, action)):
            parts.append(f"Observation:\n{seen}\n\nAction: {taken}")
        parts.append("Next observation:")
        return (Message(role="user", content="\n\n".join(parts)),)


def world_model(
    kind: str, asker: Asker | None, brief: Brief
) -> "SimulatedWorld | ImaginedWorld":
    """Return the world model of an episode.

    Raises:
        GdeError: there is neither a simulator nor a language model.
    """
    if kind == "model" and asker is not None:
        return ImaginedWorld(asker, brief)
    if brief.simulator is None:
        raise GdeError(
            "a planning agent needs a simulator of its world, or agent.world=model with a language model"
        )
    begun = brief.simulator.begun
    return SimulatedWorld(
        brief.simulator, replace(begun, world=begun.world.asking(brief.task))
    )


def _unknown(brief: Brief) -> Trajectory:
    """The episode as an agent without a simulator knows it."""
    task: Task = brief.task
    world = World(id="imagined").asking(task)
    key = EpisodeKey(condition=0, world=0)
    return Trajectory(
        key=key,
        seed=brief.seed,
        world=world,
        labels={},
        horizon=task.horizon,
        turns=(),
        ending="horizon",
    )
