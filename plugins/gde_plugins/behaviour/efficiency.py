"""Directness of the agent's way to the goal: losses of decisions, regret and SPL."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, inf, isclose, isfinite
from typing import NamedTuple

import numpy as np

from gde.data.evidence import Evidence
from gde.data.mdp import Floats, TabularMDP
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import CERTIFIED, lacking, over_episodes, played, unmeasured
from gde.numerics.stats import cluster_mean
from gde.numerics.tabular import solve
from gde_plugins.behaviour.performance import NO_GOAL
from gde_plugins.behaviour.visits import IDENTIFIED, state_index


@dataclass(frozen=True, kw_only=True, eq=False)
class Losses:
    """Losses in the reward of a world's model."""

    value: Floats
    """(S,) optimal expected return."""
    loss: Floats
    """(S, A + 1) optimal value minus what the action, followed by the best policy, is
    expected to earn; the last column is for unusable answers. Infinite where the goal
    may be out of reach afterwards.
    """
    actions: dict[str, int]
    discount: float

    @classmethod
    def of(cls, mdp: TabularMDP) -> "Losses":
        """Solve the model and compare every action with the solution.

        An unusable answer is a turn in which nothing happens: it counts as the cheapest
        step, leading nowhere.
        """
        value = solve(mdp).value
        hopeless = np.isneginf(value)
        known = np.where(hopeless, 0.0, value)
        rewards = mdp.reward
        if rewards.ndim == 1:
            rewards = np.tile(rewards[:, None], mdp.n_actions)
        earned = np.column_stack([rewards, rewards.max(axis=1)])

        # Infinite values times zero probabilities would be nan, so they are followed by
        # themselves.
        later = [matrix @ known for matrix in mdp.transition]
        lost = [matrix @ hopeless.astype(float) for matrix in mdp.transition]
        ahead = np.column_stack([*later, known])
        astray = np.column_stack([*lost, hopeless]) > 0

        # Value iteration stops short of the optimum by a rounding error, which must not
        # become a gain.
        loss = np.maximum(known[:, None] - earned - mdp.discount * ahead, 0.0)
        return cls(
            value=value,
            loss=np.where(astray, inf, loss),
            actions={action: a for a, action in enumerate(mdp.actions)},
            discount=mdp.discount,
        )

    def regret(self, trajectory: Trajectory) -> float | None:
        """Return the discounted sum of the losses of an episode; None after an
        interference with world or agent.

        A perturbation between two decisions is an interference, a distractor is not:
        the world has changed, or the agent is where its own decisions have not brought
        it. A value that differs from the model's shows it, too.

        The expectation of the sum is the optimal value of the start minus the return of
        the agent's policy and minus the optimal value of the state in which the episode
        was cut off (the performance difference lemma, Kakade and Langford 2002). If
        every step costs one, it is the number of turns that brought the agent no nearer
        to the goal; those that led away count twice.
        """
        if _is_perturbed(trajectory):
            return None
        losses = []
        for turn in trajectory.turns:
            loss = self._lost(turn)
            if loss is None:
                return None
            losses.append(loss)
        return fsum(losses)

    def _lost(self, turn: Turn) -> float | None:
        state = state_index(turn)
        action = turn.decision.action
        if state is None or turn.value is None or state >= len(self.value):
            return None
        if not isclose(turn.value, self.value[state], rel_tol=1e-6, abs_tol=1e-6):
            return None
        column = self.actions[action] if action is not None else len(self.actions)
        return self.discount**turn.index * float(self.loss[state, column])


def _is_perturbed(trajectory: Trajectory) -> bool:
    """Return whether a perturbation other than a distractor came between two
    decisions.
    """
    flags = set()
    for turn in trajectory.turns:
        if turn.state is not None and "distractor" not in turn.state.facts:
            flags.add(bool(turn.state.facts.get("perturbed")))
    # A world perturbed before the first decision is one world throughout.
    return len(flags) > 1


SPL = "efficiency.spl"
REGRET = "efficiency.regret"
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
            return unmeasured(SPL, NO_GOAL)
        share = one.directness
        if share is not None:
            shares.append((one.cluster, share))

    n_free = len(episodes) - len(shares)
    if n_free:
        return unmeasured(
            SPL,
            f"reaching the goal has no cost in {n_free} of {len(episodes)} episodes",
        )
    return over_episodes(evidence, SPL, shares)


def _regret(evidence: Evidence, episodes: Sequence[_Episode]) -> Measurement:
    regrets = [(one.cluster, one.regret or 0.0) for one in episodes]
    n_lost = sum(not isfinite(regret) for _, regret in regrets)
    if n_lost:
        reason = f"infinite in {n_lost} of {len(regrets)} episodes: the goal was put out of reach"
        return unmeasured(REGRET, reason)
    return over_episodes(evidence, REGRET, regrets, cluster_mean)


def _unmeasured(reason: str) -> list[Measurement]:
    return [unmeasured(SPL, reason), unmeasured(REGRET, reason)]
