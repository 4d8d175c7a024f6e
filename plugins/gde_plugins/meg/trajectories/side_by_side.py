"""The worlds of many episodes as one: side by side, with no way between them, so that all are solved in one batch."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.desirability import Desirability
from gde_plugins.meg.solvers.dynamics import Dynamics, Indices
from gde_plugins.meg.solvers.receding import Receding
from gde_plugins.meg.solvers.unrolled import Unrolled
from gde_plugins.meg.trajectories.candidates import Pursuit, Statewise, standing_still
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode, clusters_of, shared_labels
from gde_plugins.meg.trajectories.planning import planned_ahead


@dataclass(frozen=True, eq=False)
class Decisions:
    """The usable decisions of all episodes, ordered by how many states are still to come."""

    states: Indices
    """(D,) in the worlds side by side."""
    to_go: Indices
    """(D,) states that count from the decision on, its own included: the policy depends on time through it alone."""
    taken: tuple[Indices, Indices]
    """(D,) actions and (D,) decisions: where what was done is in an array (A, D)."""
    summed: csr_array
    """(N, D) discount**t where a decision at time t is the episode's: sums over the decisions of each."""
    ahead: Indices | None
    """(S,) states that count from a decision on, by state of the worlds side by side, where no agent is told of a
    deadline; None where one is."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Decisions in worlds side by side, whatever utility they are measured against."""

    mdp: TabularMDP
    decisions: Decisions

    @cached_property
    def unrolled(self) -> Unrolled:
        """What of the worlds the decisions' policies depend on."""
        return Unrolled(self.dynamics, self.decisions.states, self.decisions.to_go)

    @cached_property
    def dynamics(self) -> Dynamics:
        """Of the worlds."""
        return Dynamics(self.mdp)

    @cached_property
    def desirability(self) -> Desirability | None:
        """The faster recursion, where nothing is left to chance."""
        return Desirability(self.unrolled) if Desirability.applies(self.dynamics) else None

    @cached_property
    def receding(self) -> Receding | None:
        """The same for many rationalities at once, where no agent is told of a deadline."""
        if self.decisions.ahead is None or not Desirability.applies(self.dynamics):
            return None
        return Receding(self.dynamics, self.decisions.states, self.decisions.ahead)


