"""Decisions scored by how well pursuit of each counterfactual goal explains them.

An agent that pursues a goal takes an optimal action towards it with a higher
probability than by chance. An action is worth A / |O| - 1 towards a goal if it is one
of the |O| optimal ones of A admissible ones, and -1 if not: the derivative of its
log-likelihood where an agent that chooses at random begins to pursue the goal (Rao's
score). Its mean over random actions is 0 for every goal.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import repeat
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gde.data.goals import Goals
from gde.data.observation import Observation
from gde.errors import GdeError
from gde.numerics.tabular import solve
from gde.parts.environment import Environment, HasGoals, HasMDP, HasOptimum
from gde.parts.snapshots import Restorable, restorable

Floats = NDArray[np.float64]
Options = tuple[str, ...]
"""Admissible actions."""
Choose = Callable[[Options, Sequence[Sequence[str]]], str | None]
"""From the admissible actions and, by goal, the optimal ones, the choice; None for an
answer without an action.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored:
    """The decisions of an episode, up to where a first counterfactual goal is reached."""

    chances: Floats
    """(G,) probability of each goal, given all else of the world."""
    present: int
    """Index of the goal that the episode had."""
    scores: Floats
    """(G,) sum of the scores of the decisions towards each goal."""
    attainable: float
    """Excess that an optimal agent would have in the same states."""

    @property
    def excess(self) -> float:
        """The score towards the goal beyond its mean over the counterfactual goals."""
        return float(self.scores[self.present] - self.chances @ self.scores)


class Pursuits:
    """A world beside itself with each of its counterfactual goals."""

    def __init__(self, begin: Callable[[], Environment]) -> None:
        """Take a function that begins the world, the same at each call.

        Raises:
            GdeError: the world cannot draw its goal again; the message says why.
        """
        first = begin()
        self._environments = [first]
        try:
            if not isinstance(first, HasGoals):
                raise GdeError("the environment cannot draw its goal again")
            self.goals: Goals = first.goals()
            self.worlds = [*self._with_each_goal(begin)]
        except BaseException:
            self.close()
            raise

    def _with_each_goal(
        self, begin: Callable[[], Environment]
    ) -> Iterator["Alternative"]:
        names = [*self.goals.probabilities]
        # Nobody plays in a world of which nothing can be learned.
        if len(names) == 1:
            return
        for number, name in enumerate(names):
            if number:
                self._environments.append(begin())
            yield _alternative(self._environments[number], name)

    @property
    def chances(self) -> Floats:
        """(G,) probability of each goal."""
        return np.array([*self.goals.probabilities.values()])

    @property
    def present(self) -> int:
        """Index of the goal that the world has."""
        return [*self.goals.probabilities].index(self.goals.present)

    def replayed(self, actions: Sequence[str | None]) -> Scored:
        """Score recorded actions; None for an answer without an action."""
        left = iter(actions)
        return self._played(lambda *_: next(left), len(actions))

    def walked(self, choose: Choose) -> Scored:
        """Score an episode of an agent."""
        return self._played(choose)

    def _played(self, choose: Choose, most: int | None = None) -> Scored:
        """Play up to a first goal, and as long as the episode lasts under every goal.

        So the decisions that are scored do not depend on which of the goals is present.
        """
        chances, present = self.chances, self.present
        scores = np.zeros(len(chances))
        attainable = 0.0
        worlds = self.worlds
        horizon = min((each.horizon for each in worlds), default=0)
        if most is not None:
            horizon = min(horizon, most)

        for world in worlds:
            world.restart()
        for _ in range(horizon):
            options = worlds[0].options
            worth, optimal = _worth(worlds, options)
            action = choose(options, optimal)
            beyond = worth[present] - chances @ worth
            best = [options.index(each) for each in optimal[present]]
            if best:
                attainable += float(beyond[best].mean())
            if action is None:
                continue

            if action not in options:
                listed = ", ".join(options)
                raise GdeError(
                    f"the world takes here {listed}, but the record has {action!r}"
                )
            scores += worth[:, options.index(action)]
            # Every world takes the step, also after another has ended.
            ended = [world.step(action) for world in worlds]
            if any(ended):
                break
        return Scored(
            chances=chances, present=present, scores=scores, attainable=attainable
        )

    def close(self) -> None:
        """Release the environments."""
        for environment in self._environments:
            environment.close()


