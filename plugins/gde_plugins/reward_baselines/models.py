"""Baseline reward models, and the true rewards they are compared with."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gde.data.arrays import Doubles
from gde.data.json import is_number
from gde.data.reward import Rewards
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript
from gde.seeding import derive
from gde_plugins.reward_baselines.config import ConstantConfig


def no_progress(trajectory: Trajectory) -> str:
    """Why the episode has no certified progress; empty when it has."""
    values = [turn.value for turn in trajectory.turns]
    if not values:
        return "the episode has no turns"
    if lacking := sum(value is None for value in values):
        return f"{lacking} of {len(values)} turns have no certified value"
    first = values[0] or 0.0
    if not -np.inf < first < 0:
        return f"wanted a first turn from which the goal has a cost, i.e. a finite value below 0; got {first:g}"
    return ""


def progress(trajectory: Trajectory) -> Doubles:
    """(T,) the share of the way to the goal that the agent has covered before each
    decision, in [0, 1].

    With V(t) the optimal expected return before turn t, minus the cost of reaching the
    goal, it is 1 - V(t) / V(0): linear from 0 along an optimal episode, as the ground
    truth that Shen et al. (2026), appendix A.1, interpolate along an expert's. It is 0
    where the agent is further away than at first or the goal is out of reach, which
    they call random steps.

    Raises:
        ValueError: there is none, see `no_progress`.
    """
    if reason := no_progress(trajectory):
        raise ValueError(reason)
    values = np.array([turn.value for turn in trajectory.turns], dtype=np.float64)
    share: Doubles = np.clip(1 - values / values[0], 0, 1)
    return share


REWARD = "reward"
"""The fact of a state with its true reward, e.g. in recorded trajectories of a
benchmark.
"""


def is_recorded(trajectory: Trajectory) -> bool:
    """Whether every turn has a recorded true reward."""
    return bool(trajectory.turns) and all(
        is_number(fact) for fact in _facts(trajectory)
    )


SIDE = "side"
"""The label of a recorded world: positive for a success, negative for a failure."""


def is_success(trajectory: Trajectory) -> bool:
    """Whether the episode is a success, as its record says or else by its end.

    A recorded failure may have reached the goal and undone it.
    """
    side = trajectory.world.labels.get(SIDE)
    return side == "positive" if side else bool(trajectory.succeeded)


def unknown(trajectory: Trajectory) -> str:
    """Why the episode has no true rewards; empty when it has."""
    return "" if is_recorded(trajectory) else no_progress(trajectory)


def truth(trajectory: Trajectory) -> Doubles:
    """(T,) the true reward of every turn.

    Raises:
        ValueError: there is none, see `unknown`.
    """
    if not is_recorded(trajectory):
        return progress(trajectory)
    return np.array([*_facts(trajectory)], dtype=np.float64)


def _facts(trajectory: Trajectory) -> Iterable[object]:
    return (
        turn.state.facts.get(REWARD) if turn.state else None
        for turn in trajectory.turns
    )


class Monotonic:
    """Time equals progress: turn t of T earns t / T, whatever happens in it (Shen et
    al. 2026, appendix C.1). It has to know T, and so is not causal.
    """

    async def rewards(self, transcript: Transcript) -> Rewards:
        n = len(transcript.steps)
        return Rewards(values=np.arange(1, n + 1) / max(n, 1))


class Clock:
    """Turn t earns t. Within an episode it is as `Monotonic`; between long and short
    episodes it is not.
    """

    async def rewards(self, transcript: Transcript) -> Rewards:
        return Rewards(values=np.arange(1.0, len(transcript.steps) + 1))


class Unrepeated:
    """Turns since an observation was seen again, and 0 when one is; compares
    observations and does not read them.

    Random walks come back to where they were, and agents that know the way do not.
    """

    async def rewards(self, transcript: Transcript) -> Rewards:
        return Rewards(values=_since_repeated(transcript))


def _since_repeated(transcript: Transcript) -> Doubles:
    seen: set[str] = set()
    values: list[float] = []
    since = 0.0
    for step in transcript.steps:
        since = 0.0 if step.observation in seen else since + 1
        seen.add(step.observation)
        values.append(since)
    return np.array(values)


@dataclass(frozen=True)
class Constant:
    """The same for every turn: it correlates with nothing, so its distance from
    progress that varies is sqrt(1/2).
    """

    config: ConstantConfig

    async def rewards(self, transcript: Transcript) -> Rewards:
        return Rewards(values=np.full(len(transcript.steps), self.config.value))


@dataclass(frozen=True)
class Random:
    """Uniform in [0, 1), drawn anew for every history of actions and observations."""

    seed: int

    async def rewards(self, transcript: Transcript) -> Rewards:
        values: list[float] = []
        history = derive(self.seed, "rewards", transcript.objective, transcript.start)
        for step in transcript.steps:
            history = derive(history, step.action, step.observation)
            values.append(history / 2**63)
        return Rewards(values=np.array(values))


@dataclass(frozen=True)
class Shuffled:
    """Uniform in [0, 1) for every observation at an objective, the same wherever it is
    seen again.

    A control: rewards that belong to states as the truth does, but to the wrong ones.
    """

    seed: int

    async def rewards(self, transcript: Transcript) -> Rewards:
        values: list[float] = []
        for step in transcript.steps:
            number = derive(
                self.seed, "shuffled", transcript.objective, step.observation
            )
            values.append(number / 2**63)
        return Rewards(values=np.array(values))


class Oracle:
    """The truth itself (section 2.2 of Shen et al. 2026), at distance 0 by
    construction.
    """

    async def true_rewards(self, trajectory: Trajectory) -> Rewards:
        if reason := unknown(trajectory):
            return Rewards(failure=reason)
        return Rewards(values=truth(trajectory))


WORD = re.compile(r"[^\W_]+")
COMMON = frozenset(
    WORD.findall(
        "a an and are as be goal have i in is it of on that the to what with you your"
    )
)
"""Words that are left out of objectives."""


@dataclass(frozen=True)
class GoalWords:
    """The share of the objective's words in the actions so far; reads no observation.

    Where failures are random walks, as in the benchmark of Shen et al. (2026), their
    actions seldom name the objective. A reward model has to be better than this to show
    that it knows the world's state.
    """

    times: Literal["", "clock", "unrepeated"] = ""
    """The factor: none, the turn number, or turns since a repeated observation."""
    cumulative: bool = False
    """Whether every mention of a word counts, not the first alone."""

    async def rewards(self, transcript: Transcript) -> Rewards:
        wanted = _words(transcript.objective)
        if not wanted:
            got = transcript.objective
            reason = f"wanted an objective with words in it, got {got!r}"
            return Rewards(failure=reason)
        shares: list[float] = []
        named: set[str] = set()
        n_mentions = 0
        for step in transcript.steps:
            mentioned = wanted & _words(step.action)
            named |= mentioned
            n_mentions += len(mentioned)
            n = n_mentions if self.cumulative else len(named)
            shares.append(n / len(wanted))
        values = np.array(shares)
        if self.times == "clock":
            values = values * np.arange(1, len(values) + 1)
        if self.times == "unrepeated":
            values = values * _since_repeated(transcript)
        return Rewards(values=values)


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower())) - COMMON
