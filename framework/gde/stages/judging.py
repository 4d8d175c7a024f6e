"""What is true and what is best at a moment of an episode."""

from dataclasses import dataclass, field

from gde.data.mdp import TabularMDP
from gde.data.observation import Optimum, State
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
        """What is best there."""
        if state not in self.known:
            best = tuple(self.mdp.actions[a] for a in self.solution.optimal[state].nonzero()[0])
            self.known[state] = Optimum(actions=best, value=float(self.solution.value[state]), means="solved")
        return self.known[state]


@dataclass
class Judge:
    """Says what is best, by the environment's own word or by solving it: again whenever the world has changed. Keeps
    what is known of the episode in the place where its environment is called."""

    told: Told | None = field(default=None, init=False)
    solved: Solved | None = field(default=None, init=False)
    success: float | None = field(default=0.0, init=False)
    """Of the last outcome."""

    def state(self, environment: Environment) -> State | None:
        """The truth alone."""
        told = self._told(environment)
        return told.state.state() if told.state else None

    def moment(self, environment: Environment) -> Moment:
        """The truth at this moment; nothing where the environment tells none."""
        told = self._told(environment)
        state = told.state.state() if told.state else None
        if told.optimum:
            return Moment(state, told.optimum.optimum())
        if state is None or state.index is None or told.mdp is None:
            return Moment(state, None)
        mdp = told.mdp.mdp()
        if self.solved is None or self.solved.mdp is not mdp:
            self.solved = Solved(mdp, solve(mdp))
        return Moment(state, self.solved.at(state.index))

    def _told(self, environment: Environment) -> Told:
        if self.told is None or self.told.by is not environment:
            self.told = Told.of(environment)
        return self.told