def _worth(
    worlds: Sequence["Alternative"], options: Options
) -> tuple[Floats, list[Sequence[str]]]:
    """Return (G, A) what each action is worth towards each goal, and the optimal ones.

    Where the optimum towards some goal is not known, nothing is worth anything.
    """
    worth = np.zeros((len(worlds), len(options)))
    every = [world.optimal() for world in worlds]
    known = [each for each in every if each is not None]
    if len(known) < len(every):
        return worth, [*repeat((), len(every))]

    for row, optimal in zip(worth, known, strict=True):
        if optimal:
            row[:] = -1
            for action in optimal:
                row[options.index(action)] += len(options) / len(optimal)
    return worth, known


class Alternative(Protocol):
    """The world with one of the goals."""

    @property
    def horizon(self) -> int:
        """Turns of an episode."""

    @property
    def options(self) -> Options:
        """The admissible actions."""

    def restart(self) -> None:
        """Go back to the start."""

    def optimal(self) -> Sequence[str] | None:
        """The optimal actions; None where they are not known."""

    def step(self, action: str) -> bool:
        """Take an action; whether the episode has ended."""


class Tabulated:
    """The world as its model, which is faster than the world itself."""

    def __init__(self, environment: HasMDP, horizon: int) -> None:
        self.horizon = horizon
        self.mdp = environment.mdp()
        if not self.mdp.deterministic:
            raise GdeError("worlds that leave something to chance cannot be replayed")
        self.options = self.mdp.actions
        self.successors = {
            action: matrix.indices
            for action, matrix in zip(self.options, self.mdp.transition, strict=True)
        }
        self._optimal = solve(self.mdp).optimal
        self._start = int(self.mdp.start.argmax())
        self.state = self._start

    def restart(self) -> None:
        self.state = self._start

    def optimal(self) -> Sequence[str]:
        best = self._optimal[self.state].nonzero()[0]
        return [self.options[action] for action in best]

    def step(self, action: str) -> bool:
        self.state = int(self.successors[action][self.state])
        return self.mdp.terminal is not None and bool(self.mdp.terminal[self.state])


class Played:
    """The world itself, begun with the goal."""

    def __init__(
        self, environment: Environment, shown: Observation, horizon: int
    ) -> None:
        self.horizon = horizon
        self.environment: Restorable = restorable(environment)
        self._start = self.environment.snapshot()
        self._shown = shown
        if not isinstance(environment, HasOptimum):
            raise GdeError("the environment does not know the optimal actions")
        self._judge = environment

    def restart(self) -> None:
        self._shown = self.environment.restore(self._start)

    @property
    def options(self) -> Options:
        """The admissible actions.

        Raises:
            GdeError: any text is one.
        """
        options = self._shown.actions
        if options is None:
            raise GdeError("the environment does not list its admissible actions")
        return options

    def optimal(self) -> Sequence[str] | None:
        found = self._judge.optimum()
        return None if found is None else found.actions

    def step(self, action: str) -> bool:
        outcome = self.environment.step(action)
        self._shown = outcome.observation
        return outcome.terminated or outcome.truncated


def _alternative(environment: Environment, goal: str) -> Alternative:
    assert isinstance(environment, HasGoals)
    shown = environment.set_goal(goal)
    horizon = environment.task().horizon
    if isinstance(environment, HasMDP):
        return Tabulated(environment, horizon)
    return Played(environment, shown, horizon)


def pursuits_of(begin: Callable[[], Environment]) -> closing[Pursuits]:
    """The world with each of its goals, for a `with` statement."""
    return closing(Pursuits(begin))
