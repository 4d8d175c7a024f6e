"""Distances between reward functions of a tabulated world that are invariant to
potential shaping.

Both rewards are brought to canonical form, in which potentials P cancel: R[s, a, s']
and R[s, a, s'] + discount * P[s'] - P[s] have the same. Then they are correlated over a
distribution of transitions. EPIC (Gleave et al. 2021) draws states and actions
independently of the dynamics. DARD (Wulfe et al. 2022) follows the dynamics, so that
transitions that never happen count less. Both are 0 for rewards that differ by a
positive scale, a constant and a potential alone, sqrt(1/2) for unrelated rewards and 1
for R and -R.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gde.data.mdp import TabularMDP
from gde.numerics.stats import Floats

CONSTANT, UNVARIED = 1e-13, 1e-9
"""Of rewards of size 1: the deviation from the mean that rounding makes, and the
standard deviation of a canonical form that it makes.
"""


@dataclass(frozen=True, eq=False)
class Setting:
    """The distribution of transitions that rewards are compared on."""

    transition: Floats
    """(S, A, S') probabilities."""
    states: Floats
    """(S,) probabilities."""
    actions: Floats
    """(A,) probabilities."""
    discount: float

    @classmethod
    def uniform(cls, mdp: TabularMDP) -> "Setting":
        """Uniform over states and actions, with the dynamics and the discount of a
        process; a terminal state is never left.
        """
        S = mdp.n_states
        A = mdp.n_actions
        transition = np.stack([matrix.toarray() for matrix in mdp.transition], axis=1)
        if mdp.terminal is not None:
            transition[mdp.terminal] = np.eye(S)[mdp.terminal][:, None, :]
        return cls(transition, np.full(S, 1 / S), np.full(A, 1 / A), mdp.discount)


def epic_distance(a: ArrayLike, b: ArrayLike, setting: Setting) -> float:
    """EPIC pseudometric (Gleave et al. 2021); transitions are weighted as states x
    actions x states.

    Args:
        a: a reward, see `full_reward`.
        b: another.
        setting: where they are compared.
    """
    weights = np.einsum("s,a,t->sat", setting.states, setting.actions, setting.states)
    a, b = _unit(a, setting), _unit(b, setting)
    return _distance(epic_canonical(a, setting), epic_canonical(b, setting), weights)


def dard_distance(a: ArrayLike, b: ArrayLike, setting: Setting) -> float:
    """DARD pseudometric (Wulfe et al. 2022); transitions are weighted as they happen.

    Args:
        a: a reward, see `full_reward`.
        b: another.
        setting: where they are compared.
    """
    weights = np.einsum(
        "s,a,sat->sat", setting.states, setting.actions, setting.transition
    )
    a, b = _unit(a, setting), _unit(b, setting)
    return _distance(dard_canonical(a, setting), dard_canonical(b, setting), weights)


def epic_canonical(reward: ArrayLike, setting: Setting) -> Floats:
    """(S, A, S') R[s, a, s'] + E[discount R[s', A, Y] - R[s, A, Y] - discount R[X, A,
    Y]], where A, X and Y are drawn from the setting's actions and states (Gleave et al.
    2021).
    """
    R = full_reward(reward, setting)
    g = setting.discount
    leaving = np.einsum("sat,a,t->s", R, setting.actions, setting.states)
    overall = g * (setting.states @ leaving)
    shaped: Floats = R + g * leaving[None, None, :] - leaving[:, None, None] - overall
    return shaped


def dard_canonical(reward: ArrayLike, setting: Setting) -> Floats:
    """(S, A, S') R[s, a, s'] + E[discount R[s', A, Y] - R[s, A, X] - discount R[X, A,
    Y]], where A is drawn from the setting's actions, X follows s and Y follows s'
    (Wulfe et al. 2022).
    """
    R = full_reward(reward, setting)
    g = setting.discount
    leaving = np.einsum("sat,a,sat->s", R, setting.actions, setting.transition)
    # X after (s, a), Y after (s', a): transitions from X to Y that need not be possible
    # themselves.
    between = np.einsum(
        "a,sax,tay,xay->st",
        setting.actions,
        setting.transition,
        setting.transition,
        R,
        optimize=True,
    )
    shaped: Floats = (
        R
        + g * leaving[None, None, :]
        - leaving[:, None, None]
        - g * between[:, None, :]
    )
    return shaped


def full_reward(reward: ArrayLike, setting: Setting) -> Floats:
    """(S, A, S') from a reward (S,) for being in a state, (S, A) for acting there, or
    (S, A, S').

    Raises:
        ValueError: it has another shape, or is not finite.
    """
    R = np.asarray(reward, dtype=np.float64)
    shape = setting.transition.shape
    if R.shape not in {shape[:1], shape[:2], shape} or not np.isfinite(R).all():
        wanted = f"finite numbers of shape {shape[:1]}, {shape[:2]} or {shape}"
        raise ValueError(f"a reward: wanted {wanted}, got {R.shape}")
    missing_axes = (1,) * (3 - R.ndim)
    return np.broadcast_to(R.reshape(R.shape + missing_axes), shape)


def _unit(reward: ArrayLike, setting: Setting) -> Floats:
    """(S, A, S') the reward with mean 0 and greatest size 1, so that rounding is the
    same at every scale and shift; all zeros for a constant.
    """
    R = full_reward(reward, setting)
    largest = np.abs(R).max()
    if not largest:
        return R
    R = R / largest
    centred = R - R.mean()
    spread = np.abs(centred).max()
    unit: Floats = centred / spread if spread > CONSTANT else np.zeros_like(R)
    return unit


def _distance(a: Floats, b: Floats, weights: Floats) -> float:
    """sqrt((1 - r) / 2) with the weighted correlation r; 0 for two constants, sqrt(1/2)
    where one is constant.
    """
    a = _standardised(a, weights)
    b = _standardised(b, weights)
    if not a.any() and not b.any():
        return 0.0
    if not a.any() or not b.any():
        return float(np.sqrt(0.5))
    # 1 - r is half the mean square of a - b, which avoids the difference of two numbers
    # that are nearly one.
    return float(np.sqrt(np.clip(np.sum(weights * (a - b) ** 2) / 4, 0, 1)))


def _standardised(R: Floats, weights: Floats) -> Floats:
    """R, of size 1, with weighted mean 0 and variance 1; all zeros where it does not
    vary.
    """
    centred = R - np.sum(weights * R)
    scale = float(np.sqrt(np.sum(weights * centred**2)))
    if scale <= UNVARIED:
        return np.zeros_like(centred)
    standardised: Floats = centred / scale
    return standardised
