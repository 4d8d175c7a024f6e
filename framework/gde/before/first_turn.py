"""The first turn of an episode, taken outside of a run."""

from dataclasses import dataclass

from gde.data.trajectory import Decision, EpisodeKey, Trajectory
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment
from gde.request.ready import Ready
from gde.stages.context import WORLD_CAPABILITIES, RunContext, agent_seed
from gde.stages.episode import Opening, advance, begin_world, turn_of
from gde.stages.judging import Judge


@dataclass(frozen=True, kw_only=True)
class FirstTurn:
    """An episode that has begun."""

    ready: Ready
    key: EpisodeKey
    seed: int
    """Of its world."""
    environment: Environment
    opening: Opening
    judge: Judge

    @classmethod
    def of(
        cls, ready: Ready, key: EpisodeKey, seed: int, environment: Environment
    ) -> "FirstTurn":
        """Begin an episode."""
        judge = Judge()
        goal_moved = ready.conditions[key.condition].goal_moved
        return cls(
            ready=ready,
            key=key,
            seed=seed,
            environment=environment,
            opening=begin_world(environment, seed, goal_moved, judge),
            judge=judge,
        )

    async def decide(self, context: RunContext) -> Decision:
        """Let a new agent decide, which is made with this context."""
        ready = self.ready
        agent: Agent = ready.agent.make(context)
        is_lent = bool(WORLD_CAPABILITIES & ready.agent.needs)
        brief = Brief(
            task=self.opening.task,
            seed=agent_seed(ready.plan.seed, self.key),
            environment=self.environment if is_lent else None,
        )
        agent.begin(brief)
        return await agent.act(self.opening.observation)

    def trajectory(self, decision: Decision) -> Trajectory:
        """Take the step; give the episode as if it ended there."""
        opening = self.opening
        observation = opening.observation
        outcome, after = advance(self.environment, observation, decision, self.judge)
        turn = turn_of(0, observation, decision, outcome, opening.moment)
        swept = self.ready.conditions[self.key.condition].labels
        return Trajectory(
            key=self.key,
            seed=self.seed,
            world=opening.world,
            labels={**opening.world.labels, **swept},
            horizon=opening.task.horizon,
            turns=(turn,),
            ending="horizon",
            final_state=after.state,
        )
