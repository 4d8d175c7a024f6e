"""Agents whose behaviour is known beforehand. Every choice is a function of the brief's
seed and the turn alone.
"""

from collections.abc import Sequence
from math import inf

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.numerics.tabular import solve
from gde.parts.agent import Brief
from gde.parts.environment import HasDemonstration, HasMDP, HasOptimum, HasState
from gde.seeding import derive
from gde_plugins.baselines.config import NoisyConfig, OptimalConfig


class _Dice:
    """Random numbers keyed by turn, so that a turn's draw does not depend on what was
    drawn before.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._turn = 0

    def next_turn(self) -> None:
        self._turn += 1

    def choose(self, options: Sequence[str], what: str) -> str:
        return options[derive(self._seed, what, self._turn) % len(options)]

    def happens(self, p: float) -> bool:
        return derive(self._seed, "slip", self._turn) < p * 2**63


class RandomAgent:
    """Takes a uniformly random admissible action."""

    def begin(self, brief: Brief) -> None:
        self._dice = _Dice(brief.seed)

    async def act(self, observation: Observation) -> Decision:
        self._dice.next_turn()
        return _random_action(observation, self._dice)


class OracleAgent:
    """Takes an optimal action, except for slips. It asks the environment what is best,
    not the observation.
    """

    _slip = 0.0
    """Probability of a random action."""

    def __init__(self, config: OptimalConfig) -> None:
        self._ties = config.ties

    def begin(self, brief: Brief) -> None:
        """Take hold of the episode's environment.

        Raises:
            GdeError: it does not know what is optimal.
        """
        self._dice = _Dice(brief.seed)
        self._world = brief.environment
        if not isinstance(self._world, HasOptimum | HasMDP):
            raise GdeError(
                "an optimal agent needs an environment that knows what is optimal: take the agent random"
            )

    async def act(self, observation: Observation) -> Decision:
        self._dice.next_turn()
        if self._dice.happens(self._slip):
            return _random_action(observation, self._dice)
        best = self._best(observation)
        if not best:
            return Decision.unusable(
                "error", "no action is optimal here: no end can be reached any more"
            )
        return Decision.act(
            best[0] if self._ties == "first" else self._dice.choose(best, "optimal")
        )

    def _best(self, observation: Observation) -> Sequence[str]:
        world = self._world
        if isinstance(world, HasOptimum):
            told = world.optimum()
            if told and told.value == -inf:
                # In an impossible world all actions are alike.
                return observation.actions or ()
            return told.actions if told else ()
        if not isinstance(world, HasMDP):
            return ()
        mdp = world.mdp()
        optimal = solve(mdp).optimal[world.state().index]
        return [mdp.actions[action] for action in optimal.nonzero()[0]]


class NoisyAgent(OracleAgent):
    """Slips with a fixed probability."""

    def __init__(self, config: NoisyConfig) -> None:
        super().__init__(OptimalConfig())
        self._slip = config.p


class ExplorerAgent(OracleAgent):
    """Takes an action that is best by what can be known so far; where nothing is
    hidden, an optimal one.

    Worlds that hide something say in the fact `belief_optimal` of their state which
    actions those are.
    """

    def _best(self, observation: Observation) -> Sequence[str]:
        if isinstance(self._world, HasState):
            believed = self._world.state().facts.get("belief_optimal")
            if isinstance(believed, list | tuple):
                return [str(action) for action in believed]
        return super()._best(observation)


class ExpertAgent:
    """Does what the environment demonstrates; it asks again when that is at its end or
    cannot be gone on with.
    """

    def begin(self, brief: Brief) -> None:
        """Take hold of the episode's environment.

        Raises:
            GdeError: it demonstrates nothing.
        """
        if not isinstance(brief.environment, HasDemonstration):
            raise GdeError(
                "an expert needs an environment that gives demonstrations: take the agent optimal or random"
            )
        self._shown: HasDemonstration = brief.environment
        self._left: list[str] = []

    async def act(self, observation: Observation) -> Decision:
        if not self._left or (
            observation.actions is not None and self._left[0] not in observation.actions
        ):
            self._left = list(self._shown.demonstration())
        if not self._left:
            return Decision.unusable(
                "error", "the environment knows no way from here to its goal"
            )
        return Decision.act(self._left.pop(0))


def _random_action(observation: Observation, dice: _Dice) -> Decision:
    if not observation.actions:
        return Decision.unusable(
            "error",
            "a random action needs a list of admissible ones, the observation has none: take an agent that writes text",
        )
    return Decision.act(dice.choose(observation.actions, "random"))
