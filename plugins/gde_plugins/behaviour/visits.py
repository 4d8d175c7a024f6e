"""The empirical policy: actions in each visited state (Arghal et al. 2026, section 4.1
and appendix B).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum, log2

from gde.data.observation import World
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import Need, Place

UNANSWERED = "no usable answer was given"
StateKey = tuple[int | None, float | None, tuple[str, ...] | None, str]


@dataclass(frozen=True, kw_only=True)
class VisitedState:
    """One state of a world, with the answers given in it in all episodes of that
    world.
    """

    optimal: tuple[str, ...] | None
    """None without a model; empty if no action leads to the goal any more."""
    value: float | None
    actions: Counter[str] = field(default_factory=Counter)
    """Number of times that each action was taken. Empty if no answer was usable."""

    @property
    def probabilities(self) -> Mapping[str, float]:
        """Relative frequency of the actions taken; they sum to one."""
        total = self.actions.total()
        return {action: count / total for action, count in self.actions.items()}

    @property
    def entropy(self) -> float:
        """Entropy of the empirical policy, in bits (Arghal et al. 2026, eq. 4)."""
        negative = fsum(p * log2(p) for p in self.probabilities.values())
        # abs() rather than a minus, which would make -0.0 of a certain choice.
        return abs(negative)

    @property
    def optimal_entropy(self) -> float:
        """Entropy of the policy that is uniform over the optimal actions, in bits."""
        return log2(len(self.optimal or ()))

    @property
    def divergence(self) -> float:
        """Jensen-Shannon divergence from the policy uniform over optimal actions, in
        bits, in [0, 1] (equation 5).
        """
        taken = self.probabilities
        best = self.optimal or ()
        halves = []
        for action in dict.fromkeys([*taken, *best]):
            p = taken.get(action, 0.0)
            q = (action in best) / len(best)
            # This form is exactly zero if p equals q, so a policy does not diverge from
            # itself by rounding.
            for x in (p, q):
                if x:
                    halves.append(0.5 * x * log2(2 * x / (p + q)))

        # Rounding may leave [0, 1] by a hair.
        divergence = fsum(halves)
        return min(max(divergence, 0.0), 1.0)

    @property
    def least_divergence(self) -> float:
        """Jensen-Shannon divergence from the nearest optimal policy, whichever way it
        breaks ties; bits, in [0, 1].

        Only the mass m that the policy p puts on optimal actions matters. Merging the
        optimal actions into one outcome maps every optimal policy q to the same point
        mass, and by the data-processing inequality raises no divergence: JSD(p, q) is
        at least that of the merged ones. The optimal policy proportional to p on the
        optimal actions attains it, because merging outcomes with equal ratios p / q
        loses nothing. What is left is the divergence of (m, 1 - m) from (1, 0), of
        which m = 1 makes 0 and m = 0 makes 1.
        """
        n_optimal = sum(self.actions[action] for action in self.optimal or ())
        m = n_optimal / self.actions.total()
        # The limit of m log m at zero.
        plain = m * log2(m) if m else 0.0
        mixed = (1 + m) * log2(1 + m)
        return 1 + (plain - mixed) / 2


def visited(trajectories: Iterable[Trajectory]) -> dict[Place, list[VisitedState]]:
    """Return the states visited in each world, in the order of their first visit."""
    places: dict[Place, dict[StateKey, VisitedState]] = {}
    for trajectory in trajectories:
        states = places.setdefault(Place.of(trajectory), {})
        for turn in trajectory.turns:
            key = state_key(trajectory.world, turn)
            if key not in states:
                states[key] = VisitedState(optimal=turn.optimal, value=turn.value)
            # An unusable answer marks the state as visited and is no action.
            action = turn.decision.action
            if action is not None:
                states[key].actions[action] += 1
    return {place: list(states.values()) for place, states in places.items()}


def state_key(world: World, turn: Turn) -> StateKey:
    """Return a key that is equal for equal states of one world.

    The index counts states of the model at that turn. If a world changes within an
    episode, the same index is another state. The facts of the world that the state
    overrides (e.g. the walls) tell the two apart. If the change is not recorded, value
    and optimal actions do.
    """
    overridden = []
    facts = turn.state.facts if turn.state else {}
    for name, fact in facts.items():
        if world.facts.get(name, fact) != fact:
            overridden.append((name, fact))
    return state_index(turn), turn.value, turn.optimal, repr(sorted(overridden))


def state_index(turn: Turn) -> int | None:
    """Return the row of the turn's state in the model of its world, or None without a
    model.
    """
    return turn.state.index if turn.state else None


IDENTIFIED = Need("state of a model", lambda turn: state_index(turn) is not None)
"""Without it, states cannot be told apart."""
