"""Plan to trajectories: concurrent episodes, each a function of the root seed and its key alone."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, World
from gde.data.trajectory import Decision, Ending, EpisodeKey, Turn
from gde.errors import GdeError, RunFailed
from gde.numerics.tabular import solve
from gde.offers import Facet
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment, HasModel, HasState
from gde.parts.language_model import LanguageModel
from gde.request.resolve import Chosen, Ready
from gde.seeding import derive, generator
from gde.stages.evidence import check_world
from gde.stages.replay import Remembering
from gde.store.journal import Journal


def episode_keys(ready: Ready) -> list[EpisodeKey]:
    """Every episode of the plan, in the order of the record. No stratum has more worlds than it lists.

    Raises:
        GdeError: a list of worlds cannot be had.
    """
    plan = ready.plan
    return [
        EpisodeKey(stratum=stratum, world=world, repeat=repeat)
        for stratum in range(len(ready.strata))
        for world in range(min(plan.episodes, len(ready.worlds[stratum]) or plan.episodes))
        for repeat in range(plan.repeats)
    ]


async def roll_out(ready: Ready, keys: Sequence[EpisodeKey], journal: Journal) -> None:
    """Run the episodes that the journal has not finished, `plan.concurrency` at a time.

    Raises:
        RunFailed: the journal cannot be written. What goes wrong inside an episode is recorded as its failure.
    """
    finished = journal.finished()
    model = ready.model
    if model is not None:
        journal.note("model", asdict(model.info))
    pool = _EnvironmentPool(ready)
    places = asyncio.Semaphore(ready.plan.concurrency)

    async def run(key: EpisodeKey) -> None:
        async with places:
            await _run_episode(ready, key, pool, model, journal)

    try:
        async with asyncio.TaskGroup() as group:
            for key in keys:
                if str(key) not in finished:
                    group.create_task(run(key))
    except* RunFailed as failures:
        raise failures.exceptions[0] from None
    finally:
        pool.close()


async def _run_episode(
    ready: Ready, key: EpisodeKey, pool: "_EnvironmentPool", model: LanguageModel | None, journal: Journal
) -> None:
    """Whatever goes wrong in a part of a plugin ends this episode as failed, with the reason."""
    seed = _world_seed(ready.plan.seed, key.world, len(ready.worlds[key.stratum]))
    episode: _Episode | None = None
    try:
        with pool.borrow(key.stratum) as environment:
            episode = _Episode(ready, key, environment, model, journal)
            ending = await episode.play(seed)
            await journal.end(key, ending, "", episode.state())
    except RunFailed:
        raise
    except Exception as error:
        if episode is not None and episode.begun:
            await journal.end(key, "failed", _reason(error), None)
        else:
            await journal.fail(key, seed, _reason(error))


def _world_seed(root: int, world: int, n_listed: int) -> int:
    """The seed that a world begins with. Of listed worlds each comes once, in an order drawn by the root seed."""
    # Worlds do not depend on the stratum: settings that leave the world alone are compared on the same worlds.
    seed = derive(root, "world", world)
    if not n_listed:
        return seed
    place = _order(root, n_listed)[world]
    # Still a number of its own for everything else that is random in the world, and within 63 bits.
    return (seed >> 32) * n_listed + place


@lru_cache(maxsize=8)
def _order(root: int, n_listed: int) -> tuple[int, ...]:
    """In which listed worlds come; asked for by every episode."""
    return tuple(generator(root, "worlds").permutation(n_listed).tolist())


class _EnvironmentPool:
    """Environments are made once per place in flight and used by one episode at a time."""

    def __init__(self, ready: Ready) -> None:
        self._choices: list[Chosen] = [stratum.environment for stratum in ready.strata]
        self._free: list[list[Environment]] = [[] for _ in ready.strata]

    @contextmanager
    def borrow(self, stratum: int) -> Iterator[Environment]:
        """An environment of the stratum, given back afterwards; one that failed is not used again."""
        free = self._free[stratum]
        environment = free.pop() if free else self._choices[stratum].make()
        try:
            yield environment
        except BaseException:
            with suppress(Exception):
                environment.close()
            raise
        free.append(environment)

    def close(self) -> None:
        for environment in (each for free in self._free for each in free):
            environment.close()


@dataclass
class _Episode:
    """One episode from reset to its end in the journal."""

    ready: Ready
    key: EpisodeKey
    environment: Environment
    model: LanguageModel | None
    journal: Journal
    begun: bool = False
    """Whether its world is in the journal."""

    async def play(self, seed: int) -> Ending:
        """The episode in the world of this seed, turn by turn."""
        plan, key, environment = self.ready.plan, self.key, self.environment
        observation = environment.reset(seed)
        task, world = environment.task(), environment.world()
        # What was swept is said by the plan, whatever the world calls by the same name.
        labels = {**world.labels, **self.ready.strata[key.stratum].labels}
        self._check_world(world)
        await self.journal.begin(key, seed, world, labels, task.horizon)
        self.begun = True
        memory = Remembering(self.model, self.journal.calls(str(key))) if self.model else None
        agent = self.ready.agent.make()
        agent.begin(
            Brief(
                task=task,
                seed=derive(plan.seed, "agent", key.stratum, key.world, key.repeat),
                language_model=memory,
                oracle=self._oracle(),
            )
        )
        return await self._take_turns(agent, memory, observation, task.horizon)

    async def _take_turns(
        self, agent: Agent, memory: Remembering | None, observation: Observation, horizon: int
    ) -> Ending:
        environment, known = self.environment, self.journal.decisions(str(self.key))
        oracle = _Oracle(environment)
        for index in range(horizon):
            if known[index : index + 1] and known[index].status == "error":
                raise GdeError(known[index].detail)
            state = self.state()
            certified = oracle.judge(state)
            decision = await _decide(agent, observation)
            outcome = _apply(environment, observation, decision)
            turn = Turn(
                index=index,
                observation=observation,
                decision=decision,
                reward=outcome.reward,
                terminated=outcome.terminated,
                truncated=outcome.truncated,
                state=state,
                **certified,
            )
            calls = memory.take() if memory else ()
            if index < len(known):
                _check_repeated(index, known[index], decision)
            else:
                await self.journal.turn(self.key, turn, calls)
            if decision.status == "error":
                raise GdeError(decision.detail)
            if outcome.terminated or outcome.truncated:
                return "terminated" if outcome.terminated else "truncated"
            observation = outcome.observation
        return "horizon"

    def _check_world(self, world: World) -> None:
        """On resuming, the world must be the one that the record knows."""
        known = self.journal.world(str(self.key))
        if known is not None:
            check_world(known, world)

    def state(self) -> State | None:
        """The truth at this moment, where the environment tells it."""
        return self.environment.state() if isinstance(self.environment, HasState) else None

    def _oracle(self) -> HasModel | None:
        wanted = Facet.MODEL in self.ready.agent.entry.offer.needs
        return self.environment if wanted and isinstance(self.environment, HasModel) else None


class _Oracle:
    """Solves the environment's model, and again whenever the world has changed and there is another model."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._model: TabularMDP | None = None

    def judge(self, state: State | None) -> dict[str, Any]:
        """The optimal actions and the value of a state, as fields of its turn; nothing without a model."""
        if state is None or state.index is None or not isinstance(self._environment, HasModel):
            return {}
        model = self._environment.model()
        if model is not self._model:
            self._model, self._solution = model, solve(model)
        optimal = tuple(model.actions[a] for a in self._solution.optimal[state.index].nonzero()[0])
        return {"optimal": optimal, "value": float(self._solution.value[state.index])}


async def _decide(agent: Agent, observation: Observation) -> Decision:
    try:
        decision = await agent.act(observation)
    except Exception as error:
        return Decision.unusable("error", _reason(error))
    if decision.action is None or observation.actions is None or decision.action in observation.actions:
        return decision
    detail = f"wanted one of {', '.join(observation.actions)}, got {decision.action!r}"
    return replace(decision, status="invalid_action", action=None, detail=detail)


def _apply(environment: Environment, observation: Observation, decision: Decision) -> Outcome:
    """An unusable decision leaves the world as it is and uses up its turn."""
    return Outcome.running(observation) if decision.action is None else environment.step(decision.action)


def _check_repeated(index: int, known: Decision, decision: Decision) -> None:
    if (known.status, known.action) != (decision.status, decision.action):
        before, now = known.action or known.status, decision.action or decision.status
        raise GdeError(f"the agent is not a function of its seed: turn {index} was {before}, repeated it is {now}")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, GdeError) else f"{type(error).__name__}: {error}"
