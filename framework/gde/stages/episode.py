"""One episode from beginning to end, a function of root seed and key alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Real
from textwrap import shorten
from typing import Any

from gde.data.json import Labels
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.data.trajectory import READ_AS, Decision, Ending, EpisodeKey, Trajectory, Turn
from gde.errors import GdeError, RunFailed, Unavailable
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment
from gde.seeding import derive
from gde.stages import given
from gde.stages.asking import Scope, check_known
from gde.stages.beginning import begin
from gde.stages.context import agent_seed, check_world
from gde.stages.deadlines import Interruptible, limit
from gde.stages.failing import pass_on, reason_of
from gde.stages.hosting import Host
from gde.stages.judging import Judge, Moment
from gde.stages.models import Models
from gde.stages.simulating import Copy, Simulation
from gde.stages.telling import Process
from gde.store.journal import Journal

CERTAIN = 1 + 1e-6
"""The largest probability, which rounding may leave above 1."""
GIVEN = 80
"""Most characters of an inadmissible action that its detail quotes."""


@dataclass(frozen=True)
class Opening:
    """The beginning of an episode."""

    observation: Observation
    task: Task
    world: World
    moment: Moment
    process: Process


@dataclass
class Episode:
    """One episode in an environment that is lent to it."""

    key: EpisodeKey
    root: int
    """The seed of the run."""
    seed: int
    """The seed of the world."""
    labels: Labels
    """The swept values of its condition."""
    host: Host
    """The environment."""
    models: Models
    make_agent: Callable[[Scope], Agent]
    """Makes an agent that asks models within the scope of this episode."""
    journal: Journal
    turn_seconds: float | None = None
    episode_seconds: float | None = None
    lends_world: bool = False
    """Whether the agent is given the environment."""
    private: Host | None = None
    """A second environment, in which the agent may try actions."""
    certified: bool = False
    """Whether the optimum of every tried situation is worked out."""
    goal_moved: bool = False
    """Whether its world has another goal than its own."""
    wants_process: bool = False
    """Whether the world's process is taken at its beginning: later it may be another."""
    begun: bool = field(default=False, init=False)
    """Whether the world is in the journal."""

    async def play(self) -> tuple[Trajectory, Process]:
        """Play turn by turn and give the episode, with its world's process."""
        judge = Judge()
        async with limit(
            self.episode_seconds, _late(self.episode_seconds, "episode", "episode")
        ):
            async with limit(
                self.turn_seconds,
                _late(self.turn_seconds, "beginning of the world", "turn"),
            ):
                opening = await self.host.call(
                    begin_world, self.seed, self.goal_moved, judge, self.wants_process
                )

            # The plan's word on a swept label goes before the world's.
            labels = {**opening.world.labels, **self.labels}
            known = self.journal.world(str(self.key))
            if known is not None:
                check_world(known, opening.world)
            await self.journal.begin(
                self.key, self.seed, opening.world, labels, opening.task.horizon
            )
            self.begun = True

            begun = Trajectory(
                key=self.key,
                seed=self.seed,
                world=opening.world,
                labels=labels,
                horizon=opening.task.horizon,
                turns=(),
                ending="horizon",
            )
            scope = self.models.scope(str(self.key))
            agent = self._begin_agent(scope, opening, begun)
            turns, ending, final = await self._take_turns(agent, scope, opening, judge)
            played = replace(
                begun, turns=tuple(turns), ending=ending, final_state=final
            )
            return played, opening.process

    def _begin_agent(self, scope: Scope, opening: Opening, begun: Trajectory) -> Agent:
        agent = self.make_agent(scope)
        seed = agent_seed(self.root, self.key)
        lent = self.host.environment if self.lends_world else None

        simulator = None
        if self.private is not None:
            simulator = Simulation(
                begun,
                self.host,
                Copy(
                    host=self.private,
                    goal_moved=self.goal_moved,
                    dice=derive(seed, "simulator"),
                    certified=self.certified,
                ),
            )

        agent.begin(
            Brief(task=opening.task, seed=seed, environment=lent, simulator=simulator)
        )
        return agent

    async def _take_turns(
        self, agent: Agent, scope: Scope, opening: Opening, judge: Judge
    ) -> tuple[list[Turn], Ending, State | None]:
        # Turns that were recorded before an interruption are repeated, from the answers
        # in the journal.
        known = self.journal.decisions(str(self.key))
        observation = opening.observation
        moment = opening.moment
        turns: list[Turn] = []

        for index in range(opening.task.horizon):
            recorded = known[index] if index < len(known) else None
            if recorded is not None and recorded.status == "error":
                raise GdeError(recorded.detail)

            scope.turn = index
            late = _late(self.turn_seconds, f"turn {index}", "turn")
            async with limit(self.turn_seconds, late):
                decision, fault = await self._decide(agent, observation, scope, late)
                outcome, after = await self.host.call(
                    advance, observation, decision, judge
                )

            turns.append(turn_of(index, observation, decision, outcome, moment))
            if recorded is None:
                await self.journal.turn(self.key, turns[-1])
            else:
                _check_repeated(index, recorded, turns[-1].decision)
            if decision.status == "error":
                raise GdeError(decision.detail) from fault

            observation = outcome.observation
            moment = after
            if outcome.terminated:
                return turns, "terminated", moment.state
            if outcome.truncated:
                return turns, "truncated", moment.state
        return turns, "horizon", moment.state

    async def _decide(
        self, agent: Agent, observation: Observation, scope: Scope, late: str
    ) -> tuple[Decision, BaseException | None]:
        """Give the decision, with the exception if the agent raised one."""
        try:
            acting = agent.act(observation)
            if self.turn_seconds is None:
                decision = await acting
            else:
                decision = await Interruptible(acting, self.turn_seconds, late)
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


