"""Worlds without a model, tabulated by playing every action in every state once.

Their states may have different actions, and different numbers of them. Every step costs
one until the goal is reached, as in a grid. An episode that ends without it is taken to
go on at that cost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isinf

import numpy as np
from scipy.sparse import csr_array

from gde.data.mdp import Floats
from gde.errors import GdeError
from gde.numerics.tabular import steps_to
from gde_plugins.meg.played_world import PlayedWorld
from gde_plugins.meg.solvers.dynamics import Indices, Mask
from gde_plugins.meg.trajectories.episodes import UNUSABLE
from gde_plugins.meg.trajectories.sample import LENGTHS

TIE = 1e-9
"""Action values that differ by less are tied; a step costs one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Explored:
    """One deterministic world with S states and E edges, an edge for each action of
    each state.
    """

    counts: Indices
    """(S,) number of actions; 1 where the episode is over."""
    following: Indices
    """(E,) the state that each edge leads to, by state."""
    is_goal: Mask
    """(S,)"""
    horizon: int
    """Steps that are planned ahead, see `planning_horizon`."""
    edges: tuple[dict[str, int], ...]
    """Of each state: the edge of each action."""

    @classmethod
    def of(cls, world: PlayedWorld, most: int) -> "Explored":
        """Explore a world from its start, which becomes state 0.

        Raises:
            GdeError: it has more than `most` states.
        """
        counts = []
        following: list[int] = []
        edges: list[dict[str, int]] = []
        moments = world.explored(most)
        for moment in moments:
            own: dict[str, int] = {}
            for action, after in moment.after.items():
                own[action] = len(following)
                following.append(after.number)
            if not own:
                following.append(moment.number)
            counts.append(max(len(own), 1))
            edges.append(own)

        ends = np.cumsum([0, *counts])
        n_states = len(moments)
        shape = (n_states, n_states)
        graph = csr_array((np.ones(len(following)), following, ends), shape=shape)
        steps = steps_to(graph.T.tocsr(), np.array([0]))
        return cls(
            counts=np.array(counts),
            following=np.array(following),
            is_goal=np.array([each.is_end and each.reached >= 1 for each in moments]),
            horizon=LENGTHS * int(steps.max()) + 1,
            edges=tuple(edges),
        )

    def taken(self, actions: Sequence[str | None]) -> Iterator[tuple[int, int]]:
        """Yield the state and the edge of each decision from the start on.

        An answer without an action, None, changes nothing and has the edge UNUSABLE.

        Raises:
            GdeError: the world does not take an action.
        """
        state = 0
        for action in actions:
            if action is None:
                yield state, UNUSABLE
                continue
            if action not in self.edges[state]:
                listed = ", ".join(self.edges[state]) or "nothing"
                raise GdeError(
                    f"the world takes here {listed}, but the record has {action!r}"
                )
            edge = self.edges[state][action]
            yield state, edge
            state = int(self.following[edge])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Decisions:
    """The D decisions of all episodes."""

    states: Indices
    """(D,) in the joined worlds."""
    edges: Indices
    """(D,)"""
    episodes: Indices
    """(D,)"""