@dataclass(frozen=True, eq=False)
class Sample(Sequence[Episode]):
    """N episodes, and what measurements of different utilities have in common."""

    episodes: tuple[Episode, ...]

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> "Sample":
        """The episodes, as they are if they are a sample already.

        Raises:
            ValueError: they are no episodes.
        """
        if isinstance(episodes, Sample):
            return episodes
        if not isinstance(episodes, Iterable):
            raise ValueError(f"episodes: wanted a list of Episode, got {type(episodes).__name__}")
        each = tuple(episodes)
        if others := [one for one in each if not isinstance(one, Episode)]:
            raise ValueError(f"episodes: wanted a list of Episode, got {type(others[0]).__name__} among them")
        return cls(each)

    def __len__(self) -> int:
        return len(self.episodes)

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Episode, ...]: ...
    def __getitem__(self, index: int | slice) -> Episode | tuple[Episode, ...]:
        return self.episodes[index]

    def __iter__(self) -> Iterator[Episode]:
        return iter(self.episodes)

    @cached_property
    def worlds(self) -> dict[int, TabularMDP]:
        """Different worlds by their identity, in the order of the episodes."""
        return {id(episode.mdp): episode.mdp for episode in self}

    @cached_property
    def clusters(self) -> Indices:
        """(N,) index of each episode's cluster."""
        return clusters_of(self.episodes)

    @property
    def plays(self) -> Indices:
        """Episodes in each of the different worlds."""
        return np.bincount(self._world_of_episodes, minlength=len(self.worlds))

    @cached_property
    def n_unusable(self) -> int:
        """Decisions without an action."""
        return sum(int((episode.actions == UNUSABLE).sum()) for episode in self)

    @cached_property
    def lengths(self) -> Indices:
        """(N,) decisions of each episode, unusable ones included."""
        return np.array([len(episode.states) for episode in self], dtype=np.intp)

    @cached_property
    def n_decisions(self) -> Floats:
        """(N,) decisions of each episode, unusable ones included, weighed by the discount."""
        return np.bincount(self._episode_of_turns, weights=self._weights, minlength=len(self)).astype(np.float64)

    def pursuing(self, pursuit: Pursuit) -> tuple[Scene, Floats]:
        """The worlds that a pursuit makes of these, and their reward, (S,) or (S, A).

        Raises:
            ValueError: no episodes, or worlds that differ in number of actions, in discount or in kind of reward.
        """
        if not isinstance(pursuit, Statewise):
            scene = self._scene([pursuit(world) for world in self.worlds.values()])
        else:
            scene = self._standing_still if pursuit.stands_still else self._played
        reward = pursuit.reward(scene.mdp) if isinstance(pursuit, Statewise) else scene.mdp.reward
        return scene, reward

    @cached_property
    def _played(self) -> Scene:
        return self._scene(list(self.worlds.values()))

    @cached_property
    def _standing_still(self) -> Scene:
        scene = self._scene(list(self.worlds.values()), rewarded=False)
        return Scene(standing_still(scene.mdp, scene.mdp.reward), scene.decisions)

    def _scene(self, worlds: Sequence[TabularMDP], rewarded: bool = True) -> Scene:
        """The worlds with their rewards, or with none."""
        kinds = {(world.n_actions, world.discount, world.reward.ndim if rewarded else 1) for world in worlds}
        if len(kinds) != 1:
            kind = "worlds of one number of actions, one discount and one shape of reward"
            raise ValueError(f"wanted episodes in {kind}, got {sorted(kinds) or 'no episode'}")
        rewards = [world.reward if rewarded else np.zeros(world.n_states) for world in worlds]
        together = side_by_side(worlds, rewards)
        return Scene(together, self._decisions(together, np.array([world.n_states for world in worlds])))

    def _decisions(self, together: TabularMDP, sizes: Indices) -> Decisions:
        """In worlds side by side, of these sizes."""
        first = np.repeat((np.cumsum(sizes) - sizes)[self._world_of_episodes], self.lengths)
        actions = np.concatenate([episode.actions for episode in self])
        states = first + np.concatenate([episode.states for episode in self])
        ahead = None if all(episode.horizon for episode in self) else np.repeat(planned_ahead(together, sizes), sizes)
        to_go = self._to_go(states, ahead)
        usable = np.flatnonzero(actions != UNUSABLE)
        order = usable[np.argsort(to_go[usable], kind="stable")]
        decided = np.arange(len(order))
        weighed = self._weights[order], (self._episode_of_turns[order], decided)
        summed = coo_array(weighed, shape=(len(self), len(order))).tocsr()
        if any(episode.horizon for episode in self):
            ahead = None
        return Decisions(states[order], to_go[order], (actions[order], decided), summed, ahead)

    def _to_go(self, states: Indices, ahead: Indices | None) -> Indices:
        """Of each turn of all episodes: states that count from it on, see `Episode.horizon`."""
        deadlines = np.repeat([episode.horizon or 0 for episode in self], self.lengths)
        left = deadlines - self._times
        return left if ahead is None else np.where(deadlines > 0, left, ahead[states])

    @cached_property
    def _world_of_episodes(self) -> Indices:
        """(N,) index among the different worlds."""
        place = {world: i for i, world in enumerate(self.worlds)}
        return np.array([place[id(episode.mdp)] for episode in self], dtype=np.intp)

    @cached_property
    def _episode_of_turns(self) -> Indices:
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def _times(self) -> Indices:
        """Of each turn of all episodes."""
        return np.arange(self.lengths.sum()) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    @cached_property
    def _weights(self) -> Floats:
        """Of each turn of all episodes."""
        discounts = np.array([episode.mdp.discount for episode in self], dtype=np.float64)
        weights: Floats = discounts[self._episode_of_turns] ** self._times
        return weights


def side_by_side(worlds: Sequence[TabularMDP], rewards: Sequence[Floats]) -> TabularMDP:
    """Worlds with equally many actions, and these rewards, as one: the states of each after those of the one before."""
    sizes = np.array([world.n_states for world in worlds])
    return TabularMDP(
        transition=tuple(_blocks(each, sizes) for each in zip(*(world.transition for world in worlds), strict=True)),
        start=np.concatenate([world.start for world in worlds]) / len(worlds),
        reward=np.concatenate(rewards),
        terminal=np.concatenate([_terminal(world) for world in worlds]),
        discount=worlds[0].discount,
        labels={name: np.concatenate([world.labels[name] for world in worlds]) for name in shared_labels(worlds)},
    )


def _blocks(matrices: Sequence[csr_array], sizes: Indices) -> csr_array:
    """Block-diagonal; several times as fast as scipy.sparse.block_diag, which goes through coordinates."""
    stored = np.array([matrix.nnz for matrix in matrices])
    columns = np.concatenate([matrix.indices for matrix in matrices]) + np.repeat(np.cumsum(sizes) - sizes, stored)
    counts = np.concatenate([np.diff(matrix.indptr) for matrix in matrices])
    rows, values = np.cumsum([0, *counts]), np.concatenate([matrix.data for matrix in matrices])
    return csr_array((values, columns, rows), shape=(len(counts), len(counts)))


def _terminal(world: TabularMDP) -> NDArray[np.bool_]:
    return np.zeros(world.n_states, dtype=bool) if world.terminal is None else world.terminal
