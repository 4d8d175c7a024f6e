"""A finite Markov decision process and a policy on it, as arrays."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class TabularMDP:
    """States 0..S-1 and actions 0..A-1.

    Raises:
        ValueError: shapes disagree, rows of a transition do not sum to one, a reward is not finite, or `terminal` is
            not boolean.
    """

    transition: "tuple[csr_array, ...]"
    """One (S, S) matrix an action: transition[a][s, s'] is the probability of s' after a in s."""
    start: Floats
    """(S,) probabilities of the first state."""
    reward: Floats
    """(S,) for being in a state, or (S, A) for taking an action there."""
    terminal: NDArray[np.bool_] | None = None
    """(S,) states where the episode is over; None for no such state."""
    discount: float = 1.0
    actions: tuple[str, ...] = ()
    """Names of the actions, in index order."""
    labels: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """Named (S,) state features, e.g. row and column, for pictures and feature-based utilities."""

    def __post_init__(self) -> None:
        S, A = self.n_states, self.n_actions
        if self.reward.shape not in {(S,), (S, A)}:
            raise ValueError(f"reward must have shape ({S},) or ({S}, {A}), got {self.reward.shape}")
        if not np.isfinite(self.reward).all():
            raise ValueError("reward must be finite in every state, got NaN or infinity")
        if self.actions and len(self.actions) != A:
            raise ValueError(f"actions must name all {A} transitions, got {len(self.actions)} names")
        if self.terminal is not None and (self.terminal.shape != (S,) or self.terminal.dtype != np.bool_):
            got = f"{self.terminal.dtype} of shape {self.terminal.shape}"
            raise ValueError(f"terminal must be bool of shape ({S},), got {got}: give terminal.astype(bool)")
        self._check_probabilities(S)

    def _check_probabilities(self, S: int) -> None:
        if self.start.shape != (S,) or not _sum_to_one(self.start):
            got = f"shape {self.start.shape} and sum {self.start.sum():g}"
            raise ValueError(f"start must be ({S},) probabilities that sum to one, got {got}")
        for a, matrix in enumerate(self.transition):
            if matrix.shape != (S, S):
                raise ValueError(f"transition[{a}] must have shape ({S}, {S}), got {matrix.shape}")
            off = np.abs(matrix @ np.ones(S) - 1)
            if not (off.max(initial=0) <= TOLERANCE and matrix.data.min(initial=0) >= 0):  # NaN fails every test
                right = (off <= TOLERANCE) & (matrix.min(axis=1).toarray().ravel() >= 0)
                raise ValueError(f"transition[{a}] row {int(right.argmin())} must be probabilities that sum to one")

    @property
    def n_states(self) -> int:
        return int(self.transition[0].shape[0])

    @property
    def n_actions(self) -> int:
        return len(self.transition)

    @cached_property
    def deterministic(self) -> bool:
        """Whether every action has one successor in every state."""
        return all(matrix.nnz == self.n_states for matrix in self.transition)


@dataclass(frozen=True, kw_only=True, eq=False)
class Policy:
    """Action probabilities: (S, A), or (T, S, A) for one that depends on the time step."""

    probabilities: Floats

    def __post_init__(self) -> None:
        if not _sum_to_one(self.probabilities):
            raise ValueError("every row of a policy must be probabilities that sum to one, got others or NaN")


def _sum_to_one(probabilities: Floats) -> bool:
    """Whether every row is a distribution; NaN is none."""
    off = np.abs(probabilities.sum(axis=-1) - 1)
    return bool((probabilities >= 0).all() and (off <= TOLERANCE).all())
