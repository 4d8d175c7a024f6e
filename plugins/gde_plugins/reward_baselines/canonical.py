"""Distances between reward functions of a tabulated world that no potential shaping changes.

A reward R[s, a, s'] is first brought to canonical form, in which potentials P cancel: R and all
R + discount * P[s'] - P[s] have the same. Then it is correlated with the other over a distribution of transitions. EPIC
(Gleave et al. 2021) takes states and actions of that form independently of the dynamics; DARD (Wulfe et al. 2022) takes
what the dynamics lead to, and so says less of transitions that never happen. Both are 0 for rewards that differ by a
positive scale, a constant and a potential alone, sqrt(1/2) for unrelated ones and 1 for R and -R.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gde.data.mdp import TabularMDP
from gde.numerics.stats import Estimate, Floats, cluster_mean


@dataclass(frozen=True, eq=False)
class Setting:
    """Where rewards are compared: the dynamics, and which states and actions count how much."""

    transition: Floats
    """(S, A, S') probabilities."""
    states: Floats
    """(S,) probabilities."""
    actions: Floats
    """(A,) probabilities."""
    discount: float

    @classmethod
    def uniform(cls, mdp: TabularMDP) -> "Setting":
        """All states and actions of a process alike, with its dynamics and its discount."""
        S, A = mdp.n_states, mdp.n_actions
        transition = np.stack([matrix.toarray() for matrix in mdp.transition], axis=1)
        return cls(transition, np.full(S, 1 / S), np.full(A, 1 / A), mdp.discount)


def epic_distance(a: ArrayLike, b: ArrayLike, setting: Setting) -> float:
    """EPIC pseudometric (Gleave et al. 2021); transitions are weighted as states x actions x states.

    Args:
        a: a reward, see `full_reward`.
        b: another.
        setting: where they are compared.
    """
    weights = np.einsum("s,a,t->sat", setting.states, setting.actions, setting.states)
    return _distance(epic_canonical(a, setting), epic_canonical(b, setting), weights)


def dard_distance(a: ArrayLike, b: ArrayLike, setting: Setting) -> float:
    """DARD pseudometric (Wulfe et al. 2022); transitions are weighted as they happen.

    Args:
        a: a reward, see `full_reward`.
        b: another.
        setting: where they are compared.
    """
    weights = np.einsum("s,a,sat->sat", setting.states, setting.actions, setting.transition)
    return _distance(dard_canonical(a, setting), dard_canonical(b, setting), weights)


def epic_canonical(reward: ArrayLike, setting: Setting) -> Floats:
    """(S, A, S') R[s, a, s'] + E[discount R[s', A, Y] - R[s, A, Y] - discount R[X, A, Y]], where A, X and Y are drawn
    from the setting's actions and states (Gleave et al. 2021)."""
    R, g = full_reward(reward, setting), setting.discount
    leaving = np.einsum("sat,a,t->s", R, setting.actions, setting.states)
    shaped: Floats = R + g * leaving[None, None, :] - leaving[:, None, None] - g * (setting.states @ leaving)
    return shaped


def dard_canonical(reward: ArrayLike, setting: Setting) -> Floats:
    """(S, A, S') R[s, a, s'] + E[discount R[s', A, Y] - R[s, A, X] - discount R[X, A, Y]], where A is drawn from the
    setting's actions, X follows s and Y follows s' (Wulfe et al. 2022)."""
    R, g = full_reward(reward, setting), setting.discount
    leaving = np.einsum("sat,a,sat->s", R, setting.actions, setting.transition)
    # X after (s, a), Y after (s', a): transitions from X to Y that need not be possible themselves.
    between = np.einsum("a,sax,tay,xay->st", setting.actions, setting.transition, setting.transition, R, optimize=True)
    shaped: Floats = R + g * leaving[None, None, :] - leaving[:, None, None] - g * between[:, None, :]
    return shaped


def full_reward(reward: ArrayLike, setting: Setting) -> Floats:
    """(S, A, S') from a reward (S,) for being in a state, (S, A) for acting there, or (S, A, S').

    Raises:
        ValueError: it has another shape, or is not finite.
    """
    given, shape = np.asarray(reward, dtype=np.float64), setting.transition.shape
    if given.shape not in {shape[:1], shape[:2], shape} or not np.isfinite(given).all():
        raise ValueError(
            f"a reward: wanted finite numbers of shape {shape[:1]}, {shape[:2]} or {shape}, got {given.shape}"
        )
    return np.broadcast_to(given.reshape(given.shape + (1,) * (3 - given.ndim)), shape)


def over_tasks(distances: Sequence[float], tasks: Sequence[Hashable], rng: np.random.Generator) -> Estimate:
    """The mean distance with an interval that resamples tasks."""
    return cluster_mean(distances, [str(task) for task in tasks], rng)


def _distance(a: Floats, b: Floats, weights: Floats) -> float:
    """sqrt((1 - r) / 2) with the weighted correlation r; 0 for two that do not vary, sqrt(1/2) where one does not."""
    a, b = (each - np.sum(weights * each) for each in (a, b))
    scale_a, scale_b = (float(np.sqrt(np.sum(weights * each**2))) for each in (a, b))
    flat = [scale <= 1e-9 * max(1.0, float(np.abs(each).max())) for scale, each in ((scale_a, a), (scale_b, b))]
    if any(flat):
        return 0.0 if all(flat) else float(np.sqrt(0.5))
    a, b = a / scale_a, b / scale_b
    # Without the difference of two numbers that are nearly one: 1 - r is half the mean square of a - b.
    return float(np.sqrt(np.clip(np.sum(weights * (a - b) ** 2) / 4, 0, 1)))
