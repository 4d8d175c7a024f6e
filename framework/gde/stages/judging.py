"""What is true and what is best at a moment of an episode."""

from collections.abc import Collection
from dataclasses import dataclass, field
from math import inf
from operator import index

from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Optimum, State
from gde.numerics.tabular import Solution, solve
from gde.parts.environment import Environment, HasMDP, HasOptimum, HasState


@dataclass(frozen=True)
class Moment:
    """What is true and what is best before a decision."""

    state: State | None
    optimum: Optimum | None


@dataclass(frozen=True)
class Told:
    """What an environment tells of itself. To ask an object whether it follows a protocol takes longer than a step of a
    small world, so it is asked once."""

    by: Environment
    state: HasState | None
    optimum: HasOptimum | None
    mdp: HasMDP | None

    @classmethod
    def of(cls, environment: Environment) -> "Told":
        """The environment, as each of the protocols that it follows."""
        return cls(
            by=environment,
            state=environment if isinstance(environment, HasState) else None,
            optimum=environment if isinstance(environment, HasOptimum) else None,
            mdp=environment if isinstance(environment, HasMDP) else None,
        )


@dataclass(frozen=True)
class Solved:
    """What is best in each state of a world that has been solved."""

    mdp: TabularMDP
    solution: Solution
    known: dict[int, Optimum] = field(default_factory=dict)
    """By state: agents come again to where they were."""

    def at(self, state: int) -> Optimum:
        """What is best there.

        Raises:
            ValueError: the process has no such state. NumPy would take -1 for the last one.
        """
        if state not in self.known:
            if not 0 <= index(state) < self.mdp.n_states:
                raise ValueError(
                    f"state() must give the index of a state of mdp(), of {self.mdp.n_states}, got {state}"
                )
            best = tuple(self.mdp.actions[a] for a in self.solution.optimal[state].nonzero()[0])
            self.known[state] = Optimum(actions=best, value=float(self.solution.value[state]), means="solved")
        return self.known[state]


@dataclass
class Judge:
    """Says what is best, by the environment's own word or by solving it: again whenever the world has changed. Keeps
    what is known of the episode in the place where its environment is called."""

    actions: Collection[str] | None = field(default=None, init=False)
    """Of the task; None where any text may be tried."""
    told: Told | None = field(default=None, init=False)
    solved: Solved | None = field(default=None, init=False)
    success: float | None = field(default=0.0, init=False)
    """Of the last outcome."""

    def state(self, environment: Environment) -> State | None:
        """The truth alone."""
        told = self._told(environment)
        return told.state.state() if told.state else None

    def moment(self, environment: Environment, shown: Observation | None = None) -> Moment:
        """The truth at this moment; nothing where the environment tells none.

        Args:
            environment: tells it.
            shown: what the agent sees of it, by which the environment's word is checked; None where nobody decides.

        Raises:
            ValueError: what the environment tells cannot be true.
        """
        told = self._told(environment)
        state = told.state.state() if told.state else None
        if told.optimum:
            optimum = told.optimum.optimum()
            if optimum is not None and shown is not None:
                _check_optimum(optimum, shown)
            return Moment(state, optimum)
        if state is None or state.index is None or told.mdp is None:
            return Moment(state, None)
        mdp = told.mdp.mdp()
        if self.solved is None or self.solved.mdp is not mdp:
            _check_names(mdp, self.actions)
            self.solved = Solved(mdp, solve(mdp))
        return Moment(state, self.solved.at(state.index))

    def _told(self, environment: Environment) -> Told:
        if self.told is None or self.told.by is not environment:
            self.told = Told.of(environment)
        return self.told


def _check_names(mdp: TabularMDP, actions: Collection[str] | None) -> None:
    if not mdp.actions or (actions is not None and not set(mdp.actions) <= set(actions)):
        wanted = "its actions" if actions is None else f"actions of the task, {', '.join(actions)}"
        raise ValueError(f"mdp() must name {wanted}, got {', '.join(mdp.actions) or 'no names'}")


def _check_optimum(optimum: Optimum, shown: Observation) -> None:
    best, value = optimum.actions, optimum.value
    if shown.actions is not None:
        for action in best:
            if action not in shown.actions:
                raise ValueError(f"optimum() must give some of {', '.join(shown.actions)}, got {action!r}")
    try:
        right = value is None or -inf <= value < inf
    except TypeError:
        right = False
    if not right:
        raise ValueError(f"optimum() must give a value that is a number, -inf or None, got {value!r}")
    # Of a world that is over nothing more is to be had, hence 0.
    if not len(best) and value and value != -inf:
        raise ValueError(f"optimum() must give actions where there is a return to be had, got none for {value!r}")
