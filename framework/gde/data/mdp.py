"""A finite Markov decision process and a policy on it, as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gde.data.arrays import Bools, Doubles

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class TabularMDP:
    """A finite decision process with states 0..S-1 and actions 0..A-1.

    `TabularMDP.of` is for type checkers: it takes dense arrays and lists, as this does.

    Raises:
        ValueError: something is no array of numbers or of another shape, there is no
            action, rows of a transition do not sum to one, a reward is not finite, or
            the discount is not from 0 to 1.
    """

    transition: "tuple[csr_array, ...]"
    """One (S, S) matrix an action: `transition[a][s, s']` is the probability of s' after
    a in s.
    """
    start: Doubles
    """(S,) probabilities of the first state."""
    reward: Doubles
    """(S,) for being in a state, or (S, A) for taking an action there."""
    terminal: Bools | None = None
    """(S,) states where the episode is over; None for no such state."""
    discount: float = 1.0
    actions: tuple[str, ...] = ()
    """Names of the actions, in index order."""
    labels: dict[str, Doubles] = field(default_factory=dict)
    """Named (S,) state features, e.g. row and column, for pictures and feature-based
    utilities.
    """

    @classmethod
    def of(
        cls,
        transition: "ArrayLike | Sequence[csr_array]",
        reward: ArrayLike,
        *,
        start: ArrayLike = 0,
        terminal: ArrayLike | None = None,
        discount: float = 1.0,
        actions: Sequence[str] = (),
        labels: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """A process of dense arrays, lists or sparse matrices.

        Args:
            transition: (A, S, S), or A matrices (S, S) of any kind: first the action,
                then from where and to where.
            reward: (S,) or (S, A).
            start: (S,) probabilities of the first state, or the first state itself.
            terminal: (S,) of true and false.
            discount: above 0 and at most 1.
            actions: a name for each.
            labels: (S,) numbers by the name of the feature.

        Raises:
            ValueError: as of the class.
        """
        given: dict[str, Any] = {
            "transition": transition,
            "reward": reward,
            "start": start,
            "terminal": terminal,
            "labels": labels or {},
        }
        return cls(**given, discount=discount, actions=tuple(actions))

    def __post_init__(self) -> None:
        self._read_arrays()
        S = self.n_states
        A = self.n_actions
        if not isinstance(self.discount, Real) or not 0 <= self.discount <= 1:
            raise ValueError(f"discount must be from 0 to 1, got {self.discount!r}")
        if self.reward.shape not in {(S,), (S, A)}:
            raise ValueError(
                f"reward must have shape ({S},) or ({S}, {A}), got {self.reward.shape}"
            )
        if not np.isfinite(self.reward).all():
            raise ValueError(
                "reward must be finite in every state, got NaN or infinity"
            )
        if self.actions and len(self.actions) != A:
            raise ValueError(
                f"actions must name all {A} transitions, got {len(self.actions)} names"
            )

        if self.terminal is not None:
            is_flags = self.terminal.dtype == np.bool_
            if self.terminal.shape != (S,) or not is_flags:
                got = _kind(self.terminal)
                raise ValueError(
                    f"terminal must be bool of shape ({S},), got {got}: give terminal.astype(bool)"
                )

        for name, values in self.labels.items():
            if values.shape != (S,):
                raise ValueError(
                    f"labels[{name!r}] must have shape ({S},), got {values.shape}"
                )
            if not np.isfinite(values).all():
                raise ValueError(
                    f"labels[{name!r}] must be finite in every state, got NaN or infinity"
                )
        self._check_probabilities(S)

    def _read_arrays(self) -> None:
        """Arrays of everything that was given as a list, or in another type."""
        matrices = _matrices(self.transition)
        start = _array("start", self.start)
        if start.ndim == 0:
            start = _at(start, matrices[0].shape[0])
        features = {}
        for name, values in self.labels.items():
            features[name] = _array(f"labels[{name!r}]", values)
        reward = _array("reward", self.reward)
        read = {"transition": matrices, "start": start, "reward": reward}
        vars(self).update(read, labels=features)
        if self.terminal is not None:
            vars(self).update(terminal=np.asarray(self.terminal))

    def _check_probabilities(self, S: int) -> None:
        if self.start.shape != (S,) or not _distributions(self.start):
            got = f"shape {self.start.shape} and sum {self.start.sum():g}"
            raise ValueError(
                f"start must be ({S},) probabilities that sum to one, got {got}"
            )
        for a, matrix in enumerate(self.transition):
            if matrix.shape != (S, S):
                raise ValueError(
                    f"transition[{a}] must have shape ({S}, {S}), got {matrix.shape}"
                )

            sums = matrix @ np.ones(S)
            # Written so that NaN, which fails every comparison, is refused.
            right = np.abs(sums - 1) <= TOLERANCE
            if right.all() and (matrix.data >= 0).all():
                continue
            right &= matrix.min(axis=1).toarray().ravel() >= 0
            first_wrong = int(right.argmin())
            raise ValueError(
                f"transition[{a}] row {first_wrong} must be probabilities that sum to one"
            )

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
    """Action probabilities: (S, A), or (T, S, A) for one per time step."""

    probabilities: Doubles

    @classmethod
    def of(cls, probabilities: ArrayLike) -> Self:
        """A policy of lists.

        Raises:
            ValueError: they are no array of numbers, or not of probabilities.
        """
        given: Any = probabilities
        return cls(probabilities=given)

    def __post_init__(self) -> None:
        values = _array("a policy", self.probabilities)
        if values.ndim not in {2, 3}:
            wanted = "an array of shape (S, A) or (T, S, A)"
            raise ValueError(f"probabilities must be {wanted}, got {_kind(values)}")
        vars(self).update(probabilities=values)
        right = _distributions(values)
        if not right.all():
            first_wrong = np.argwhere(~right)[0].tolist()
            raise ValueError(
                f"every row of a policy must be probabilities that sum to one, but row {first_wrong} is not"
            )


def _distributions(probabilities: Doubles) -> Bools:
    """Whether each row is a distribution; NaN is none."""
    off = np.abs(probabilities.sum(axis=-1) - 1)
    return np.asarray((probabilities >= 0).all(axis=-1) & (off <= TOLERANCE))


def _matrices(transition: Any) -> "tuple[csr_array, ...]":
    """A sparse matrix for each action."""
    from scipy.sparse import csr_array

    if hasattr(transition, "tocsr"):
        raise ValueError(
            "transition must be one matrix for each action, got a single one: put them in a list"
        )
    given = []
    if np.iterable(transition):
        given = list(transition)
    if not given:
        raise ValueError(f"transition must be (A, S, S), got {_kind(transition)}")

    matrices = []
    for a, one in enumerate(given):
        is_read = isinstance(one, csr_array) and one.dtype == np.float64
        if is_read and one.has_canonical_format:
            matrices.append(one)
            continue
        is_sparse = hasattr(one, "tocsr")
        matrix = one if is_sparse else np.atleast_1d(_array(f"transition[{a}]", one))
        # Adding up what is given twice must not change what the caller has.
        matrix = csr_array(matrix, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrices.append(matrix)

    # (S, A, S) is the order of other libraries.
    shape = (len(matrices), *matrices[0].shape)
    if shape[0] == shape[-1] != shape[1]:
        raise ValueError(
            f"transition must be (A, S, S), got {shape}: from (S, A, S), give transition.swapaxes(0, 1)"
        )
    return tuple(matrices)


def _array(name: str, values: ArrayLike) -> Doubles:
    try:
        # NumPy takes None for NaN, and reads texts.
        if values is None or isinstance(values, str):
            raise TypeError
        array: Doubles = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be an array of numbers, got {_kind(values)}"
        ) from None
    return array


def _at(state: Doubles, n_states: int) -> Doubles:
    index = int(state)
    if state != index or not 0 <= index < n_states:
        raise ValueError(
            f"start must be a state from 0 to {n_states - 1} or probabilities, got {state}"
        )
    start = np.zeros(n_states)
    start[index] = 1.0
    return start


def _kind(values: object) -> str:
    """The type of something, for a message; of an array also its shape."""
    if isinstance(values, np.ndarray):
        return f"{values.dtype} of shape {values.shape}"
    return type(values).__name__
