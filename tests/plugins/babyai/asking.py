"""Asking questions without a run."""

import asyncio

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import EpisodeKey, Trajectory, Turn
from gde.parts.agent import Agent, Brief
from gde_plugins.babyai.config import QuestionConfig
from gde_plugins.babyai.scoring import metrics
from gde_plugins.babyai.tasks.environment import QuestionEnvironment


def environment(task: str, level: str, **settings: object) -> QuestionEnvironment:
    return QuestionEnvironment(task, QuestionConfig(level=level, **settings))  # type: ignore[arg-type]


def episode(task: str, level: str, seed: int, agent: Agent) -> Trajectory:
    """One question and the agent's answer, as a run records it."""
    return episode_in(environment(task, level), seed, agent)


def episode_in(world: QuestionEnvironment, seed: int, agent: Agent) -> Trajectory:
    """The question of a seed and the agent's answer."""
    shown = world.reset(seed)
    agent.begin(Brief(task=world.task(), seed=seed, environment=world))
    before, decision = world.state(), asyncio.run(agent.act(shown))
    outcome = world.step(decision.action) if decision.action is not None else None
    turn = Turn(
        index=0,
        observation=shown,
        decision=decision,
        reward=outcome.reward if outcome else 0.0,
        terminated=outcome is not None,
        truncated=False,
        success=outcome.success if outcome else 0.0,
        state=before,
    )
    return Trajectory(
        key=EpisodeKey(condition=0, world=seed),
        seed=seed,
        world=world.world(),
        labels=world.world().labels,
        horizon=1,
        turns=(turn,),
        ending="terminated" if outcome else "horizon",
        final_state=world.state(),
    )


def measured(task: str, episodes: list[Trajectory]) -> dict[str, Measurement]:
    """The numbers of a task over the whole of some episodes, by name."""
    found = getattr(metrics, task)(Evidence(trajectories=episodes))
    return {one.name: one for one in found if not one.where}
