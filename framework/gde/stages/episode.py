"""One episode from reset to its end in the journal, a function of the root seed and its key alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from numbers import Real

from gde.data.json import Labels
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.data.trajectory import Decision, Ending, EpisodeKey, Trajectory, Turn
from gde.errors import GdeError, RunFailed, Unavailable
from gde.offers import Facet
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment
from gde.request.resolve import Ready
from gde.seeding import derive
from gde.stages.asking import Scope, check_known
from gde.stages.context import WORLD_FACETS, Resources, agent_seed, check_world
from gde.stages.deadlines import Interruptible, limit
from gde.stages.failing import pass_on, reason_of
from gde.stages.hosting import Host
from gde.stages.judging import Judge, Moment
from gde.stages.simulating import Copy, Simulation
from gde.store.journal import Journal

CERTAIN = 1 + 1e-6
"""Of probabilities, which may be above 1 by rounding."""


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
    private: Host | None = None
    """Where the agent may try actions: the host of an environment that is lent to it alone; None for agents that try
    none."""
    begun: bool = False
    """Whether its world is in the journal."""

    async def play(self) -> tuple[Ending, State | None]:
        """Turn by turn to the end, and the state that it ends in."""
        judge, plan = Judge(), self.ready.plan
        async with limit(plan.episode_seconds, _late(plan.episode_seconds, "episode", "episode")):
            async with limit(plan.turn_seconds, _late(plan.turn_seconds, "beginning of the world", "turn")):
                opening = await self.host.call(begin_world, self.seed, judge)
            await self._begin(opening)
            scope = self.resources.models.scope(str(self.key))
            return await self._take_turns(self._agent(opening, scope), scope, opening, judge)

    async def _begin(self, opening: Opening) -> None:
        known = self.journal.world(str(self.key))
        if known is not None:
            check_world(known, opening.world)
        # What was swept is said by the plan, whatever the world calls by the same name.
        labels = {**opening.world.labels, **self.swept}
        await self.journal.begin(self.key, self.seed, opening.world, labels, opening.task.horizon)
        self.begun = True

    def _agent(self, opening: Opening, scope: Scope) -> Agent:
        chosen = self.ready.agent
        agent: Agent = self.resources.make(chosen, scope)
        lent = self.host.environment if WORLD_FACETS & chosen.needs else None
        seed = agent_seed(self.ready.plan.seed, self.key)
        simulator = None if self.private is None else self._simulator(self.private, opening, seed)
        agent.begin(Brief(task=opening.task, seed=seed, environment=lent, simulator=simulator))
        return agent

    def _simulator(self, private: Host, opening: Opening, dice: int) -> Simulation:
        needed = {facet for judge in self.ready.judges.values() for facet in judge.needs}
        begun = Trajectory(
            key=self.key,
            seed=self.seed,
            world=opening.world,
            labels={**opening.world.labels, **self.swept},
            horizon=opening.task.horizon,
            turns=(),
            ending="horizon",
        )
        return Simulation(begun, self.host, Copy(private, derive(dice, "simulator"), Facet.TRUE_REWARD in needed))

    async def _take_turns(
        self, agent: Agent, scope: Scope, opening: Opening, judge: Judge
    ) -> tuple[Ending, State | None]:
        known, observation, moment = self.journal.decisions(str(self.key)), opening.observation, opening.moment
        seconds = self.ready.plan.turn_seconds
        for index in range(opening.task.horizon):
            if known[index : index + 1] and known[index].status == "error":
                raise GdeError(known[index].detail)
            scope.turn = index
            late = _late(seconds, f"turn {index}", "turn")
            async with limit(seconds, late):
                decision, fault = await _decide(agent, observation, scope, seconds, late)
                outcome, after = await self.host.call(advance, observation, decision, judge)
            turn = turn_of(index, observation, decision, outcome, moment)
            if index < len(known):
                _check_repeated(index, known[index], decision)
            else:
                await self.journal.turn(self.key, turn)
            if decision.status == "error":
                raise GdeError(decision.detail) from fault
            observation, moment = outcome.observation, after
            if outcome.terminated or outcome.truncated:
                return "terminated" if outcome.terminated else "truncated", moment.state
        return "horizon", moment.state


def begin_world(environment: Environment, seed: int, judge: Judge) -> Opening:
    """Begin the world of a seed."""
    observation = environment.reset(seed)
    task = environment.task()
    if not 1 <= task.horizon < 2**63:
        raise ValueError(f"task() must give a horizon of 1 turn or more, got {task.horizon}")
    judge.actions = task.actions
    return Opening(observation, task, environment.world().asking(task), judge.moment(environment, observation))


def advance(
    environment: Environment, observation: Observation, decision: Decision, judge: Judge
) -> tuple[Outcome, Moment]:
    """What follows from a decision. An unusable one leaves the world as it is and uses up its turn."""
    if decision.action is None:
        return Outcome.running(observation, success=judge.success), judge.moment(environment, observation)
    outcome = environment.step(decision.action)
    if not isinstance(outcome, Outcome):
        raise TypeError(f"step must give an Outcome, got {outcome!r}")
    if not isinstance(outcome.reward, Real) or not isfinite(outcome.reward):
        raise ValueError(f"step must give a reward that is a finite number, got {outcome.reward!r}")
    judge.success = outcome.success
    over = outcome.terminated or outcome.truncated
    return outcome, judge.moment(environment, None if over else outcome.observation)


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


async def _decide(
    agent: Agent, observation: Observation, scope: Scope, seconds: float | None = None, late: str = ""
) -> tuple[Decision, BaseException | None]:
    """The decision, and what the agent has raised instead of making one."""
    try:
        acting = agent.act(observation)
        decision = await (acting if seconds is None else Interruptible(acting, seconds, late))
        if not isinstance(decision, Decision):
            raise TypeError(f"act must give a Decision, got {decision!r}")
        check_known(scope, decision.completion)
        if decision.status == "error" and scope.unanswered is not None:
            raise scope.unanswered
        return admitted(decision, observation), None
    except (RunFailed, Unavailable):
        raise
    except BaseException as error:
        pass_on(error)
        return Decision.unusable("error", reason_of(error)), error


def admitted(decision: Decision, observation: Observation) -> Decision:
    """The decision, which becomes unusable where its action is not admissible.

    Raises:
        ValueError: it tells probabilities that are none, or of what could not be chosen.
    """
    if decision.probabilities:
        _check_probabilities(decision.probabilities, observation)
    if decision.action is None or observation.actions is None or decision.action in observation.actions:
        return decision
    detail = f"wanted one of {', '.join(observation.actions)}, got {decision.action!r}"
    return replace(decision, status="invalid_action", action=None, detail=detail)


def _check_probabilities(probabilities: Mapping[str, float], observation: Observation) -> None:
    for action, share in probabilities.items():
        try:
            right = 0 <= share <= CERTAIN
        except TypeError:
            right = False
        if not right:
            raise ValueError(f"act must give probabilities from 0 to 1, got {share!r} of {action!r}")
        if observation.actions is not None and action not in observation.actions:
            listed = ", ".join(observation.actions)
            raise ValueError(f"act must give probabilities of admissible actions, of {listed}, got {action!r}")


def _check_repeated(index: int, known: Decision, decision: Decision) -> None:
    if (known.status, known.action) != (decision.status, decision.action):
        before, now = known.action or known.status, decision.action or decision.status
        raise GdeError(f"the agent is not a function of its seed: turn {index} was {before}, repeated it is {now}")


def _late(seconds: float | None, what: str, setting: str) -> str:
    return f"{what}: more than run.{setting}_seconds={seconds:g}" if seconds is not None else ""
