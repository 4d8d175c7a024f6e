"""Soft-optimal policies of many decisions at once, from only the values that these policies depend on.

A policy with k states to go depends on the values with k - 1 to go of the states that it can lead to, these on values
with k - 2 to go, and so on. A world is unrolled into these values. Among joined worlds, one with few states to go takes
part in few steps, and a state that cannot be reached in time takes part in none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array, vstack

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics, Indices, Transitions, Utility
from gde_plugins.meg.solvers.limits import Limits, limit_step
from gde_plugins.meg.solvers.softmax import soft_step


class Stage(Transitions):
    """Some states of a world at one time; the next states are numbered as they are stored at the next time."""

    def __init__(self, dynamics: Dynamics, states: Indices, successors: csr_array) -> None:
        """Take (S,) states of the world, and (A * S, M) where they lead to."""
        ending = np.flatnonzero(~dynamics.going[states])
        super().__init__(successors, dynamics.n_actions, dynamics.discount, ending)
        self.states = states


class Step(NamedTuple):
    """One time step of the recursion, with the places of its values and of those that they depend on."""

    stage: Stage
    here: slice
    after: slice


class Response(Protocol):
    """The soft-optimal choices for a utility, and the derivative of the values behind them."""

    @property
    def policy(self) -> Floats:
        """(A, D) probabilities of the actions in each decision."""

    def pull(self, change: Floats) -> Floats:
        """Return the (S,) derivative by the utility of states, given the (A, D) derivative by action values.

        The derivatives by the actions of one decision sum to zero, as those of log-probabilities do.
        """


class Unrolled:
    """D decisions in a world, and the N values of states and times that their soft-optimal policies depend on.

    Values are stored from those with the most states to go to those with none, which are zero.
    """

    def __init__(self, dynamics: Dynamics, states: Indices, to_go: Indices) -> None:
        """Unroll the world.

        Args:
            dynamics: the world.
            states: (D,) where the decisions are taken.
            to_go: (D,) number of states that count from each decision on, its own included; in rising order.
        """
        self.dynamics = dynamics
        blocks = [*_unroll(dynamics, states, to_go)]
        ends = np.cumsum([0, *(len(block.states) for block in blocks)])
        places = [slice(start, end) for start, end in pairwise(ends)]

        self.size = int(ends[-1])
        """N."""
        self.n_lasting = int(places[-1].start)
        """The number of values with a state to go; they come first."""
        self.states = np.concatenate([block.states for block in blocks])
        """(N,) states of the world."""
        self.steps: list[Step] = []
        """From the values with one state to go to those with the most."""
        for i in reversed(range(len(blocks) - 1)):
            stage = Stage(dynamics, blocks[i].states, blocks[i + 1].from_above)
            self.steps.append(Step(stage, places[i], places[i + 1]))
        self.decisions = Stage(dynamics, states, _decision_rows(dynamics.n_actions, blocks, ends))
        """What the actions of the decisions lead to, among all N values."""
        self.horizon = len(blocks) - 1
        """The most states to go of any value."""

    def policy(self, utility: Utility, beta: float) -> Floats:
        """Return (A, D) soft-optimal probabilities at rationality `beta`, which may be +-inf."""
        if np.isinf(beta):
            return self._limit(utility.scaled(np.sign(beta)))
        return self.response(utility.scaled(beta)).policy

    def response(self, utility: Utility) -> "Recursion":
        """Find the soft-optimal choices for a utility in nats."""
        earned = utility.at(self.states)
        values = np.zeros(self.size)
        policies = []
        for stage, here, after in self.steps:
            step = soft_step(stage, earned.at(here), values[after])
            values[here] = step.values
            policies.append(step.policy)
        decided = soft_step(self.decisions, utility.at(self.decisions.states), values)
        return Recursion(self, policies, decided.policy)

    def by_state(self, values: Floats) -> Floats:
        """Sum (N,) values over time to (S,); values with nothing to go, which no utility changes, are left out."""
        states = self.states[: self.n_lasting]
        lasting = values[: self.n_lasting]
        return np.bincount(states, weights=lasting, minlength=self.dynamics.n_states).astype(np.float64)

    def _limit(self, utility: Utility) -> Floats:
        earned = utility.at(self.states)
        limits = Limits.none(self.size)
        for stage, here, after in self.steps:
            following = Limits(*(values[after] for values in limits))
            found = limit_step(stage, earned.at(here), following).limits
            for values, new in zip(limits, found, strict=True):
                values[here] = new
        return limit_step(self.decisions, utility.at(self.decisions.states), limits).policy


@dataclass(frozen=True, eq=False)
class Recursion:
    """The choices for one utility, in any world. A `Response`."""

    unrolled: Unrolled
    policies: list[Floats]
    """Of each step, (A, its states)."""
    policy: Floats

    def pull(self, change: Floats) -> Floats:
        pulled = self.unrolled.decisions.arrivals(change)
        for (stage, here, after), policy in zip(self.unrolled.steps[::-1], self.policies[::-1], strict=True):
            going = pulled[here].copy()
            going[stage.ending] = 0.0
            pulled[after] += stage.arrivals(policy * going)
        return self.unrolled.by_state(pulled)


class _Block(NamedTuple):
    """The values of one time."""

    states: Indices
    """(M,) of the world, in rising order."""
    from_above: csr_array
    """(A * S, M) from the states of the time before."""
    from_decisions: csr_array
    """(A * D, M) from the decisions of the time before."""


def _unroll(dynamics: Dynamics, states: Indices, to_go: Indices) -> Iterator[_Block]:
    """Yield the blocks from the most states to go to none."""
    horizon = int(to_go.max(initial=1))
    ends = np.searchsorted(to_go, np.arange(1, horizon + 2))
    above: Indices = np.zeros(0, dtype=np.intp)
    for start, end in reversed([*pairwise(ends)]):
        from_above = _rows(dynamics, above)
        from_decisions = _rows(dynamics, states[start:end])
        reached = np.zeros(dynamics.n_states, dtype=bool)
        reached[from_above.indices] = True
        reached[from_decisions.indices] = True
        above = np.flatnonzero(reached)

        # Number the next states as they are stored: one after the other.
        place = np.cumsum(reached, dtype=from_above.indices.dtype) - 1
        yield _Block(
            above,
            _with_columns(from_above, place[from_above.indices], len(above)),
            _with_columns(from_decisions, place[from_decisions.indices], len(above)),
        )


def _rows(dynamics: Dynamics, states: Indices) -> csr_array:
    """Return (A * n, S) transitions of n states."""
    rows = np.arange(dynamics.n_actions)[:, None] * dynamics.n_states + states
    return dynamics.successors[rows.ravel()]


def _with_columns(matrix: csr_array, columns: Indices, n_columns: int) -> csr_array:
    return csr_array((matrix.data, columns, matrix.indptr), shape=(matrix.shape[0], n_columns))


def _decision_rows(n_actions: int, blocks: list[_Block], ends: Indices) -> csr_array:
    """Return (A * D, N) from all decisions, in rising order of states to go, to all values."""
    total = int(ends[-1])
    parts = []
    for block, start in zip(blocks, ends[:-1].astype(np.int32), strict=True):
        parts.append(_with_columns(block.from_decisions, block.from_decisions.indices + start, total))
    parts.reverse()

    # Stacked rows run over times, actions and decisions; wanted are actions first.
    counts = np.array([part.shape[0] // n_actions for part in parts])
    first = np.repeat(np.cumsum(counts) - counts, counts)
    count = np.repeat(counts, counts)
    within = np.arange(len(first)) - first
    rows = n_actions * first + np.arange(n_actions)[:, None] * count + within
    return csr_array(vstack(parts, format="csr")[rows.ravel()])
