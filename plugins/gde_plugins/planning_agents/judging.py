"""Rewards of situations that may never happen."""

from collections.abc import Sequence
from dataclasses import replace

from gde.data.observation import Observation
from gde.data.reward import RewardTrace
from gde.data.trajectory import Decision, Trajectory, Turn
from gde.parts.reward_model import RewardModel
from gde.parts.simulator import Situation
from gde_plugins.planning_agents.effort import Effort

UNDECIDED = Decision.unusable("empty", "nothing is decided yet")
Step = tuple[Situation, str]
"""A situation and the action that is tried there."""


class Judge:
    """Asks a reward model about situations, as the last turns of trajectories that lead to them."""

    def __init__(self, model: RewardModel, begun: Trajectory, shown: str) -> None:
        """Judge in one episode.

        Args:
            model: is asked.
            begun: the episode without its turns.
            shown: "state" for the first turn and the situation itself, "path" for all turns before it.
        """
        self._model, self._begun, self._whole = model, begun, shown == "path"
        self._past: list[Turn] = []
        self._known: dict[object, float | None] = {}
        self.reason = ""
        """Why there was no reward, when one was lacking last."""

    def taken(self, situation: Situation, decision: Decision) -> None:
        """The agent has decided."""
        if self._whole or not self._past:
            self._past.append(_turn(len(self._past), situation, decision))

    async def value(self, situation: Situation, path: Sequence[Step], effort: Effort) -> float | None:
        """The reward of a situation that a path of tried actions leads to; None where there is none."""
        identity = None if self._whole else _identity(situation)
        if identity is not None and identity in self._known:
            return self._known[identity]
        effort.judged += 1
        trace = await self._model.rewards(self._imagined(situation, path))
        value = _last(trace)
        if value is None:
            effort.unjudged += 1
            self.reason = trace.failure
        if identity is not None:
            self._known[identity] = value
        return value

    def _imagined(self, situation: Situation, path: Sequence[Step]) -> Trajectory:
        turns = [*self._past]
        # Before the first decision, the first turn is that of the path.
        tried = path if self._whole else path[: 1 - len(turns)]
        turns += [_turn(len(turns) + i, here, Decision.act(action)) for i, (here, action) in enumerate(tried)]
        return replace(self._begun, turns=(*turns, _turn(len(turns), situation, UNDECIDED)))


def _last(trace: RewardTrace) -> float | None:
    return None if trace.failure or not len(trace.values) else float(trace.values[-1])


def _identity(situation: Situation) -> object:
    seen: Observation = situation.observation
    state = situation.state
    told = None if state is None else (state.index, repr(sorted(state.facts.items())))
    return seen.text, situation.over, told


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
