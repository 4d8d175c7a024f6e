"""One episode from reset to its end in the journal, a function of the root seed and its key alone."""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Real
from typing import Any

from gde.data.json import Labels
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Optimum, Outcome, State, Task, World
from gde.data.trajectory import Decision, Ending, EpisodeKey, Turn
from gde.errors import FAULTS, GdeError, RunFailed, Unavailable
from gde.numerics.tabular import solve
from gde.offers import Facet
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment, HasMDP, HasOptimum, HasState
from gde.request.resolve import Ready
from gde.seeding import derive
from gde.stages.context import Resources
from gde.stages.evidence import check_world
from gde.stages.hosting import Host
from gde.stages.models import Scope, check_known
from gde.store.journal import Journal

WORLD_FACETS = frozenset({Facet.MDP, Facet.OPTIMUM, Facet.DEMONSTRATION, Facet.SNAPSHOT})
"""An agent that needs one of these is given the environment itself."""


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


@dataclass
class Judge:
    """Says what is best, by the environment's own word or by solving it: again whenever the world has changed. Keeps
    what is known of the episode in the place where its environment is called."""

    told: Told | None = field(default=None, init=False)
    mdp: TabularMDP | None = field(default=None, init=False)
    success: float | None = field(default=0.0, init=False)
    """Of the last outcome."""

    def moment(self, environment: Environment) -> Moment:
        """The truth at this moment; nothing where the environment tells none."""
        if self.told is None or self.told.by is not environment:
            self.told = Told.of(environment)
        told = self.told
        state = told.state.state() if told.state else None
        if told.optimum:
            return Moment(state, told.optimum.optimum())
        if state is None or state.index is None or told.mdp is None:
            return Moment(state, None)
        mdp = told.mdp.mdp()
        if mdp is not self.mdp:
            self.mdp, self._solution = mdp, solve(mdp)
        best = tuple(mdp.actions[a] for a in self._solution.optimal[state.index].nonzero()[0])
        value = float(self._solution.value[state.index])
        return Moment(state, Optimum(actions=best, value=value, means="solved"))


@dataclass(frozen=True)
class Opening:
    """What an episode begins with."""

    observation: Observation
    task: Task
    world: World
    moment: Moment


@dataclass
class Episode:
    """One episode in an environment that is lent to it."""

    ready: Ready
    resources: Resources
    key: EpisodeKey
    seed: int
    """Of the world."""
    swept: Labels
    """The values of the stratum."""
    host: Host
    journal: Journal
    begun: bool = False
    """Whether its world is in the journal."""

    async def play(self) -> tuple[Ending, State | None]:
        """Turn by turn to the end, and the state that it ends in."""
        judge, plan = Judge(), self.ready.plan
        async with _limit(plan.episode_seconds, "episode"):
            async with _limit(plan.turn_seconds, "beginning of the world", "turn"):
                opening = await self.host.call(begin_world, self.seed, judge)
            await self._begin(opening)
            scope = self.resources.models.scope(str(self.key))
            return await self._take_turns(self._agent(opening.task, scope), scope, opening, judge)

    async def _begin(self, opening: Opening) -> None:
        known = self.journal.world(str(self.key))
        if known is not None:
            check_world(known, opening.world)
        # What was swept is said by the plan, whatever the world calls by the same name.
        labels = {**opening.world.labels, **self.swept}
        await self.journal.begin(self.key, self.seed, opening.world, labels, opening.task.horizon)
        self.begun = True

    def _agent(self, task: Task, scope: Scope) -> Agent:
        chosen, plan = self.ready.agent, self.ready.plan
        agent: Agent = self.resources.make(chosen, scope)
        lent = self.host.environment if WORLD_FACETS & chosen.entry.offer.needs else None
        seed = derive(plan.seed, "agent", self.key.stratum, self.key.world, self.key.repeat)
        agent.begin(Brief(task=task, seed=seed, environment=lent))
        return agent

    async def _take_turns(
        self, agent: Agent, scope: Scope, opening: Opening, judge: Judge
    ) -> tuple[Ending, State | None]:
        known, observation, moment = self.journal.decisions(str(self.key)), opening.observation, opening.moment
        for index in range(opening.task.horizon):
            if known[index : index + 1] and known[index].status == "error":
                raise GdeError(known[index].detail)
            scope.turn = index
            async with _limit(self.ready.plan.turn_seconds, f"turn {index}", "turn"):
                decision = await _decide(agent, observation, scope)
                outcome, after = await self.host.call(advance, observation, decision, judge)
            turn = turn_of(index, observation, decision, outcome, moment)
            if index < len(known):
                _check_repeated(index, known[index], decision)
            else:
                await self.journal.turn(self.key, turn)
            if decision.status == "error":
                raise GdeError(decision.detail)
            observation, moment = outcome.observation, after
            if outcome.terminated or outcome.truncated:
                return "terminated" if outcome.terminated else "truncated", moment.state
        return "horizon", moment.state


