"""Rewards of imagined situations."""

from collections.abc import Sequence
from dataclasses import replace

from gde.data.trajectory import Decision, Trajectory, Turn
from gde.parts.reward_model import RewardSource
from gde.parts.simulator import Situation
from gde_plugins.planning_agents.effort import Effort

UNDECIDED = Decision.unusable("empty", "nothing is decided yet")
Step = tuple[Situation, str]
"""A situation and the action to try there."""


class Judge:
    """Asks a reward model about a situation, as the last turn of a trajectory to it."""

    def __init__(self, model: RewardSource, begun: Trajectory, shown: str) -> None:
        """Judge in one episode.

        Args:
            model: is asked.
            begun: the episode without its turns.
            shown: "state" for the first turn and the situation itself, "path" for all
                turns before it.
        """
        self._model = model
        self._begun = begun
        self._whole = shown == "path"
        self._past: list[Turn] = []
        self._known: dict[object, float | None] = {}
        self.reason = ""
        """Reason why the last situation without a reward had none."""

    def taken(self, situation: Situation, decision: Decision) -> None:
        """Record the agent's decision."""
        if self._whole or not self._past:
            self._past.append(_turn(len(self._past), situation, decision))

    async def value(
        self, situation: Situation, path: Sequence[Step], effort: Effort
    ) -> float | None:
        """Return the reward of a situation after a path of actions; None without one."""
        identity = None if self._whole else _identity(situation)
        if identity is not None and identity in self._known:
            return self._known[identity]
        effort.judged += 1
        trace = await self._model.rewards(self._imagined(situation, path))
        value = None
        if not trace.failure and len(trace.values):
            value = float(trace.values[-1])
        else:
            effort.unjudged += 1
            self.reason = trace.failure
        if identity is not None:
            self._known[identity] = value
        return value

    def _imagined(self, situation: Situation, path: Sequence[Step]) -> Trajectory:
        turns = [*self._past]
        # Without the path, one turn comes first: that of the past, or before the first
        # decision, that of the path.
        tried = path if self._whole else path[: 1 - len(turns)]
        for here, action in tried:
            turns.append(_turn(len(turns), here, Decision.act(action)))
        turns.append(_turn(len(turns), situation, UNDECIDED))
        return replace(self._begun, turns=tuple(turns))


def _identity(situation: Situation) -> object:
    """Return a key that is equal for situations that must have equal rewards."""
    state = situation.state
    facts = None if state is None else (state.index, repr(sorted(state.facts.items())))
    return situation.observation.text, situation.over, facts


def _turn(index: int, situation: Situation, decision: Decision) -> Turn:
    best = situation.optimum
    return Turn(
        index=index,
        observation=situation.observation,
        decision=decision,
        reward=0.0,
        terminated=False,
        truncated=False,
        state=situation.state,
        optimal=best.actions if best else None,
        value=best.value if best else None,
    )
