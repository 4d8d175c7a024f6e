"""Agents of the validity suite: some know where the goal is, others follow habits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gde.data.arrays import Doubles, Indices
from gde.data.mdp import TabularMDP
from gde.numerics.tabular import solve
from gde_plugins.meg.solvers.process import soft_policy
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.sample import planning_horizon

UP, DOWN, LEFT, RIGHT = range(4)
RIGHT_HAND = {
    UP: (RIGHT, UP, LEFT, DOWN),
    DOWN: (LEFT, DOWN, RIGHT, UP),
    LEFT: (UP, LEFT, DOWN, RIGHT),
    RIGHT: (DOWN, RIGHT, UP, LEFT),
}
"""By action: those to the right of it, straight on, to the left and back."""
EPSILON = 0.05
"""Share of random moves in a habit: nobody follows one for certain."""


@dataclass
class Memory:
    """What a walker may remember, beside the walls around it."""

    last: int = -1
    """The last action."""
    before: int = -1
    """Where it came from."""
    visits: dict[int, int] = field(default_factory=dict)
    """The number of visits, by state."""


Walker = Callable[[int, Indices, Memory], Doubles]
"""From a state, the state that each action leads to, and memory: the probability of
each action.
"""
Maker = Callable[[TabularMDP], Walker]
"""Makes the walker of a world."""


def _memoryless(policy: Doubles) -> Walker:
    """Return the walker that follows an (S, A) policy."""

    def choose(state: int, _: Indices, __: Memory) -> Doubles:
        chosen: Doubles = policy[state]
        return chosen

    return choose


def random(world: TabularMDP) -> Walker:
    """Choose among all actions alike."""
    shape = (world.n_states, world.n_actions)
    return _memoryless(np.full(shape, 1 / world.n_actions))


def non_reversing(_: TabularMDP) -> Walker:
    """Never run into walls, and never turn back where there is another way."""

    def choose(state: int, after: Indices, memory: Memory) -> Doubles:
        free = after != state
        onwards = after != memory.before
        return _among(free & onwards, free)

    return choose


def novelty_seeking(_: TabularMDP) -> Walker:
    """Go where the walker has been least often."""

    def choose(state: int, after: Indices, memory: Memory) -> Doubles:
        free = after != state
        counts = [memory.visits.get(int(each), 0) for each in after]
        visits = np.array(counts, dtype=float)
        fewest = visits[free].min(initial=np.inf)
        return _among(free & (visits == fewest), free)

    return choose


def momentum(_: TabularMDP) -> Walker:
    """Go straight on until a wall is in the way."""

    def choose(state: int, after: Indices, memory: Memory) -> Doubles:
        free = after != state
        straight_on = np.arange(len(after)) == memory.last
        return _among(free & straight_on, free)

    return choose


def wall_following(_: TabularMDP) -> Walker:
    """Keep the right hand on the wall."""

    def choose(state: int, after: Indices, memory: Memory) -> Doubles:
        free = after != state
        preferred = np.zeros(len(after), dtype=bool)
        for action in RIGHT_HAND.get(memory.last, ()):
            if free[action]:
                preferred[action] = True
                break
        return _among(preferred, free)

    return choose


def drifting(world: TabularMDP) -> Walker:
    """Drift down and to the right."""
    pull = np.exp(np.array([-0.5, 0.5, -0.5, 0.5]))
    row = pull / pull.sum()
    return _memoryless(np.tile(row, (world.n_states, 1)))


def soft(beta: float) -> Maker:
    """Return soft-optimal walkers towards the goal, which are told of no deadline."""

    def make(world: TabularMDP) -> Walker:
        horizon = planning_horizon(world)
        # Without a deadline every turn is the first of the planned time.
        policy = soft_policy(world, beta, horizon).probabilities
        return _memoryless(policy[0])

    return make


def goal_swapped(world: TabularMDP) -> Walker:
    """Go for a place that is not the goal: the state that is half of all states further
    on.
    """
    # Far from the start, and the same in every run.
    elsewhere = np.roll(world.start > 0, world.n_states // 2)
    is_goal = world.labels["goal"] > 0
    if (elsewhere & is_goal).any():
        elsewhere = np.roll(elsewhere, 1)

    reward = elsewhere.astype(np.float64) - 1.0
    swapped = replace(world, terminal=elsewhere, reward=reward)
    return soft(1.0)(swapped)


def noisy(share: float) -> Maker:
    """Return walkers that take an optimal action, and a random one this share of the
    time.
    """

    def make(world: TabularMDP) -> Walker:
        # At the goal no action is optimal, but no episode gets to choose one there.
        optimal = solve(world).optimal
        n_best = optimal.sum(axis=1, keepdims=True)
        best = optimal / np.maximum(n_best, 1)
        return _memoryless((1 - share) * best + share / world.n_actions)

    return make


BLIND: Mapping[str, Maker] = {
    "random": random,
    "drifting": drifting,
    "non-reversing": non_reversing,
    "novelty-seeking": novelty_seeking,
    "momentum": momentum,
    "wall-following": wall_following,
    "goal-swapped": goal_swapped,
}
SEEKING: Mapping[str, Maker] = {
    "soft, beta 0.1": soft(0.1),
    "soft, beta 0.3": soft(0.3),
    "soft, beta 1": soft(1.0),
    "noisy, 90 % random": noisy(0.9),
    "noisy, 70 % random": noisy(0.7),
    "noisy, 30 % random": noisy(0.3),
    "optimal": noisy(0.0),
}


def successors(world: TabularMDP) -> Indices:
    """Return the (S, A) next states of a deterministic world."""
    columns = [matrix.indices for matrix in world.transition]
    return np.stack(columns, axis=1).astype(np.intp)


def walk(
    world: TabularMDP,
    walker: Walker,
    steps: int,
    cluster: str,
    rng: np.random.Generator,
) -> Episode:
    """Walk one episode of at most so many steps, which ends at the goal."""
    assert world.terminal is not None
    leads_to = successors(world)
    state = int(world.start.argmax())
    memory = Memory()
    states: list[int] = []
    actions: list[int] = []
    while len(states) < steps and not world.terminal[state]:
        after = leads_to[state]
        memory.visits[state] = memory.visits.get(state, 0) + 1
        policy = walker(state, after, memory)
        action = int(rng.choice(len(after), p=policy))
        states.append(state)
        actions.append(action)

        # A walker that ran into a wall has not moved, so it remembers its last move.
        if after[action] != state:
            memory.last = action
            memory.before = state
            state = int(after[action])
    return Episode(
        mdp=world,
        states=np.array(states),
        actions=np.array(actions),
        cluster=cluster,
    )


def _among(preferred: NDArray[np.bool_], free: NDArray[np.bool_]) -> Doubles:
    """Return the policy of one of the preferred actions, else a free one, else any; now
    and then a random one.
    """
    if preferred.any():
        chosen = preferred
    elif free.any():
        chosen = free
    else:
        chosen = np.ones_like(free)
    meant = (1 - EPSILON) * chosen / chosen.sum()
    policy: Doubles = meant + EPSILON / len(chosen)
    return policy
