"""What was done in each state visited: the empirical policy (Arghal et al. 2026, section 4.1 and appendix B)."""

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
    """One state of a world, with the answers given in it in all episodes of that world."""

    optimal: tuple[str, ...] | None
    """None without a model; empty where no action leads to the goal any more."""
    value: float | None
    actions: Counter[str] = field(default_factory=Counter)
    """How often each action was taken. Empty where no answer was usable."""

    @property
    def probabilities(self) -> Mapping[str, float]:
        """Relative frequency of the actions taken; they sum to one."""
        return {action: count / self.actions.total() for action, count in self.actions.items()}

    @property
    def entropy(self) -> float:
        """Of the empirical policy, in bits (Arghal et al. 2026, eq. 4)."""
        return abs(fsum(p * log2(p) for p in self.probabilities.values()))

    @property
    def optimal_entropy(self) -> float:
        """Of the policy that is uniform over the optimal actions, in bits."""
        return log2(len(self.optimal or ()))

    @property
    def divergence(self) -> float:
        """Jensen-Shannon divergence from the policy uniform over optimal actions, in bits, in [0, 1] (equation 5)."""
        taken = self.probabilities
        best = self.optimal or ()
        halves = []
        for action in dict.fromkeys([*taken, *best]):
            p = taken.get(action, 0.0)
            q = (action in best) / len(best)
            # Exactly zero where p equals q, so that a policy does not diverge from itself by rounding.
            halves += [0.5 * x * log2(2 * x / (p + q)) for x in (p, q) if x]
        return min(max(fsum(halves), 0.0), 1.0)

    @property
    def least_divergence(self) -> float:
        """Jensen-Shannon divergence from the nearest optimal policy, whichever way it breaks ties; bits, in [0, 1].

        Only the mass m that the policy p puts on optimal actions matters. Merging the optimal actions into one
        outcome maps every optimal policy q to the same point mass, and by the data-processing inequality raises no
        divergence: JSD(p, q) is at least that of the merged ones. The optimal policy proportional to p on the optimal
        actions attains it, because merging outcomes with equal ratios p / q loses nothing. What is left is the
        divergence of (m, 1 - m) from (1, 0), of which m = 1 makes 0 and m = 0 makes 1.
        """
        m = sum(self.actions[action] for action in self.optimal or ()) / self.actions.total()
        return 1 + ((m * log2(m) if m else 0.0) - (1 + m) * log2(1 + m)) / 2


def visited(trajectories: Iterable[Trajectory]) -> dict[Place, list[VisitedState]]:
    """The states visited in each world, in the order of their first visit."""
    places: dict[Place, dict[StateKey, VisitedState]] = {}
    for trajectory in trajectories:
        states = places.setdefault(Place.of(trajectory), {})
        for turn in trajectory.turns:
            _visit(states, trajectory.world, turn)
    return {place: list(states.values()) for place, states in places.items()}


def _visit(states: dict[StateKey, VisitedState], world: World, turn: Turn) -> None:
    key = state_key(world, turn)
    if key not in states:
        states[key] = VisitedState(optimal=turn.optimal, value=turn.value)
    if turn.decision.action is not None:
        states[key].actions[turn.decision.action] += 1


def state_key(world: World, turn: Turn) -> StateKey:
    """What makes two states of one world the same.

    The index counts states of the model at that turn. Where a world changes within an episode, the same index is
    another state. It is told apart by those facts of the world that the state overrides (e.g. the walls), and, where
    the change is not recorded, by its value and optimal actions.
    """
    return state_index(turn), turn.value, turn.optimal, _overridden(world, turn)


def _overridden(world: World, turn: Turn) -> str:
    facts = turn.state.facts if turn.state else {}
    return repr(sorted((name, fact) for name, fact in facts.items() if world.facts.get(name, fact) != fact))


def state_index(turn: Turn) -> int | None:
    """Row of the turn's state in the model of its world, where there is one."""
    return turn.state.index if turn.state else None


IDENTIFIED = Need("state of a model", lambda turn: state_index(turn) is not None)
"""Without it, states cannot be told apart."""
