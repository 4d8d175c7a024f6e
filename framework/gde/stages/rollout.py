"""From plan to trajectories: concurrent episodes, journaled turn by turn."""

from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from itertools import accumulate, chain, groupby
from operator import itemgetter

from gde.data.trajectory import EpisodeKey
from gde.errors import RunFailed, Unavailable
from gde.offers import Capability, EnvironmentOffer
from gde.parts.environment import Environment, HasTasks
from gde.parts.snapshots import restorable
from gde.request.ready import Chosen, Ready
from gde.seeding import derive, generator
from gde.stages.context import WORLD_CAPABILITIES, Resources
from gde.stages.episode import Episode
from gde.stages.failing import pass_on, reason_of, traceback_of
from gde.stages.hosting import Host, Hosts
from gde.stages.outages import SecondChances
from gde.stages.telling import Teller
from gde.store.facts import keeping
from gde.store.journal import Journal

Tasks = tuple[tuple[str, ...], ...]
"""The names of listed worlds by task, one each unless the environment says more."""
Listed = tuple[Tasks, ...]
"""The worlds that each condition lists; empty for a condition where every seed makes
another world.
"""


def list_worlds(ready: Ready, resources: Resources) -> Listed:
    """List the worlds of each condition.

    Environments that may have a list are made to find out.

    Raises:
        GdeError: a list cannot be had.
    """
    return tuple(
        _listed(condition.environment, resources) for condition in ready.conditions
    )


def _listed(chosen: Chosen, resources: Resources) -> Tasks:
    if Capability.WORLDS not in chosen.entry.offer.gives:
        return ()
    with closing(resources.make(chosen)) as environment:
        names = tuple(environment.worlds())
        if not isinstance(environment, HasTasks):
            return tuple((name,) for name in names)
        tasks = zip(environment.tasks_of_worlds(), names, strict=True)
        groups = groupby(tasks, key=itemgetter(0))
        return tuple(tuple(name for _, name in group) for _, group in groups)


def remarks(ready: Ready, resources: Resources) -> tuple[str, ...]:
    """What the environments of a plan remark on their worlds, each sentence once."""
    said: dict[str, None] = {}
    for condition in ready.conditions:
        chosen = condition.environment
        if Capability.REMARKS in chosen.entry.offer.gives:
            with closing(resources.make(chosen)) as environment:
                said.update(dict.fromkeys(environment.remarks()))
    return tuple(said)


def digest(worlds: Listed) -> str:
    """Hash the lists of worlds; empty if there are none."""
    if not any(worlds):
        return ""
    names = "\n\n".join("\n".join(chain(*condition)) for condition in worlds)
    return sha256(names.encode()).hexdigest()[:16]


def count_episodes(ready: Ready, worlds: Listed) -> int:
    """Count the episodes of the plan."""
    return sum(1 for _ in episode_keys(ready, worlds))


def episode_keys(ready: Ready, worlds: Listed) -> Iterator[EpisodeKey]:
    """Yield every episode of the plan, in the order of the record.

    No condition has more worlds than it lists, and each has whole tasks.
    """
    for condition in range(len(ready.conditions)):
        for world in range(_n_worlds(ready, worlds, condition)):
            for repeat in range(ready.plan.repeats):
                yield EpisodeKey(condition=condition, world=world, repeat=repeat)


def _n_worlds(ready: Ready, worlds: Listed, condition: int) -> int:
    plan = ready.plan
    tasks = worlds[condition]
    if not tasks:
        return plan.episodes
    chosen = _drawn(plan.seed, len(tasks))[: plan.episodes]
    return sum(len(tasks[task]) for task in chosen)


async def roll_out(
    ready: Ready,
    resources: Resources,
    keys: Iterable[EpisodeKey],
    worlds: Listed,
    journal: Journal,
) -> None:
    """Play the episodes that the journal has not finished, `at_once` of them at a time.

    Raises:
        RunFailed: the journal cannot be written, or no request to a model succeeded.
            Other faults are recorded as the failure of their episode.
    """
    finished = journal.finished()
    left = (key for key in keys if str(key) not in finished)
    if ready.agent_model:
        resources.models.get(ready.agent_model)
    waiting = SecondChances(left, resources.models.reach)
    teller = Teller(ready, resources, journal)
    rollout = _Rollout(ready, resources, worlds, journal, teller, waiting)
    try:
        await waiting.handle(rollout.play, at_once(ready))
    finally:
        await rollout.close()


