"""How direct is the agent's way to the goal?"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import CERTIFIED, lacking, over_episodes, played, unmeasured
from gde.numerics.stats import cluster_mean
from gde_plugins.behaviour.losses import Losses
from gde_plugins.behaviour.performance import NO_GOAL
from gde_plugins.behaviour.visits import IDENTIFIED

SPL, REGRET = "efficiency.spl", "efficiency.regret"
UNIT = "reward"
"""Of regret in every world, so that runs and conditions compare; in grids, where a step costs one, it is a step."""
RECENT = 64
"""Solved worlds that are kept: episodes come in the order of their worlds."""
NO_MODEL = "the environment gives no tabular model"


def efficiency(evidence: Evidence) -> Sequence[Measurement]:
    """Success weighted by path length (Anderson et al. 2018), and regret; n counts episodes.

    "efficiency.regret" is what an episode's decisions lose against the best ones in the reward of the certified
    model; in grids, the number of turns spent without coming nearer. "efficiency.spl" is 0 for an episode that fails
    and C / (C + regret) for one that succeeds, C being the least cost of reaching the goal: where every step costs
    one, that is L* / max(L*, L) of the shortest way L* and the way taken L. Neither is measured where something
    changed the world or moved the agent half-way (`recovery` is about such episodes); a distractor does neither.
    """
    reason = lacking(played(evidence), IDENTIFIED, CERTIFIED) or ("" if evidence.mdp else NO_MODEL)
    if reason:
        return _unmeasured(reason)
    episodes = list(_episodes(evidence))
    if changed := sum(one.regret is None for one in episodes):
        return _unmeasured(f"the world changed or the agent was moved within {changed} of {len(episodes)} episodes")
    return [_spl(evidence, episodes), _regret(evidence, episodes)]


class _Episode(NamedTuple):
    """What the numbers need of one."""

    cluster: str
    cost: float
    """The least that reaching the goal costs."""
    regret: float | None
    success: float | None

    @property
    def directness(self) -> float | None:
        """Share of what was paid that had to be paid, in [0, 1]; None where nothing had to be."""
        if self.success != 1:
            return 0.0
        return self.cost / (self.cost + (self.regret or 0.0)) if self.cost > 0 else None


def _episodes(evidence: Evidence) -> Iterator[_Episode]:
    if evidence.mdp is None:
        return
    solved = lru_cache(RECENT)(Losses.of)
    for one in played(evidence):
        cost = -(one.turns[0].value or 0.0)
        yield _Episode(one.world.cluster, cost, solved(evidence.mdp(one)).regret(one), one.success)


def _spl(evidence: Evidence, episodes: Sequence[_Episode]) -> Measurement:
    if any(one.success is None for one in episodes):
        return unmeasured(SPL, "share", NO_GOAL)
    known = [(one.cluster, share) for one in episodes if (share := one.directness) is not None]
    if free := len(episodes) - len(known):
        return unmeasured(SPL, "share", f"reaching the goal has no cost in {free} of {len(episodes)} episodes")
    return over_episodes(evidence, SPL, "share", known)


def _regret(evidence: Evidence, episodes: Sequence[_Episode]) -> Measurement:
    regrets = [(one.cluster, one.regret or 0.0) for one in episodes]
    if lost := sum(not isfinite(regret) for _, regret in regrets):
        reason = f"infinite in {lost} of {len(regrets)} episodes: the goal was put out of reach"
        return unmeasured(REGRET, UNIT, reason)
    return over_episodes(evidence, REGRET, UNIT, regrets, cluster_mean)


def _unmeasured(reason: str) -> list[Measurement]:
    return [unmeasured(SPL, "share", reason), unmeasured(REGRET, UNIT, reason)]
