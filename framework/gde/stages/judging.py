"""The true state and the optimal actions at a moment of an episode."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from math import inf
from numbers import Real
from operator import index
from typing import Any

from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Optimum, State
from gde.numerics.tabular import Solution, solve


@dataclass(frozen=True)
class Moment:
    """What is true and what is best before a decision."""

    state: State | None
    optimum: Optimum | None


@dataclass
class Judge:
    """The truth of one episode, from the environment or its solved MDP.

    It lives where its environment is called.
    """

    actions: Collection[str] | None = field(default=None, init=False)
    """The actions of the task; None if any text is one."""
    success: float | None = field(default=0.0, init=False)
    """The success of the last outcome."""
    _mdp: TabularMDP | None = field(default=None, init=False)
    _solution: Solution | None = field(default=None, init=False)
    _optima: dict[int, Optimum] = field(default_factory=dict, init=False)
    """The optima of the MDP by state, since agents often return to a state."""

    def state(self, environment: Any) -> State | None:
        """Give the true state alone."""
        # Not `isinstance(environment, HasState)`, which takes longer than a step of a
        # grid.
        tell: Callable[[], State] | None = getattr(environment, "state", None)
        return tell() if tell else None

    def moment(self, environment: Any, shown: Observation | None = None) -> Moment:
        """Give the truth at this moment, as far as the environment tells it.

        Args:
            environment: tells it.
            shown: the observation of the agent, which the environment's word must fit;
                None if nobody decides.

        Raises:
            ValueError: what the environment tells cannot be true.
        """
        state = self.state(environment)
        if hasattr(environment, "optimum"):
            optimum: Optimum | None = environment.optimum()
            if optimum is not None and shown is not None:
                _check_optimum(optimum, shown)
            return Moment(state, optimum)
        if state is None or state.index is None or not hasattr(environment, "mdp"):
            return Moment(state, None)
        return Moment(state, self._solved(environment.mdp(), state.index))

    def _solved(self, mdp: TabularMDP, state: int) -> Optimum:
        # A world that has changed gives another process, which is solved anew.
        if self._solution is None or self._mdp is not mdp:
            _check_names(mdp, self.actions)
            self._mdp = mdp
            self._solution = solve(mdp)
            self._optima = {}
        if state in self._optima:
            return self._optima[state]

        # NumPy would take -1 for the last state.
        if not 0 <= index(state) < mdp.n_states:
            raise ValueError(
                f"state() must give the index of a state of mdp(), of {mdp.n_states}, got {state}"
            )
        best = self._solution.optimal[state].nonzero()[0]
        optimum = Optimum(
            actions=tuple(mdp.actions[action] for action in best),
            value=float(self._solution.value[state]),
            means="solved",
        )
        self._optima[state] = optimum
        return optimum


def gained(before: float, after: float, reward: float) -> float:
    """The change of the certified value in a step; with its reward, where the value is a
    return to earn.

    A value below 0 is a cost that is left, of which a good step takes something away.
    """
    return after - before + (reward if before > 0 else 0.0)


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
    if value is not None and not (isinstance(value, Real) and -inf <= value < inf):
        raise ValueError(
            f"optimum() must give a value that is a number, -inf or None, got {value!r}"
        )

    # No return is left in a world that is over, hence a value of 0.
    if not len(optimum.actions) and value and value != -inf:
        raise ValueError(
            f"optimum() must give actions where there is a return to be had, got none for {value!r}"
        )
