"""The true state and the optimal actions at a moment of an episode."""

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
    """An environment as each of the optional protocols that it follows.

    To ask an object whether it follows a protocol takes longer than a step of a small
    world, so it is asked once.
    """

    by: Environment
    state: HasState | None
    optimum: HasOptimum | None
    mdp: HasMDP | None

    @classmethod
    def of(cls, environment: Environment) -> "Told":
        """Ask an environment which protocols it follows."""
        return cls(
            by=environment,
            state=environment if isinstance(environment, HasState) else None,
            optimum=environment if isinstance(environment, HasOptimum) else None,
            mdp=environment if isinstance(environment, HasMDP) else None,
        )


@dataclass(frozen=True)
class Solved:
    """The solution of a world's decision process."""

    mdp: TabularMDP
    solution: Solution
    known: dict[int, Optimum] = field(default_factory=dict)
    """Optima by state; agents often return to a state."""

    def at(self, state: int) -> Optimum:
        """Give the optimal actions in a state.

        Raises:
            ValueError: the process has no such state.
        """
        if state not in self.known:
            # NumPy would take -1 for the last state.
            if not 0 <= index(state) < self.mdp.n_states:
                raise ValueError(
                    f"state() must give the index of a state of mdp(), of {self.mdp.n_states}, got {state}"
                )
            best = tuple(
                self.mdp.actions[a] for a in self.solution.optimal[state].nonzero()[0]
            )
            self.known[state] = Optimum(
                actions=best, value=float(self.solution.value[state]), means="solved"
            )
        return self.known[state]


@dataclass
class Judge:
    """Tells the truth of one episode, by the environment's own word or by solving its
    decision process.

    It lives where its environment is called.
    """

    actions: Collection[str] | None = field(default=None, init=False)
    """The actions of the task; None if any text is one."""
    told: Told | None = field(default=None, init=False)
    solved: Solved | None = field(default=None, init=False)
    success: float | None = field(default=0.0, init=False)
    """The success of the last outcome."""

    def state(self, environment: Environment) -> State | None:
        """Give the true state alone."""
        told = self._told(environment)
        return told.state.state() if told.state else None

    def moment(
        self, environment: Environment, shown: Observation | None = None
    ) -> Moment:
        """Give the truth at this moment, as far as the environment tells it.

        Args:
            environment: tells it. shown: the observation of the agent, which the
            environment's word must fit; None if nobody decides.

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

        # A world that has changed gives another process, which is solved anew.
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
    if mdp.actions and (actions is None or set(mdp.actions) <= set(actions)):
        return
    wanted = (
        "its actions"
        if actions is None
        else f"actions of the task, {', '.join(actions)}"
    )
    raise ValueError(
        f"mdp() must name {wanted}, got {', '.join(mdp.actions) or 'no names'}"
    )


def _check_optimum(optimum: Optimum, shown: Observation) -> None:
    if shown.actions is not None:
        for action in optimum.actions:
            if action not in shown.actions:
                raise ValueError(
                    f"optimum() must give some of {', '.join(shown.actions)}, got {action!r}"
                )

    value = optimum.value
    try:
        valid = value is None or -inf <= value < inf
    except TypeError:
        valid = False
    if not valid:
        raise ValueError(
            f"optimum() must give a value that is a number, -inf or None, got {value!r}"
        )

    # No return is left in a world that is over, hence a value of 0.
    if not len(optimum.actions) and value and value != -inf:
        raise ValueError(
            f"optimum() must give actions where there is a return to be had, got none for {value!r}"
        )
