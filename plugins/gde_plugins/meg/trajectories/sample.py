"""A sample of episodes, with their worlds joined into one without a way between them, to be solved in one batch."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from scipy.sparse import coo_array, csr_array

from gde.data.mdp import Floats, TabularMDP
from gde.numerics.tabular import steps_to, union
from gde_plugins.meg.solvers.dynamics import Dynamics, Indices
from gde_plugins.meg.solvers.linearly_solvable import Desirability
from gde_plugins.meg.solvers.unrolled import Unrolled
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode, clusters_of, shared_labels
from gde_plugins.meg.trajectories.utilities import Pursuit, Statewise, standing_still

LENGTHS = 3
"""Steps planned ahead, in units of the way from the start to the farthest state. Where every step can be undone, two
lead from anywhere to anywhere, and the third is time to enjoy it. In mazes of 9 x 9 with 30 % random moves, 4 and 8
change goal-directedness by less than 0.2 %, and 2 and 1 by -7 and -45 %."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """The usable decisions of all episodes, in rising order of the states that are still to come."""

    states: Indices
    """(D,) in the joined worlds."""
    to_go: Indices
    """(D,) number of states that count from the decision on, its own included; policies depend on time through it."""
    taken: tuple[Indices, Indices]
    """(D,) actions and (D,) decisions: the index of what was done in an array (A, D)."""
    summed: csr_array
    """(N, D) sums over the decisions of each episode: discount**t for a decision at time t."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Decisions in joined worlds, whatever utility they are measured against."""

    mdp: TabularMDP
    decisions: Decisions

    @cached_property
    def dynamics(self) -> Dynamics:
        """The transitions of the worlds."""
        return Dynamics(self.mdp)

    @cached_property
    def unrolled(self) -> Unrolled:
        """The values that the decisions' policies depend on."""
        return Unrolled(self.dynamics, self.decisions.states, self.decisions.to_go)

    @cached_property
    def desirability(self) -> Desirability | None:
        """The faster recursion of deterministic worlds; None in others."""
        return Desirability(self.unrolled) if Desirability.applies(self.dynamics) else None


@dataclass(frozen=True, eq=False)
class Sample(Sequence[Episode]):
    """N episodes, with what measurements of different utilities have in common."""

    episodes: tuple[Episode, ...]

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> "Sample":
        """Return the episodes as a sample; a sample is returned as it is, with what it has prepared.

        Raises:
            ValueError: they are no episodes.
        """
        if isinstance(episodes, Sample):
            return episodes
        if not isinstance(episodes, Iterable):
            raise ValueError(f"episodes: wanted a list of Episode, got {type(episodes).__name__}")
        each = tuple(episodes)
        for one in each:
            if not isinstance(one, Episode):
                raise ValueError(f"episodes: wanted a list of Episode, got {type(one).__name__} among them")
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
    def worlds(self) -> tuple[TabularMDP, ...]:
        """The different model objects, in the order of the episodes."""
        return tuple(dict.fromkeys(episode.mdp for episode in self))

    @cached_property
    def world_of(self) -> Indices:
        """(N,) index of each episode's model among `worlds`."""
        place = {world: i for i, world in enumerate(self.worlds)}
        return np.array([place[episode.mdp] for episode in self], dtype=np.intp)

    @cached_property
    def clusters(self) -> Indices:
        """(N,) number of each episode's cluster."""
        return clusters_of(self.episodes)

    @property
    def plays(self) -> Indices:
        """(W,) number of episodes in each of the worlds."""
        return np.bincount(self.world_of, minlength=len(self.worlds))

    @cached_property
    def n_unusable(self) -> int:
        """The number of decisions without an action."""
        return sum(int((episode.actions == UNUSABLE).sum()) for episode in self)

    @cached_property
    def lengths(self) -> Indices:
        """(N,) number of decisions of each episode, unusable ones included."""
        return np.array([len(episode.states) for episode in self], dtype=np.intp)

    @cached_property
    def n_decisions(self) -> Floats:
        """(N,) number of decisions of each episode, unusable ones included, weighed by the discount."""
        return np.bincount(self._episode_of_turns, weights=self._weights, minlength=len(self)).astype(np.float64)

    def pursuing(self, pursuit: Pursuit) -> tuple[Scene, Floats]:
        """Return the worlds that a pursuit makes of these, joined, and their reward, (S,) or (S, A).

        Raises:
            ValueError: no episodes, or worlds that differ in number of actions, in discount or in kind of reward.
        """
        if not isinstance(pursuit, Statewise):
            scene = self._scene([pursuit(world) for world in self.worlds])
            return scene, scene.mdp.reward
        scene = self._standing_still if pursuit.stands_still else self._played
        return scene, pursuit.reward(scene.mdp)

    @cached_property
    def _played(self) -> Scene:
        return self._scene(self.worlds)

    @cached_property
    def _standing_still(self) -> Scene:
        scene = self._scene(self.worlds, rewarded=False)
        return Scene(standing_still(scene.mdp, scene.mdp.reward), scene.decisions)

    def _scene(self, worlds: Sequence[TabularMDP], rewarded: bool = True) -> Scene:
        """Join the worlds with their rewards, or with none."""
        kinds = {(world.n_actions, world.discount, world.reward.ndim if rewarded else 1) for world in worlds}
        if len(kinds) != 1:
            kind = "worlds of one number of actions, one discount and one shape of reward"
            raise ValueError(f"wanted episodes in {kind}, got {sorted(kinds) or 'no episode'}")
        rewards = [world.reward if rewarded else np.zeros(world.n_states) for world in worlds]
        joined = join_worlds(worlds, rewards)
        return Scene(joined, self._decisions(joined, np.array([world.n_states for world in worlds])))

    def _decisions(self, joined: TabularMDP, sizes: Indices) -> Decisions:
        """Place the decisions in joined worlds of these sizes."""
        starts = np.cumsum(sizes) - sizes
        states = np.repeat(starts[self.world_of], self.lengths) + np.concatenate([each.states for each in self])
        actions = np.concatenate([episode.actions for episode in self])

        # Time counts down to the deadline, or never runs out where the agent knows none.
        deadlines = np.repeat([episode.horizon or 0 for episode in self], self.lengths)
        to_go = deadlines - self._times
        if not all(episode.horizon for episode in self):
            ahead = np.repeat(planning_horizons(joined, sizes), sizes)
            to_go = np.where(deadlines > 0, to_go, ahead[states])

        usable = np.flatnonzero(actions != UNUSABLE)
        order = usable[np.argsort(to_go[usable], kind="stable")]
        numbers = np.arange(len(order))
        entries = self._weights[order], (self._episode_of_turns[order], numbers)
        summed = coo_array(entries, shape=(len(self), len(order))).tocsr()
        return Decisions(states[order], to_go[order], (actions[order], numbers), summed)

    @cached_property
    def _episode_of_turns(self) -> Indices:
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def _times(self) -> Indices:
        """The time of each turn of all episodes."""
        return np.arange(self.lengths.sum()) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    @cached_property
    def _weights(self) -> Floats:
        """The discount**t of each turn of all episodes."""
        discounts = np.array([episode.mdp.discount for episode in self], dtype=np.float64)
        weights: Floats = discounts[self._episode_of_turns] ** self._times
        return weights


