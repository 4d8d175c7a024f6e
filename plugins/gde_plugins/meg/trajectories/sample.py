"""A sample of episodes, with their worlds joined into one without a way between them,
to be solved in one batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from scipy.sparse import block_diag, coo_array, csr_array

from gde.data.arrays import Doubles, Indices
from gde.data.mdp import TabularMDP
from gde.numerics.tabular import steps_to, union
from gde_plugins.meg.trajectories.episodes import (
    UNUSABLE,
    Episode,
    clusters_of,
    shared_labels,
)

LENGTHS = 3
"""Steps planned ahead, in units of the way from the start to the farthest state. Where
every step can be undone, two lead from anywhere to anywhere, and the third is time to
enjoy it. In mazes of 9 x 9 with 30 % random moves, 4 and 8 change goal-directedness by
less than 0.2 %, and 2 and 1 by -7 and -45 %.
"""


@dataclass(frozen=True, eq=False)
class Decisions:
    """The usable decisions of all episodes, in rising order of the states that are
    still to come.
    """

    states: Indices
    """(D,) in the joined worlds."""
    to_go: Indices
    """(D,) number of states that count from the decision on, its own included; policies
    depend on time through it.
    """
    taken: tuple[Indices, Indices]
    """(D,) actions and (D,) decisions: the index of what was done in an array (A,
    D).
    """
    summed: csr_array
    """(N, D) sums over the decisions of each episode: discount**t for a decision at
    time t.
    """


@dataclass(frozen=True, eq=False)
class Sample(Sequence[Episode]):
    """N episodes, with what measurements of different utilities have in common."""

    episodes: tuple[Episode, ...]

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> "Sample":
        """Return the episodes as a sample; a sample is returned as it is, with what it
        has prepared.
        """
        if isinstance(episodes, Sample):
            return episodes
        return cls(tuple(episodes))

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
        # A dict keeps the order, which a set does not.
        different = dict.fromkeys(episode.mdp for episode in self)
        return tuple(different)

    @cached_property
    def world_of(self) -> Indices:
        """(N,) index of each episode's model among `worlds`."""
        place = {world: i for i, world in enumerate(self.worlds)}
        indices = [place[episode.mdp] for episode in self]
        return np.array(indices, dtype=np.intp)

    @cached_property
    def clusters(self) -> Indices:
        """(N,) number of each episode's cluster."""
        return clusters_of(self.episodes)

    @property
    def sizes(self) -> Indices:
        """(W,) number of states of each of the worlds."""
        return np.array([world.n_states for world in self.worlds])

    @cached_property
    def planned(self) -> Indices:
        """(W,) the `planning_horizon` of each of the worlds."""
        return np.array([planning_horizon(world) for world in self.worlds])

    @cached_property
    def n_unusable(self) -> int:
        """The number of decisions without an action."""
        total = 0
        for episode in self:
            total += int(np.count_nonzero(episode.actions == UNUSABLE))
        return total

    @cached_property
    def lengths(self) -> Indices:
        """(N,) number of decisions of each episode, unusable ones included."""
        lengths = [len(episode.states) for episode in self]
        return np.array(lengths, dtype=np.intp)

    @cached_property
    def n_decisions(self) -> Doubles:
        """(N,) number of decisions of each episode, unusable ones included, weighed by
        the discount.
        """
        summed = np.bincount(
            self._episode_of_turns,
            weights=self._weights,
            minlength=len(self),
        )
        return summed.astype(np.float64)

    @cached_property
    def decisions(self) -> Decisions:
        """The usable decisions of all episodes."""
        # The states of a world are numbered from where the worlds before it end.
        starts = np.cumsum(self.sizes) - self.sizes
        own_states = np.concatenate([episode.states for episode in self])
        states = np.repeat(starts[self.world_of], self.lengths) + own_states
        actions = np.concatenate([episode.actions for episode in self])

        # Time counts down to the deadline, or never runs out where the agent knows
        # none.
        deadlines = np.array([episode.horizon or 0 for episode in self])
        until = np.repeat(deadlines, self.lengths) - self._times
        always = np.repeat(self.planned[self.world_of], self.lengths)
        to_go = np.where(np.repeat(deadlines, self.lengths) > 0, until, always)

        # Stable, so that the order does not depend on the platform.
        usable = np.flatnonzero(actions != UNUSABLE)
        by_time = np.argsort(to_go[usable], kind="stable")
        order = usable[by_time]

        numbers = np.arange(len(order))
        rows = self._episode_of_turns[order]
        weights = self._weights[order]
        shape = (len(self), len(order))
        entries = coo_array((weights, (rows, numbers)), shape=shape)
        return Decisions(
            states=states[order],
            to_go=to_go[order],
            taken=(actions[order], numbers),
            summed=entries.tocsr(),
        )

    @cached_property
    def _episode_of_turns(self) -> Indices:
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def _times(self) -> Indices:
        """The time of each turn of all episodes."""
        firsts = np.cumsum(self.lengths) - self.lengths
        turns = np.arange(self.lengths.sum())
        return turns - np.repeat(firsts, self.lengths)

    @cached_property
    def _weights(self) -> Doubles:
        """The discount**t of each turn of all episodes."""
        discounts = [episode.mdp.discount for episode in self]
        by_episode = np.array(discounts, dtype=np.float64)
        by_turn = by_episode[self._episode_of_turns]
        weights: Doubles = by_turn**self._times
        return weights


def planning_horizon(world: TabularMDP) -> int:
    """Return how many states count from any decision on, for agents that know no
    deadline.

    Policies then depend on the state alone: the end of the planned time moves on with
    the agent, no state is ever out of reach, and walking away is always a loss.
    """
    steps = steps_from_start(world)
    farthest = steps.max(where=np.isfinite(steps), initial=0.0)
    return LENGTHS * int(farthest) + 1


def steps_from_start(world: TabularMDP) -> Doubles:
    """Return the (S,) fewest steps in which each state may be reached."""
    # Steps to the nearest start on the reversed graph are steps from there.
    reversed_graph = union(world).T.tocsr()
    steps: Doubles = steps_to(reversed_graph, np.flatnonzero(world.start))
    return steps


def join_worlds(worlds: Sequence[TabularMDP]) -> TabularMDP:
    """Join worlds into one without a way between them; states follow one another by
    world.

    Raises:
        ValueError: no worlds, or worlds that differ in number of actions, in discount
            or in kind of reward.
    """
    kinds = {(each.n_actions, each.discount, each.reward.ndim) for each in worlds}
    if len(kinds) != 1:
        kind = "worlds of one number of actions, one discount and one shape of reward"
        got = sorted(kinds) or "no episode"
        raise ValueError(f"wanted episodes in {kind}, got {got}")

    transition = []
    for action in range(worlds[0].n_actions):
        matrices = [world.transition[action] for world in worlds]
        transition.append(block_diag(matrices, format="csr"))

    terminal = []
    for world in worlds:
        if world.terminal is None:
            terminal.append(np.zeros(world.n_states, dtype=bool))
        else:
            terminal.append(world.terminal)

    labels = {}
    for name in shared_labels(worlds):
        values = [world.labels[name] for world in worlds]
        labels[name] = np.concatenate(values)

    starts = np.concatenate([world.start for world in worlds])
    return TabularMDP(
        transition=tuple(transition),
        start=starts / len(worlds),
        reward=np.concatenate([world.reward for world in worlds]),
        terminal=np.concatenate(terminal),
        discount=worlds[0].discount,
        labels=labels,
    )