@dataclass(frozen=True, eq=False)
class ExploredBehaviour:
    """The decisions of N episodes, one in each of N explored worlds.

    It is predicted like `Behaviour`, towards the goals of the worlds.
    """

    worlds: tuple[Explored, ...]
    actions: tuple[Sequence[str | None], ...]
    """What was done in each of them."""
    span = 1.0
    """Largest less smallest utility of a state."""

    @property
    def n_episodes(self) -> int:
        """N."""
        return len(self.worlds)

    @property
    def ceilings(self) -> Floats:
        """(N,) the most nats that the decisions of each episode can have."""
        return self._summed(np.log(self._counts)[self._decisions.states])

    @property
    def n_decisions(self) -> int:
        """The number of decisions, those without an action included."""
        return len(self._decisions.states)

    @property
    def n_unusable(self) -> int:
        """The number of decisions without an action."""
        return int(np.count_nonzero(self._decisions.edges == UNUSABLE))

    def scores(self, beta: float) -> Floats:
        """Return (N,) nats by which the soft-optimal policy predicts each episode
        better than chance does; -inf where the limit policy rules out what was done.
        """
        edges = self._decisions.edges
        return self._summed(np.where(edges == UNUSABLE, 0.0, self._nats(beta)[edges]))

    def table(self, betas: Sequence[float] | Floats) -> Floats:
        """Return (B, N) `scores` at each of B rationalities."""
        table = np.empty((len(betas), self.n_episodes))
        for i, beta in enumerate(betas):
            table[i] = self.scores(float(beta))
        return table

    def scores_of_chance(self, beta: float) -> Floats:
        """Return (N,) the expectation of `scores` for uniform choice in the same
        states.
        """
        mean = self._sum(self._nats(beta)) / self._counts
        is_usable = self._decisions.edges != UNUSABLE
        return self._summed(np.where(is_usable, mean[self._decisions.states], 0.0))

    def optimal_share(self) -> float:
        """Return the MEG of an optimal agent as a share of its ceiling."""
        # Where nothing is decided, there is one edge, which is worth nothing.
        own = np.log(self._counts)
        nats = np.zeros(len(self._counts))
        ceiling = np.zeros(len(self._counts))
        for by_edge in self._steps(np.inf):
            chances = np.exp(by_edge) / self._counts[self._owner]
            finite = np.where(chances > 0, by_edge, 0.0)
            nats = self._sum(chances * (finite + nats[self._following]))
            ceiling = own + self._sum(chances * ceiling[self._following])
        starts = self._starts
        return float(nats[starts].sum() / ceiling[starts].sum())

    def _nats(self, beta: float) -> Floats:
        """(E,) log-probability of each edge above chance, by the horizon of its
        world.
        """
        found = np.zeros(len(self._following))
        horizons = self._horizons[self._owner]
        for to_go, by_edge in enumerate(self._steps(beta), start=1):
            np.copyto(found, by_edge, where=horizons == to_go)
        return found

    def _steps(self, beta: float) -> Iterator[Floats]:
        """Yield (E,) log-probabilities of edges above chance, with 1, 2, ... steps to
        go.
        """
        if isinf(beta):
            yield from self._limit(np.sign(beta))
            return
        cost = np.where(self._is_goal, 0.0, -beta)
        value = np.zeros(len(cost))
        for _ in range(int(self._horizons.max())):
            ahead = value[self._following]
            soft = self._soften(ahead)
            yield ahead - soft[self._owner]
            value = cost + soft

    def _limit(self, sign: float) -> Iterator[Floats]:
        """The same for infinite rationality: the most causal entropy among the optimal
        ones.
        """
        cost = np.where(self._is_goal, 0.0, -sign)
        best = np.zeros(len(cost))
        entropy = np.zeros(len(cost))
        for _ in range(int(self._horizons.max())):
            ahead = best[self._following]
            highest = np.maximum.reduceat(ahead, self._firsts)
            tied = ahead >= highest[self._owner] - TIE
            remaining = np.where(tied, entropy[self._following], -np.inf)
            entropy = self._soften(remaining)
            yield remaining - entropy[self._owner]
            best = cost + highest

    def _soften(self, ahead: Floats) -> Floats:
        """(S,) log-mean-exp of (E,) values over the edges of each state."""
        highest = np.maximum.reduceat(ahead, self._firsts)
        total = self._sum(np.exp(ahead - highest[self._owner]))
        softened: Floats = highest + np.log(total / self._counts)
        return softened

    def _sum(self, by_edge: Floats) -> Floats:
        summed: Floats = np.add.reduceat(by_edge, self._firsts)
        return summed

    def _summed(self, by_decision: Floats) -> Floats:
        """(N,) sums over the decisions of each episode."""
        episodes = self._decisions.episodes
        summed = np.bincount(episodes, weights=by_decision, minlength=self.n_episodes)
        return summed.astype(np.float64)

    @cached_property
    def _decisions(self) -> "_Decisions":
        states: list[int] = []
        edges: list[int] = []
        lengths = []
        for number, world in enumerate(self.worlds):
            first_state = int(self._starts[number])
            first_edge = int(self._firsts[first_state])
            for state, edge in world.taken(self.actions[number]):
                states.append(first_state + state)
                edges.append(edge if edge == UNUSABLE else first_edge + edge)
            lengths.append(len(self.actions[number]))
        return _Decisions(
            states=np.array(states, np.intp),
            edges=np.array(edges, np.intp),
            episodes=np.repeat(np.arange(self.n_episodes), lengths),
        )

    @cached_property
    def _counts(self) -> Indices:
        return np.concatenate([world.counts for world in self.worlds])

    @cached_property
    def _firsts(self) -> Indices:
        """(S,) the first edge of each state."""
        return np.cumsum(self._counts) - self._counts

    @cached_property
    def _owner(self) -> Indices:
        """(E,) the state of each edge."""
        return np.repeat(np.arange(len(self._counts)), self._counts)

    @cached_property
    def _sizes(self) -> Indices:
        return np.array([len(world.counts) for world in self.worlds])

    @cached_property
    def _starts(self) -> Indices:
        """(N,) the first state of each world."""
        return np.cumsum(self._sizes) - self._sizes

    @cached_property
    def _following(self) -> Indices:
        pairs = zip(self.worlds, self._starts, strict=True)
        return np.concatenate([world.following + start for world, start in pairs])

    @cached_property
    def _is_goal(self) -> Mask:
        return np.concatenate([world.is_goal for world in self.worlds])

    @cached_property
    def _horizons(self) -> Indices:
        """(S,)"""
        horizons = np.array([world.horizon for world in self.worlds])
        return np.repeat(horizons, self._sizes)
