"""ReAct with predicted rewards of its candidates (Shen et al. 2026, appendix C.6.2)."""

from collections.abc import Sequence

from gde.data.answer import Reading
from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.context import Context
from gde.parts.simulator import Situation
from gde_plugins.planning_agents.answers import Rejected
from gde_plugins.planning_agents.config import ReactRewardConfig
from gde_plugins.planning_agents.effort import Effort
from gde_plugins.planning_agents.judging import Judge
from gde_plugins.planning_agents.priors import proposed
from gde_plugins.planning_agents.react import React, decision
from gde_plugins.planning_agents.worlds import world_model

Gains = Sequence[tuple[str, float | None]]
"""Candidates, each with its predicted gain in reward; None without a reward."""


class ReactReward(React):
    """Proposes candidates, simulates each, and decides by their gains in reward."""

    _config: ReactRewardConfig

    def __init__(self, config: ReactRewardConfig, context: Context) -> None:
        super().__init__(config, context)
        self._reward = context.reward_model(config.reward)

    def begin(self, brief: Brief) -> None:
        super().begin(brief)
        self._world = world_model(self._config.world, self._asker, brief)
        self._judge = Judge(self._reward, self._world.begun, self._config.shown)

    async def act(self, observation: Observation) -> Decision:
        effort = Effort()
        here = await self._world.look(observation)
        decided = await self._planned(here, observation, effort)
        self._judge.taken(here, decided)
        if decided.action is not None:
            self._world.taken(observation, decided.action)
        return decided

    async def _planned(
        self, here: Situation, observation: Observation, effort: Effort
    ) -> Decision:
        found, completion = await proposed(
            self._asker,
            self._conversation,
            self._config.candidates,
            observation,
            effort,
            strict=self._config.strict,
        )
        if isinstance(found, Rejected):
            self._conversation.remember(observation, self._asker.heard(completion).text)
            return decision(found, effort, completion)
        gains = await self._gains(here, found, effort)
        if self._config.choose == "model":
            return await self._decide(observation, effort, advice=_assessment(gains))
        # The first of equals: the model named the best one first.
        judged = {action: gain for action, gain in gains if gain is not None}
        best = max(judged, key=judged.__getitem__)
        self._conversation.remember(
            observation, f"Thought: It promises most.\nAction: {best}"
        )
        return decision(Reading(action=best), effort, completion)

    async def _gains(
        self, here: Situation, actions: Sequence[str], effort: Effort
    ) -> Gains:
        """Return the gain in reward of each action (eq. 15).

        Raises:
            GdeError: the reward model judged none of them.
        """
        before = await self._judge.value(here, (), effort)
        gains: list[tuple[str, float | None]] = []
        for action in actions:
            there = await self._world.step(here, action, effort)
            after = await self._judge.value(there, [(here, action)], effort)
            gains.append(
                (action, None if after is None or before is None else after - before)
            )
        if {gain for _, gain in gains} == {None}:
            raise GdeError(
                f"reward model {self._config.reward!r} judged no candidate: {self._judge.reason}"
            )
        return gains


def _assessment(gains: Gains) -> str:
    lines = [
        "Predicted reward of candidates, by how much closer to the objective each leads:"
    ]
    for action, gain in gains:
        shown = "unknown" if gain is None else f"{gain:+.3f}"
        lines.append(f"- {action}: {shown}")
    return "\n".join(lines)
