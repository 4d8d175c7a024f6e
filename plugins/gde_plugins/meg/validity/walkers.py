"""Agents of the validity suite: some know where the goal is, others follow habits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gde.data.mdp import Floats, TabularMDP
from gde.numerics.tabular import solve
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.solvers.process import soft_policy
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.sample import planning_horizons

RIGHT_HAND = {0: (3, 0, 2, 1), 1: (2, 1, 3, 0), 2: (0, 2, 1, 3), 3: (1, 3, 0, 2)}
"""By action, UP, DOWN, LEFT and RIGHT: those to the right of it, straight on, to the left and back."""
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


Walker = Callable[[int, Indices, Memory], Floats]
"""From a state, the state that each action leads to, and memory: the probability of each action."""
Maker = Callable[[TabularMDP], Walker]
"""Makes the walker of a world."""


def _mindless(policy: Floats) -> Walker:
    """Of an (S, A) policy: remembers nothing."""

    def choose(state: int, _: Indices, __: Memory) -> Floats:
        chosen: Floats = policy[state]
        return chosen

    return choose


def random(world: TabularMDP) -> Walker:
    """Chooses among all actions alike."""
    return _mindless(np.full((world.n_states, world.n_actions), 1 / world.n_actions))


def non_reversing(_: TabularMDP) -> Walker:
    """Never runs into walls and never turns back unless it must."""

    def choose(state: int, after: Indices, memory: Memory) -> Floats:
        free = after != state
        return _among(free & (after != memory.before), free)

    return choose


def novelty_seeking(_: TabularMDP) -> Walker:
    """Goes where it has been least often."""

    def choose(state: int, after: Indices, memory: Memory) -> Floats:
        free = after != state
        visits = np.array([memory.visits.get(int(each), 0) for each in after], dtype=float)
        return _among(free & (visits == visits[free].min(initial=np.inf)), free)

    return choose


def momentum(_: TabularMDP) -> Walker:
    """Goes straight on until it cannot."""

    def choose(state: int, after: Indices, memory: Memory) -> Floats:
        free = after != state
        return _among(free & (np.arange(len(after)) == memory.last), free)

    return choose


def wall_following(_: TabularMDP) -> Walker:
    """Keeps its right hand on the wall."""

    def choose(state: int, after: Indices, memory: Memory) -> Floats:
        free = after != state
        way = [action for action in RIGHT_HAND.get(memory.last, ()) if free[action]][:1]
        return _among(free & np.isin(np.arange(len(after)), way), free)

    return choose


def drifting(world: TabularMDP) -> Walker:
    """Is drawn down and to the right."""
    pull = np.exp(np.array([-0.5, 0.5, -0.5, 0.5]))
    return _mindless(np.tile(pull / pull.sum(), (world.n_states, 1)))


def soft(beta: float) -> Maker:
    """Soft-optimal towards the goal, told of no deadline."""

    def make(world: TabularMDP) -> Walker:
        ahead = int(planning_horizons(world, np.array([world.n_states]))[0])
        return _mindless(soft_policy(world, beta, ahead).probabilities[0])

    return make


def goal_swapped(world: TabularMDP) -> Walker:
    """Is after a place that is not the goal: the state that is half of all states further on."""
    elsewhere = np.roll(world.start > 0, world.n_states // 2)
    if (elsewhere & (world.labels["goal"] > 0)).any():
        elsewhere = np.roll(elsewhere, 1)
    return soft(1.0)(replace(world, terminal=elsewhere, reward=elsewhere.astype(np.float64) - 1.0))


def noisy(share: float) -> Maker:
    """Takes an optimal action, and a random one this share of the time."""

    def make(world: TabularMDP) -> Walker:
        optimal = solve(world).optimal
        best = optimal / np.maximum(optimal.sum(axis=1, keepdims=True), 1)
        return _mindless((1 - share) * best + share / world.n_actions)

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


def walk(world: TabularMDP, walker: Walker, steps: int, cluster: str, rng: np.random.Generator) -> Episode:
    """One episode of at most so many steps, which ends at the goal."""
    assert world.terminal is not None
    successors = np.stack([matrix.indices for matrix in world.transition])
    state = int(world.start.argmax())
    memory = Memory()
    states = list[int]()
    actions = list[int]()
    while len(states) < steps and not world.terminal[state]:
        after = successors[:, state]
        memory.visits[state] = memory.visits.get(state, 0) + 1
        action = int(rng.choice(len(after), p=walker(state, after, memory)))
        states.append(state)
        actions.append(action)
        if after[action] != state:
            memory.last = action
            memory.before = state
            state = int(after[action])
    return Episode(mdp=world, states=np.array(states), actions=np.array(actions), cluster=cluster)


def _among(preferred: np.ndarray, free: np.ndarray) -> Floats:
    """One of the preferred actions, else a free one, else any; a random one now and then."""
    chosen = preferred if preferred.any() else free if free.any() else np.ones_like(free)
    policy: Floats = (1 - EPSILON) * chosen / chosen.sum() + EPSILON / len(chosen)
    return policy