def planning_horizons(joined: TabularMDP, sizes: Indices) -> Indices:
    """Return (W,) how many states count from any decision on, for agents that know no deadline.

    It is the same for every decision of a world, so policies depend on the state alone: the end of the planned time
    moves on with the agent, no state is ever out of reach, and walking away is always a loss.

    Args:
        joined: W worlds.
        sizes: (W,) their numbers of states.
    """
    graph = union(joined)
    # Steps to the nearest start on the reversed graph are steps from there.
    steps = steps_to(graph.T.tocsr(), np.flatnonzero(joined.start))
    reached = np.where(np.isfinite(steps), steps, 0.0)
    farthest = np.maximum.reduceat(reached, np.cumsum(sizes) - sizes)
    horizons: Indices = LENGTHS * farthest.astype(np.intp) + 1
    return horizons


def join_worlds(worlds: Sequence[TabularMDP], rewards: Sequence[Floats]) -> TabularMDP:
    """Join worlds with equally many actions into one, with these rewards; states follow one another by world."""
    sizes = np.array([world.n_states for world in worlds])
    by_action = zip(*(world.transition for world in worlds), strict=True)
    transition = [_block_diagonal(matrices, sizes) for matrices in by_action]
    terminal = [np.zeros(each.n_states, dtype=bool) if each.terminal is None else each.terminal for each in worlds]
    labels = {}
    for name in shared_labels(worlds):
        labels[name] = np.concatenate([world.labels[name] for world in worlds])
    return TabularMDP(
        transition=tuple(transition),
        start=np.concatenate([world.start for world in worlds]) / len(worlds),
        reward=np.concatenate(rewards),
        terminal=np.concatenate(terminal),
        discount=worlds[0].discount,
        labels=labels,
    )


def _block_diagonal(matrices: Sequence[csr_array], sizes: Indices) -> csr_array:
    """Join matrices several times as fast as scipy.sparse.block_diag, which goes through coordinates."""
    stored = np.array([matrix.nnz for matrix in matrices])
    columns = np.concatenate([matrix.indices for matrix in matrices]) + np.repeat(np.cumsum(sizes) - sizes, stored)
    counts = np.concatenate([np.diff(matrix.indptr) for matrix in matrices])
    rows = np.cumsum([0, *counts])
    values = np.concatenate([matrix.data for matrix in matrices])
    return csr_array((values, columns, rows), shape=(len(counts), len(counts)))
