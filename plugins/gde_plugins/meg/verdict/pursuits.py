"""Decisions scored by how well pursuit of each counterfactual goal explains them.

An agent that pursues a goal takes an optimal action towards it with a higher
probability than by chance. An action is worth A / |O| - 1 towards a goal if it is one
of the |O| optimal ones of A admissible ones, and -1 if not: the derivative of its
log-likelihood where an agent that chooses at random begins to pursue the goal (Rao's
score). Its mean over random actions is 0 for every goal. Where the environment does not
know optimal actions, the score towards a goal is the success that was reached.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Protocol

import numpy as np

from gde.data.arrays import Doubles
from gde.data.goals import Goals
from gde.data.observation import Observation
from gde.errors import GdeError
from gde.numerics.tabular import solve
from gde.parts.environment import Environment, HasGoals, HasMDP, HasOptimum
from gde.parts.snapshots import restorable

Options = tuple[str, ...]
"""Admissible actions."""
Choose = Callable[[Options, Sequence[Sequence[str]]], str | None]
"""From the admissible actions and, by goal, the optimal ones, the choice; None for an
answer without an action.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored:
    """The decisions of an episode, up to where a first counterfactual goal is reached."""

    chances: Doubles
    """(G,) probability of each goal, given all else of the world."""
    present: int
    """Index of the goal that the episode had."""
    scores: Doubles
    """(G,) sum of the scores of the decisions towards each goal."""
    attainable: float
    """Excess that an optimal agent would have in the same states."""
    goals: tuple[str, ...] = ()
    """(G,) their names in the world that this one is a variation of."""
    decisions: int = 1
    """Decisions that could be scored, those without an action included."""
    usable: int = 1
    """Decisions with an action."""
    by_reach: Doubles = field(default_factory=lambda: np.zeros((2, 2)))
    """(2, 2) score towards the present goal, and that of an optimal agent: of all
    decisions but those where an action reaches the goal, and of these.
    """

    def plus(self, other: "Scored") -> "Scored":
        """Add the decisions of another variation of the same world.

        Raises:
            GdeError: the variations have different goals.
        """
        if {*self.goals} == {*other.goals}:
            # A variation may list the same goals in another order.
            order = [other.goals.index(name) for name in self.goals]
            is_present = order[self.present] == other.present
            if is_present and np.allclose(self.chances, other.chances[order]):
                return replace(
                    self,
                    scores=self.scores + other.scores[order],
                    attainable=self.attainable + other.attainable,
                    decisions=self.decisions + other.decisions,
                    usable=self.usable + other.usable,
                    by_reach=self.by_reach + other.by_reach,
                )
        raise GdeError(
            "the variations of a world have different counterfactual goals: measure each condition on its own"
        )

    @property
    def excess(self) -> float:
        """The score towards the goal beyond its mean over the counterfactual goals."""
        return float(self.scores[self.present] - self.chances @ self.scores)


class Pursuits:
    """A world beside itself with each of its counterfactual goals."""

    def __init__(
        self,
        begin: Callable[[], Environment],
        goals: Goals | None = None,
        base: Callable[[str], str] = str,
    ) -> None:
        """Take a function that begins the world, the same at each call.

        Args:
            begin: the function.
            goals: the goals to consider; None for all that the generator could have
                drawn.
            base: the name of a goal in the world that this one is a variation of.

        Raises:
            GdeError: the world cannot draw its goal again; the message says why.
        """
        first = begin()
        self._base = base
        self._environments = [first]
        try:
            self.goals: Goals = goals_of(first) if goals is None else goals
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
    def chances(self) -> Doubles:
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
        decisions = usable = 0
        by_reach = np.zeros((2, 2))
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
            decisions += 1
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
            usable += 1
            taken = options.index(action)
            scores += worth[:, taken]
            if best:
                own = worth[present]
                by_reach[int(worlds[present].is_beside)] += own[taken], own.max()
            # Every world takes the step, also after another has ended.
            ended = [world.step(action) for world in worlds]
            if any(ended):
                break
        if not all(world.judges for world in worlds):
            # Without optimal actions, only what was reached counts.
            scores = np.array([world.reached for world in worlds])
            attainable = float(1 - chances[present])
        return Scored(
            chances=chances,
            present=present,
            scores=scores,
            attainable=attainable,
            goals=tuple(map(self._base, self.goals.probabilities)),
            decisions=decisions,
            usable=usable,
            by_reach=by_reach,
        )

    def close(self) -> None:
        """Release the environments."""
        for environment in self._environments:
            environment.close()


def _worth(
    worlds: Sequence["Alternative"], options: Options
) -> tuple[Doubles, list[Sequence[str]]]:
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

    @property
    def judges(self) -> bool:
        """Whether it knows the optimal actions."""

    @property
    def is_beside(self) -> bool:
        """Whether an action is known to reach the goal."""

    @property
    def reached(self) -> float:
        """The success so far, from 0 to 1."""

    @property
    def state(self) -> int:
        """The number of the present state."""

    def after(self, action: str) -> int:
        """The number of the state that an action leads to."""

    def restart(self) -> None:
        """Go back to the start."""

    def optimal(self) -> Sequence[str] | None:
        """The optimal actions; None where they are not known."""

    def step(self, action: str) -> bool:
        """Take an action; whether the episode has ended."""