def begin_world(
    environment: Environment,
    seed: int,
    goal_moved: bool,
    judge: Judge,
    wants_process: bool = False,
) -> Opening:
    """Begin the world of a seed."""
    observation, world = begin(environment, seed, goal_moved)
    task = environment.task()
    given.check_shown(observation, "reset")
    given.check_world(world)
    given.check_task(task)
    judge.actions = task.actions
    return Opening(
        observation,
        task,
        world.asking(task),
        judge.moment(environment, observation),
        _process(environment) if wants_process else None,
    )


def _process(environment: Any) -> Process:
    try:
        process: TabularMDP = environment.mdp()
    except BaseException as error:
        pass_on(error)
        # It matters to facts alone.
        return error
    return process


def advance(
    environment: Environment, observation: Observation, decision: Decision, judge: Judge
) -> tuple[Outcome, Moment]:
    """Take the decided step.

    An unusable decision leaves the world as it is and uses up its turn.
    """
    if decision.action is None:
        return Outcome.running(observation, success=judge.success), judge.moment(
            environment, observation
        )

    outcome = given.of_kind(environment.step(decision.action), Outcome, "step")
    if not isinstance(outcome.reward, Real) or not isfinite(outcome.reward):
        raise ValueError(
            f"step must give a reward that is a finite number, got {outcome.reward!r}"
        )

    given.check_shown(outcome.observation, "step")
    judge.success = outcome.success
    over = outcome.terminated or outcome.truncated
    return outcome, judge.moment(environment, None if over else outcome.observation)


def turn_of(
    index: int,
    observation: Observation,
    decision: Decision,
    outcome: Outcome,
    moment: Moment,
) -> Turn:
    """Make the record of one turn."""
    if outcome.unread:
        decision = replace(
            decision, status="unparsable", action=None, detail=outcome.unread
        )
    elif outcome.read:
        decision = replace(decision, detail=f"{READ_AS}{outcome.read}")
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


def admitted(decision: Decision, observation: Observation) -> Decision:
    """Give the decision, made unusable if its action is not admissible.

    Raises:
        ValueError: a probability is not in [0, 1], or is of an action that is not
            admissible.
    """
    if decision.probabilities:
        _check_probabilities(decision.probabilities, observation)
    if (
        decision.action is None
        or observation.actions is None
        or decision.action in observation.actions
    ):
        return decision
    named = shorten(repr(decision.action), GIVEN, placeholder="...'")
    advice = "give a name as it is written (gde.read_answer reads prose)"
    detail = f"{named} is no action: {advice}, one of {', '.join(observation.actions)}"
    return replace(decision, status="invalid_action", action=None, detail=detail)


def _check_probabilities(
    probabilities: Mapping[str, float], observation: Observation
) -> None:
    for action, share in probabilities.items():
        if not isinstance(share, Real) or not 0 <= share <= CERTAIN:
            raise ValueError(
                f"act must give probabilities from 0 to 1, got {share!r} of {action!r}"
            )
        if observation.actions is not None and action not in observation.actions:
            listed = ", ".join(observation.actions)
            raise ValueError(
                f"act must give probabilities of admissible actions, of {listed}, got {action!r}"
            )


def _check_repeated(index: int, recorded: Decision, decision: Decision) -> None:
    if (recorded.status, recorded.action) == (decision.status, decision.action):
        return
    before = recorded.action or recorded.status
    now = decision.action or decision.status
    raise GdeError(
        f"the agent is not deterministic: turn {index} was {before} and is {now} on replay"
    )


def _late(seconds: float | None, what: str, setting: str) -> str:
    return (
        f"{what}: more than run.{setting}_seconds={seconds:g}"
        if seconds is not None
        else ""
    )
