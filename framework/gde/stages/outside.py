"""One episode that belongs to no run: another program decides when it is played and keeps what comes of it."""

from collections.abc import Callable
from contextlib import closing

from gde.data.observation import Observation
from gde.data.trajectory import Decision, Ending, EpisodeKey, Trajectory, Turn
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment
from gde.seeding import derive
from gde.stages.episode import admitted, advance, begin_world, turn_of
from gde.stages.failing import pass_on, reason_of
from gde.stages.judging import Judge


async def play(
    make_environment: Callable[[], Environment], make_agent: Callable[[], Agent], key: EpisodeKey, root: int, seed: int
) -> Trajectory:
    """The trajectory that a run would record of the same parts and seeds, if it is given the same answers.

    Args:
        make_environment: gives the world, called in this thread.
        make_agent: gives the agent.
        key: which episode it is.
        root: the seed of the run, of which the agent's follows.
        seed: of the world (`gde.stages.rollout.world_seed`).
    """
    judge, turns, failure = Judge(), list[Turn](), ""
    ending: Ending = "horizon"
    with closing(make_environment()) as environment:
        opening = begin_world(environment, seed, judge)
        agent = make_agent()
        own = derive(root, "agent", key.stratum, key.world, key.repeat)
        agent.begin(Brief(task=opening.task, seed=own, environment=environment))
        observation, moment = opening.observation, opening.moment
        for index in range(opening.task.horizon):
            decision = await _decide(agent, observation)
            outcome, after = advance(environment, observation, decision, judge)
            turns.append(turn_of(index, observation, decision, outcome, moment))
            observation, moment = outcome.observation, after
            if decision.status == "error":
                ending, failure = "failed", decision.detail
            elif outcome.terminated or outcome.truncated:
                ending = "terminated" if outcome.terminated else "truncated"
            if ending != "horizon":
                break
    return Trajectory(
        key=key,
        seed=seed,
        world=opening.world,
        labels=opening.world.labels,
        horizon=opening.task.horizon,
        turns=tuple(turns),
        ending=ending,
        failure=failure,
        final_state=moment.state,
    )


async def _decide(agent: Agent, observation: Observation) -> Decision:
    try:
        decision = await agent.act(observation)
    except BaseException as error:
        pass_on(error)
        return Decision.unusable("error", reason_of(error))
    return admitted(decision, observation)
