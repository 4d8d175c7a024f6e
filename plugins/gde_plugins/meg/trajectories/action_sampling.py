"""Sampled successors of every action, at every decision of episodes in a black-box
world.

No model of the environment is needed: it begins an episode from a seed, takes actions,
and is put back, by snapshots of its own or by replay. So it may be far too large to
tabulate, or one of Gymnasium (`gde_plugins.gymnasium.from_gymnasium`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from gde.data.arrays import Floats, Indices
from gde.data.observation import Observation
from gde.data.trajectory import Trajectory
from gde.parts.environment import Environment, HasSimulator
from gde.parts.snapshots import Played, Restorable, restorable
from gde_plugins.meg.trajectories.black_box import Tries
from gde_plugins.meg.trajectories.episodes import resampling_units

Inputs = Callable[[Environment, Observation], ArrayLike]
"""Returns (F,) inputs of a network for the present moment, e.g. from
`environment.state().facts`.
"""
Reseed = Callable[[int], None]
Vector = Floats


def played(trajectories: Iterable[Trajectory]) -> list[Played]:
    """Return the episodes of a run as sequences of actions for replay.

    Unusable answers, which change nothing, are left out; so are episodes that failed.
    """
    found = []
    for trajectory in trajectories:
        if trajectory.ending == "failed":
            continue

        actions = []
        for turn in trajectory.turns:
            action = turn.decision.action
            if action is not None:
                actions.append(action)
        found.append(Played(trajectory.seed, tuple(actions)))
    return found


def try_out(
    environment: Environment,
    episodes: Sequence[Played],
    inputs: Inputs,
    *,
    tries: int = 1,
    reseed: Reseed | None = None,
    discount: float = 1.0,
    rng: np.random.Generator | None = None,
) -> Tries:
    """Replay episodes, and sample the successors of every admissible action at every
    decision, for `lower_bound`.

    In a stochastic environment with the capability SIMULATOR each sample is drawn anew,
    in any other if `reseed` says how. Else the randomness of the episode repeats
    itself, and one sample is all there is. One is enough for a bound that holds; more
    make it closer.

    Args:
        environment: in which the episodes were played; ends somewhere in the last one,
            and is not closed.
        episodes: by seed and actions, see `played`. Episodes of several worlds are
            clustered by world; in a single world each is a cluster of its own.
        inputs: inputs of the network for a state.
        tries: number of samples of each action.
        reseed: makes everything random in the environment from now on follow from
            another seed; None for its own `reseed`, where it has one.
        discount: probability that an episode goes on after a step.
        rng: seeds the samples; None for `numpy.random.default_rng(0)`.

    Raises:
        ValueError: no episode, or one that the environment does not take; a number of
            tries that is not positive, or that the environment would only repeat; an
            environment that lists no actions; inputs that are not as many finite
            numbers in every state.
    """
    if tries < 1:
        raise ValueError(f"tries: wanted at least 1, got {tries}")
    if reseed is None and isinstance(environment, HasSimulator):
        reseed = environment.reseed
    if tries > 1 and reseed is None:
        raise ValueError(
            f"tries: wanted 1 where chance cannot be drawn anew, got {tries}: give `reseed`"
        )
    if not 0 < discount <= 1:
        raise ValueError(f"discount must be above 0 and at most 1, got {discount}")

    table = _Table(
        environment=restorable(environment),
        inputs=inputs,
        tries=tries,
        reseed=reseed,
        rng=rng or np.random.default_rng(0),
    )
    lengths = [table.play(episode) for episode in episodes]
    if not sum(lengths):
        raise ValueError(
            f"episodes: wanted at least one with a decision, got {len(lengths)} without"
        )

    # Time starts anew with every episode, and so does the discount.
    times = np.concatenate([np.arange(length) for length in lengths])
    following, chances = table.arrays()
    _, numbers = np.unique(table.worlds, return_inverse=True)
    clusters: Indices = numbers
    return Tries(
        following=following,
        chances=chances,
        taken=np.array(table.taken),
        episodes=np.repeat(np.arange(len(lengths)), lengths),
        clusters=resampling_units(clusters),
        weights=discount ** times.astype(np.float64),
        discount=discount,
    )


@dataclass
class _Table:
    """The samples of all decisions so far."""

    environment: Restorable
    inputs: Inputs
    tries: int
    reseed: Reseed | None
    rng: np.random.Generator
    actions: dict[str, int] = field(default_factory=dict)
    found: list[dict[int, list[Vector]]] = field(default_factory=list)
    """For each decision, by admissible action, the successors sampled."""
    taken: list[int] = field(default_factory=list)
    worlds: list[str] = field(default_factory=list)
    """The cluster of each episode's world."""

    def play(self, episode: Played) -> int:
        """Replay an episode, sample at each of its decisions, and return their
        number.
        """
        # Replay the whole episode first, so that samples drawn anew do not change it.
        moments = list(self._moments(episode))
        world = self.environment.world()
        self.worlds.append(world.cluster)

        for moment, admissible, taken in moments:
            successors = {}
            for action in admissible:
                number = self._number(action)
                successors[number] = self._sample(moment, action)
            self.found.append(successors)
            self.taken.append(self._number(taken))
        return len(moments)

    def arrays(self) -> tuple[Floats, Floats]:
        """Return (D, A, M, F) inputs and (D, A, M) probabilities, zeros for an action
        that is not admissible.
        """
        shape = (len(self.found), len(self.actions), self.tries)
        following = np.zeros((*shape, self._n_inputs()), np.float32)
        chances = np.zeros(shape, np.float32)
        for decision, by_action in enumerate(self.found):
            for action, successors in by_action.items():
                following[decision, action] = successors
                chances[decision, action] = 1 / self.tries
        return following, chances

    def _moments(
        self, episode: Played
    ) -> Iterator[tuple[object, tuple[str, ...], str]]:
        """Yield each decision's snapshot, admissible actions and the action taken."""
        # The snapshot is taken before the step, so that every action can be tried from
        # there.
        assert episode.seed is not None
        observation = self.environment.reset(episode.seed)
        for action in episode.actions:
            if observation.actions is None:
                raise ValueError(
                    "environment: wanted one that lists its actions, got one that takes any text"
                )
            yield self.environment.snapshot(), observation.actions, action
            observation = self.environment.step(action).observation

    def _sample(self, moment: object, action: str) -> list[Vector]:
        """Take the action from the same moment as often as wanted, and return the
        inputs for where it leads.
        """
        successors = []
        for _ in range(self.tries):
            # Restoring brings back the random state too, so without a new seed all
            # samples would be alike.
            self.environment.restore(moment)
            if self.reseed is not None:
                seed = int(self.rng.integers(2**63))
                self.reseed(seed)
            observation = self.environment.step(action).observation
            computed = self.inputs(self.environment, observation)
            given = np.asarray(computed, dtype=np.float32)

            # The first sample of all sets the size for every other.
            size = given.size
            if self.found:
                size = self._n_inputs()
            if given.shape != (size,) or not np.isfinite(given).all():
                raise ValueError(
                    f"inputs: wanted ({size},) finite numbers in every state, got {given.tolist()}"
                )
            successors.append(given)
        return successors

    def _n_inputs(self) -> int:
        """F, by the first successor sampled."""
        by_action = self.found[0]
        successors = next(iter(by_action.values()))
        return len(successors[0])

    def _number(self, action: str) -> int:
        return self.actions.setdefault(action, len(self.actions))