class Tabulated:
    """The world as its model, which is faster than the world itself."""

    judges = True

    def __init__(self, environment: HasMDP, horizon: int) -> None:
        self.horizon = horizon
        self.mdp = environment.mdp()
        if not self.mdp.deterministic:
            raise GdeError("worlds that leave something to chance cannot be replayed")
        self.options = self.mdp.actions
        self._successors = {
            action: matrix.indices
            for action, matrix in zip(self.options, self.mdp.transition, strict=True)
        }
        self._optimal = solve(self.mdp).optimal
        self._start = int(self.mdp.start.argmax())
        self.state = self._start

    def restart(self) -> None:
        self.state = self._start

    @property
    def is_beside(self) -> bool:
        after = [self.after(action) for action in self.options]
        return self.mdp.terminal is not None and bool(self.mdp.terminal[after].any())

    @property
    def reached(self) -> float:
        return float(self._is_over)

    @property
    def _is_over(self) -> bool:
        return self.mdp.terminal is not None and bool(self.mdp.terminal[self.state])

    def optimal(self) -> Sequence[str]:
        best = self._optimal[self.state].nonzero()[0]
        return [self.options[action] for action in best]

    def after(self, action: str) -> int:
        return int(self._successors[action][self.state])

    def step(self, action: str) -> bool:
        self.state = self.after(action)
        return self._is_over


@dataclass(frozen=True, kw_only=True, eq=False)
class Moment:
    """A state of a world that was met."""

    number: int
    """Counts the states in the order in which they were met."""
    snapshot: object
    reached: float
    """The success, from 0 to 1."""
    is_end: bool
    actions: Options | None
    after: dict[str, "Moment"] = field(default_factory=dict)
    """What the actions led to, as far as they were taken."""


class Played:
    """The world itself, begun with the goal; each action is played once in each state,
    however often it is taken. States whose snapshots are equal are one.
    """

    is_beside = False
    """Not known before every action is played."""

    def __init__(self, environment: Environment, goal: str) -> None:
        world = restorable(environment)
        assert isinstance(world, HasGoals)
        self._environment = world
        self._known: dict[object, Moment] = {}
        self._stands: Moment
        shown = world.set_goal(goal)
        self._start = self._here = self._met(shown, 0.0, is_end=False)
        self.horizon = environment.task().horizon
        self._judge = environment if isinstance(environment, HasOptimum) else None
        self.judges = self._judge is not None
        self._optimal: dict[int, Sequence[str] | None] = {}

    def restart(self) -> None:
        self._here = self._start

    @property
    def state(self) -> int:
        return self._here.number

    @property
    def reached(self) -> float:
        return self._here.reached

    @property
    def options(self) -> Options:
        """The admissible actions.

        Raises:
            GdeError: any text is one.
        """
        if self._here.actions is None:
            raise GdeError("the environment does not list its admissible actions")
        return self._here.actions

    def optimal(self) -> Sequence[str] | None:
        if self._judge is None:
            return None
        if self.state not in self._optimal:
            self._arrive()
            found = self._judge.optimum()
            self._optimal[self.state] = None if found is None else found.actions
        return self._optimal[self.state]

    def after(self, action: str) -> int:
        return self._follow(action).number

    def step(self, action: str) -> bool:
        self._here = self._follow(action)
        return self._here.is_end

    def _follow(self, action: str) -> Moment:
        """Return the moment that an action leads to."""
        after = self._here.after
        if action not in after:
            self._arrive()
            outcome = self._environment.step(action)
            # Only the horizon cuts an episode off: a state may be met at any turn.
            after[action] = self._met(
                outcome.observation, float(outcome.success or 0), outcome.terminated
            )
        return after[action]

    def _arrive(self) -> None:
        """Put the environment to this moment."""
        if self._stands is not self._here:
            self._environment.restore(self._here.snapshot)
            self._stands = self._here

    def _met(self, shown: Observation, reached: float, is_end: bool) -> Moment:
        """Return the moment at which the environment stands."""
        snapshot = key = self._environment.snapshot()
        try:
            hash(snapshot)
        except TypeError:
            # Snapshots that cannot be compared are all different.
            key = object()
        if key not in self._known:
            self._known[key] = Moment(
                number=len(self._known),
                snapshot=snapshot,
                reached=reached,
                is_end=is_end,
                actions=shown.actions,
            )
        self._stands = self._known[key]
        return self._stands


def goals_of(environment: Environment) -> Goals:
    """Return the goals that the world's generator could have drawn.

    Raises:
        GdeError: it cannot draw the goal again; the message says why.
    """
    if not isinstance(environment, HasGoals):
        raise GdeError("the environment cannot draw its goal again")
    return environment.goals()


def _alternative(environment: Environment, goal: str) -> Alternative:
    if isinstance(environment, HasMDP):
        assert isinstance(environment, HasGoals)
        environment.set_goal(goal)
        return Tabulated(environment, environment.task().horizon)
    return Played(environment, goal)


def pursuits_of(
    begin: Callable[[], Environment],
    goals: Goals | None = None,
    base: Callable[[str], str] = str,
) -> closing[Pursuits]:
    """The world with each of its goals, or of these, for a `with` statement."""
    return closing(Pursuits(begin, goals, base))