def at_once(ready: Ready) -> int:
    """Give the number of episodes that one worker plays at a time."""
    # An agent with a simulator has a second environment in every episode.
    environments = 2 if _simulated(ready) else 1
    most = ready.how.concurrency
    for condition in ready.conditions:
        offer = condition.environment.entry.offer
        assert isinstance(offer, EnvironmentOffer)
        if offer.at_once is not None:
            most = min(most, max(1, offer.at_once // environments))
    return most


def _simulated(ready: Ready) -> bool:
    return Capability.SIMULATOR in ready.agent.needs


@dataclass
class _Rollout:
    """The episodes that one worker plays, and their environments."""

    ready: Ready
    resources: Resources
    worlds: Listed
    journal: Journal
    teller: Teller
    waiting: SecondChances[EpisodeKey]

    def __post_init__(self) -> None:
        how = self.ready.how
        limits = {how.turn_seconds, how.episode_seconds, how.run_seconds}
        deadlines = limits != {None}
        simulated = _simulated(self.ready)
        self._hosts: list[Hosts] = []
        self._private: list[Hosts] = []
        for condition in self.ready.conditions:
            make = partial(_make, self.resources, condition.environment, simulated)
            offer = condition.environment.entry.offer
            assert isinstance(offer, EnvironmentOffer)
            threaded = deadlines or offer.blocking
            self._hosts.append(Hosts(make, threaded))
            self._private.append(Hosts(make, threaded))

    async def close(self) -> None:
        """Close all environments."""
        for hosts in (*self._hosts, *self._private):
            await hosts.close()

    async def play(self, key: EpisodeKey) -> None:
        """Play an episode and record its end.

        Whatever a part raises fails this episode alone. If a model is out of reach, the
        episode is played again later.
        """
        seed = seed_of(self.ready, self.worlds, key)
        second = (
            self._private[key.condition].borrow()
            if _simulated(self.ready)
            else nullcontext()
        )
        episode: Episode | None = None
        try:
            async with self._hosts[key.condition].borrow() as host, second as private:
                episode = self._episode(key, seed, host, private)
                try:
                    played, process = await episode.play()
                except GeneratorExit as error:
                    # `borrow` is a generator, to which this would mean that itself is
                    # closed.
                    raise RuntimeError(f"GeneratorExit: {error}") from error
                facts = self.teller.facts(played, process)
                also = [keeping(str(key), facts)] if facts else []
                final = played.final_state
                await self.journal.end(key, played.ending, "", final, also)
        except RunFailed:
            raise
        except BaseException as error:
            pass_on(error)
            if isinstance(error, Unavailable) and self.waiting.put_back(
                key, str(key), error
            ):
                return
            reason = reason_of(error)
            self.journal.tell_failure(f"episode {key}", reason, traceback_of(error))
            if episode is not None and episode.begun:
                await self.journal.end(key, "failed", reason, None)
            else:
                await self.journal.fail(key, seed, reason)

    def _episode(
        self, key: EpisodeKey, seed: int, host: Host, private: Host | None
    ) -> Episode:
        ready = self.ready
        condition = ready.conditions[key.condition]
        return Episode(
            key=key,
            root=ready.plan.seed,
            seed=seed,
            labels=condition.labels,
            goal_moved=condition.goal_moved,
            wants_process=self.teller.wants_process(key.condition),
            host=host,
            models=self.resources.models,
            make_agent=partial(self.resources.make, ready.agent),
            journal=self.journal,
            turn_seconds=ready.how.turn_seconds,
            episode_seconds=ready.how.episode_seconds,
            lends_world=bool(WORLD_CAPABILITIES & ready.agent.needs),
            private=private,
            certified=any(
                Capability.TRUE_REWARD in judge.needs for judge in ready.judges.values()
            ),
        )


def _make(resources: Resources, chosen: Chosen, simulated: bool) -> Environment:
    environment: Environment = resources.make(chosen)
    return restorable(environment) if simulated else environment


def seed_of(ready: Ready, worlds: Listed, key: EpisodeKey) -> int:
    """Give the seed of an episode's world."""
    sizes = tuple(map(len, worlds[key.condition]))
    return world_seed(ready.plan.seed, key.world, sum(sizes), sizes)


def world_seed(
    root: int, world: int, n_listed: int, sizes: tuple[int, ...] = ()
) -> int:
    """Give the seed of a world.

    Worlds do not depend on the condition, so that conditions whose settings leave the
    world alone are compared on the same worlds. Each listed world comes once, in an
    order drawn by the root seed, in which the worlds of a task follow one another.

    Args:
        root: the seed of the run.
        world: its number in the run.
        n_listed: number of listed worlds; 0 where every seed makes another.
        sizes: number of worlds of each task; empty for one each.
    """
    seed = derive(root, "world", world)
    if not n_listed:
        return seed
    place = _order(root, sizes or (1,) * n_listed)[world]
    # The place is the seed modulo n_listed. The rest stays this world's own randomness,
    # within 63 bits.
    return (seed >> 32) * n_listed + place


@lru_cache(maxsize=8)
def _order(root: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The places of listed worlds in the order of the run; every episode asks for it."""
    ends = [*accumulate(sizes)]
    places = [range(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    tasks = (places[task] for task in _drawn(root, len(sizes)))
    return tuple(chain.from_iterable(tasks))


@lru_cache(maxsize=8)
def _drawn(root: int, n_tasks: int) -> tuple[int, ...]:
    """Draw the order of tasks."""
    return tuple(generator(root, "worlds").permutation(n_tasks).tolist())
