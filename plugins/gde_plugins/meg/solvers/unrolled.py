"""Soft-optimal policies of many decisions at once, from only the values that these
policies depend on.

A policy with k states to go depends on values with k - 1 to go, of the states that it
can lead to. These depend on values with k - 2 to go, and so on. A world is unrolled
into these values. Among joined worlds, a world with few states to go takes part in few
steps. A state that cannot be reached in time takes part in none.
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
    """Some states of a world at one time; the next states are numbered as they are
    stored at the next time.
    """

    def __init__(
        self, dynamics: Dynamics, states: Indices, successors: csr_array
    ) -> None:
        """Take (S,) states of the world, and (A * S, M) where they lead to."""
        is_over = ~dynamics.going[states]
        ending = np.flatnonzero(is_over)
        super().__init__(successors, dynamics.n_actions, dynamics.discount, ending)
        self.states = states


class Step(NamedTuple):
    """One time step of the recursion, with the places of its values and of those that
    they depend on.
    """

    stage: Stage
    here: slice
    after: slice


class Response(Protocol):
    """The soft-optimal choices for a utility, and the derivative of the values behind
    them.
    """

    @property
    def policy(self) -> Floats:
        """(A, D) probabilities of the actions in each decision."""

    def pull(self, change: Floats) -> Floats:
        """Return the (S,) derivative by the utility of states, given the (A, D)
        derivative by action values.

        The derivatives by the actions of one decision sum to zero, as those of
        log-probabilities do.
        """


class Unrolled:
    """D decisions in a world, and the N values of states and times that their
    soft-optimal policies depend on.

    Values are stored from those with the most states to go to those with none, which
    are zero.
    """

    def __init__(self, dynamics: Dynamics, states: Indices, to_go: Indices) -> None:
        """Unroll the world.

        Args:
            dynamics: the world. states: (D,) where the decisions are taken. to_go: (D,)
            number of states that count from each decision on, its own included; in
            rising order.
        """
        self.dynamics = dynamics
        blocks = list(_unroll(dynamics, states, to_go))
        lengths = [len(block.states) for block in blocks]
        ends = np.cumsum([0, *lengths])
        places = [slice(start, end) for start, end in pairwise(ends)]

        self.size = int(ends[-1])
        """N."""
        self.n_lasting = int(places[-1].start)
        """The number of values with a state to go; they come first."""
        self.states = np.concatenate([block.states for block in blocks])
        """(N,) states of the world."""
        self.horizon = len(blocks) - 1
        """The most states to go of any value."""

        # The last block has nothing to go, so there is no step from it.
        self.steps: list[Step] = []
        """From the values with one state to go to those with the most."""
        for i in reversed(range(self.horizon)):
            following = blocks[i + 1].from_above
            stage = Stage(dynamics, blocks[i].states, following)
            step = Step(stage, places[i], places[i + 1])
            self.steps.append(step)

        rows = _decision_rows(dynamics.n_actions, blocks, ends)
        self.decisions = Stage(dynamics, states, rows)
        """What the actions of the decisions lead to, among all N values."""

    def policy(self, utility: Utility, beta: float) -> Floats:
        """Return (A, D) soft-optimal probabilities at rationality `beta`, which may be
        +-inf.
        """
        if np.isinf(beta):
            signed = utility.scaled(np.sign(beta))
            return self._limit(signed)
        scaled = utility.scaled(beta)
        return self.response(scaled).policy

    def response(self, utility: Utility) -> "Recursion":
        """Find the soft-optimal choices for a utility in nats."""
        earned = utility.at(self.states)
        values = np.zeros(self.size)
        policies = []
        for stage, here, after in self.steps:
            step = soft_step(stage, earned.at(here), values[after])
            values[here] = step.values
            policies.append(step.policy)

        deciding = utility.at(self.decisions.states)
        decided = soft_step(self.decisions, deciding, values)
        return Recursion(self, policies, decided.policy)

    def by_state(self, values: Floats) -> Floats:
        """Sum (N,) values over time to (S,); values with nothing to go, which no
        utility changes, are left out.
        """
        states = self.states[: self.n_lasting]
        lasting = values[: self.n_lasting]
        summed = np.bincount(states, weights=lasting, minlength=self.dynamics.n_states)
        return summed.astype(np.float64)

    def _limit(self, utility: Utility) -> Floats:
        earned = utility.at(self.states)
        limits = Limits.none(self.size)
        for stage, here, after in self.steps:
            following = Limits(
                best=limits.best[after],
                entropy=limits.entropy[after],
                size=limits.size[after],
            )
            found = limit_step(stage, earned.at(here), following).limits
            limits.best[here] = found.best
            limits.entropy[here] = found.entropy
            limits.size[here] = found.size

        deciding = utility.at(self.decisions.states)
        return limit_step(self.decisions, deciding, limits).policy


@dataclass(frozen=True, eq=False)
class Recursion:
    """The choices for one utility, in any world. A `Response`."""

    unrolled: Unrolled
    policies: list[Floats]
    """Of each step, (A, its states)."""
    policy: Floats

    def pull(self, change: Floats) -> Floats:
        pulled = self.unrolled.decisions.arrivals(change)

        # Against the order of the recursion: a value is complete before it is handed on
        # to those that it depends on.
        steps = reversed(self.unrolled.steps)
        policies = reversed(self.policies)
        for step, policy in zip(steps, policies, strict=True):
            stage, here, after = step
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
    times = np.arange(1, horizon + 2)

    # The decisions are in rising order of states to go, so those of one time lie
    # between two ends.
    ends = np.searchsorted(to_go, times)
    bounds = list(pairwise(ends))
    above: Indices = np.zeros(0, dtype=np.intp)
    for start, end in reversed(bounds):
        from_above = _rows(dynamics, above)
        from_decisions = _rows(dynamics, states[start:end])

        reached = np.zeros(dynamics.n_states, dtype=bool)
        reached[from_above.indices] = True
        reached[from_decisions.indices] = True
        above = np.flatnonzero(reached)

        # Number the next states as they are stored: one after the other.
        place = np.cumsum(reached, dtype=from_above.indices.dtype) - 1
        columns_above = place[from_above.indices]
        columns_decisions = place[from_decisions.indices]
        yield _Block(
            above,
            _with_columns(from_above, columns_above, len(above)),
            _with_columns(from_decisions, columns_decisions, len(above)),
        )


def _rows(dynamics: Dynamics, states: Indices) -> csr_array:
    """Return (A * n, S) transitions of n states."""
    actions = np.arange(dynamics.n_actions)
    rows = actions[:, None] * dynamics.n_states + states
    return dynamics.successors[rows.ravel()]


def _with_columns(matrix: csr_array, columns: Indices, n_columns: int) -> csr_array:
    """Return the matrix with its entries moved to other columns."""
    n_rows = matrix.shape[0]
    return csr_array((matrix.data, columns, matrix.indptr), shape=(n_rows, n_columns))


def _decision_rows(n_actions: int, blocks: list[_Block], ends: Indices) -> csr_array:
    """Return (A * D, N) from all decisions, in rising order of states to go, to all
    values.
    """
    total = int(ends[-1])

    # Indices of 32 bits keep the matrix small, and numbers of 64 bits would widen them.
    starts = ends[:-1].astype(np.int32)
    parts = []
    for block, start in zip(blocks, starts, strict=True):
        columns = block.from_decisions.indices + start
        parts.append(_with_columns(block.from_decisions, columns, total))
    parts.reverse()

    # Stacked rows run over times, actions and decisions; wanted are actions first.
    counts = np.array([part.shape[0] // n_actions for part in parts])
    first = np.repeat(np.cumsum(counts) - counts, counts)
    count = np.repeat(counts, counts)
    within = np.arange(len(first)) - first
    actions = np.arange(n_actions)[:, None]
    rows = n_actions * first + actions * count + within

    stacked = vstack(parts, format="csr")
    return csr_array(stacked[rows.ravel()])
