"""Directness of the agent's way to the goal."""

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

SPL = "efficiency.spl"
REGRET = "efficiency.regret"
UNIT = "reward"
"""Unit of regret in every world, so that runs and conditions compare. In grids it is
one step.
"""
RECENT = 64
"""Number of solved worlds in memory. Few suffice, because episodes come in the order of
their worlds.
"""
NO_MODEL = "the environment gives no tabular model"


def efficiency(evidence: Evidence) -> Sequence[Measurement]:
    """Success weighted by path length (Anderson et al. 2018), and regret; n counts
    episodes.

    "efficiency.regret" is the loss of an episode's decisions against the best ones, in
    the reward of the certified model. In grids it is the number of turns spent without
    coming nearer. "efficiency.spl" is 0 for an episode that fails and C / (C + regret)
    for one that succeeds, with C the least cost of reaching the goal. If every step
    costs one, it is L* / max(L*, L) of the shortest way L* and the way taken L. Neither
    is measured if anything changed the world or moved the agent half-way (`recovery` is
    about such episodes). A distractor does neither.
    """
    reason = lacking(played(evidence), IDENTIFIED, CERTIFIED)
    if not reason and evidence.mdp is None:
        reason = NO_MODEL
    if reason:
        return _unmeasured(reason)

    episodes = list(_episodes(evidence))
    # A mean over the unchanged episodes alone would favour agents that are quick enough
    # to avoid the change.
    n_changed = sum(one.regret is None for one in episodes)
    if n_changed:
        return _unmeasured(
            f"the world changed or the agent was moved within {n_changed} of {len(episodes)} episodes"
        )
    return [_spl(evidence, episodes), _regret(evidence, episodes)]


class _Episode(NamedTuple):
    """Numbers of an episode."""

    cluster: str
    cost: float
    """Least cost of reaching the goal."""
    regret: float | None
    success: float | None

    @property
    def directness(self) -> float | None:
        """Least cost as a share of the actual cost, in [0, 1]; None if the goal costs
        nothing.
        """
        if self.success != 1:
            return 0.0
        if self.cost <= 0:
            return None
        return self.cost / (self.cost + (self.regret or 0.0))


def _episodes(evidence: Evidence) -> Iterator[_Episode]:
    if evidence.mdp is None:
        return
    solved = lru_cache(RECENT)(Losses.of)
    for one in played(evidence):
        # Minus the optimal value of the start is the least cost of reaching the goal.
        losses = solved(evidence.mdp(one))
        cost = -(one.turns[0].value or 0.0)
        yield _Episode(one.world.cluster, cost, losses.regret(one), one.success)


def _spl(evidence: Evidence, episodes: Sequence[_Episode]) -> Measurement:
    shares: list[tuple[str, float]] = []
    for one in episodes:
        if one.success is None:
            return unmeasured(SPL, "share", NO_GOAL)
        share = one.directness
        if share is not None:
            shares.append((one.cluster, share))

    n_free = len(episodes) - len(shares)
    if n_free:
        return unmeasured(
            SPL,
            "share",
            f"reaching the goal has no cost in {n_free} of {len(episodes)} episodes",
        )
    return over_episodes(evidence, SPL, "share", shares)


def _regret(evidence: Evidence, episodes: Sequence[_Episode]) -> Measurement:
    regrets = [(one.cluster, one.regret or 0.0) for one in episodes]
    n_lost = sum(not isfinite(regret) for _, regret in regrets)
    if n_lost:
        reason = f"infinite in {n_lost} of {len(regrets)} episodes: the goal was put out of reach"
        return unmeasured(REGRET, UNIT, reason)
    return over_episodes(evidence, REGRET, UNIT, regrets, cluster_mean)


def _unmeasured(reason: str) -> list[Measurement]:
    return [unmeasured(SPL, "share", reason), unmeasured(REGRET, UNIT, reason)]