def begin_world(environment: Environment, seed: int, judge: Judge) -> Opening:
    """Begin the world of a seed."""
    observation = environment.reset(seed)
    return Opening(observation, environment.task(), environment.world(), judge.moment(environment))


def advance(
    environment: Environment, observation: Observation, decision: Decision, judge: Judge
) -> tuple[Outcome, Moment]:
    """What follows from a decision. An unusable one leaves the world as it is and uses up its turn."""
    if decision.action is None:
        return Outcome.running(observation, success=judge.success), judge.moment(environment)
    outcome = environment.step(decision.action)
    if not isinstance(outcome, Outcome):
        raise TypeError(f"step must give an Outcome, got {outcome!r}")
    if not isinstance(outcome.reward, Real) or not isfinite(outcome.reward):
        raise ValueError(f"step must give a reward that is a finite number, got {outcome.reward!r}")
    judge.success = outcome.success
    return outcome, judge.moment(environment)


def turn_of(index: int, observation: Observation, decision: Decision, outcome: Outcome, moment: Moment) -> Turn:
    """The record of one turn."""
    return Turn(
        index=index,
        observation=observation,
        decision=decision,
        reward=outcome.reward,
        terminated=outcome.terminated,
        truncated=outcome.truncated,
        success=outcome.success,
        state=moment.state,
        optimal=moment.optimum.actions if moment.optimum else None,
        value=moment.optimum.value if moment.optimum else None,
    )


async def _decide(agent: Agent, observation: Observation, scope: Scope) -> Decision:
    try:
        decision = await agent.act(observation)
        if not isinstance(decision, Decision):
            raise TypeError(f"act must give a Decision, got {decision!r}")
        check_known(scope, decision.completion)
        if decision.status == "error" and scope.unanswered is not None:
            raise scope.unanswered
    except asyncio.CancelledError as error:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise  # a deadline or the end of the run, not the agent's own doing
        return Decision.unusable("error", reason_of(error))
    except (RunFailed, Unavailable):
        raise
    except FAULTS as error:
        return Decision.unusable("error", reason_of(error))
    return admitted(decision, observation)


def admitted(decision: Decision, observation: Observation) -> Decision:
    """The decision, which becomes unusable where its action is not admissible."""
    if decision.action is None or observation.actions is None or decision.action in observation.actions:
        return decision
    detail = f"wanted one of {', '.join(observation.actions)}, got {decision.action!r}"
    return replace(decision, status="invalid_action", action=None, detail=detail)


def _check_repeated(index: int, known: Decision, decision: Decision) -> None:
    if (known.status, known.action) != (decision.status, decision.action):
        before, now = known.action or known.status, decision.action or decision.status
        raise GdeError(f"the agent is not a function of its seed: turn {index} was {before}, repeated it is {now}")


def _limit(seconds: float | None, what: str, setting: str = "episode") -> AbstractAsyncContextManager[Any]:
    return nullcontext() if seconds is None else _Limit(seconds, f"{what}: more than run.{setting}_seconds={seconds:g}")


class _Limit:
    """A deadline that says what it was for."""

    def __init__(self, seconds: float, message: str) -> None:
        self._timeout, self._message = asyncio.timeout(seconds), message

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        try:
            await self._timeout.__aexit__(*error)
        except TimeoutError:
            raise Overdue(self._message) from None


class Overdue(GdeError, TimeoutError):
    """A deadline of the plan has passed."""


def reason_of(error: BaseException) -> str:
    """An exception in one line: the message where it was expected, with its type where it was not."""
    text = str(error) if isinstance(error, GdeError) else f"{type(error).__name__}: {error}"
    return text.encode("utf-8", "replace").decode()  # halves of characters are in no file
