"""Plan to trajectories: concurrent episodes, each in the journal as soon as it has something to keep."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing, closing, nullcontext
from functools import lru_cache, partial
from hashlib import sha256

from gde.data.trajectory import EpisodeKey
from gde.errors import RunFailed, Unavailable
from gde.offers import EnvironmentOffer, Facet
from gde.parts.environment import Environment
from gde.parts.snapshots import restorable
from gde.request.resolve import Chosen, Ready
from gde.seeding import derive, generator
from gde.stages.collecting import collecting_seldom
from gde.stages.context import Resources
from gde.stages.episode import Episode
from gde.stages.failing import pass_on, reason_of, traceback_of
from gde.stages.hosting import Hosts
from gde.stages.outages import SecondChances
from gde.store.journal import Journal

Listed = tuple[tuple[str, ...], ...]
"""Names of the worlds that each stratum lists, none where every seed makes another."""


def list_worlds(ready: Ready, resources: Resources) -> Listed:
    """The lists of worlds. Environments that may have a list are made to find out.

    Raises:
        GdeError: a list cannot be had.
    """
    return tuple(_listed(stratum.environment, resources) for stratum in ready.strata)


def digest(worlds: Listed) -> str:
    """Equal for equal lists of worlds; empty where there are none."""
    names = "\n\n".join("\n".join(stratum) for stratum in worlds)
    return sha256(names.encode()).hexdigest()[:16] if any(worlds) else ""


def count_episodes(ready: Ready, worlds: Listed) -> int:
    """How many episodes the plan has."""
    return sum(_n_worlds(ready, worlds, stratum) for stratum in range(len(ready.strata))) * ready.plan.repeats


def episode_keys(ready: Ready, worlds: Listed) -> Iterator[EpisodeKey]:
    """Every episode of the plan, in the order of the record. No stratum has more worlds than it lists."""
    for stratum in range(len(ready.strata)):
        for world in range(_n_worlds(ready, worlds, stratum)):
            for repeat in range(ready.plan.repeats):
                yield EpisodeKey(stratum=stratum, world=world, repeat=repeat)


async def roll_out(
    ready: Ready, resources: Resources, keys: Iterable[EpisodeKey], worlds: Listed, journal: Journal
) -> None:
    """Run the episodes that the journal has not finished, `plan.concurrency` at a time, or as many as the environment
    can have at once.

    Raises:
        RunFailed: the journal cannot be written, or a model answers nobody. What goes wrong inside an episode is
            recorded as its failure.
    """
    finished = journal.finished()
    if ready.agent_model:
        resources.models.get(ready.agent_model)
    plan = ready.plan
    threads = any(each is not None for each in (plan.turn_seconds, plan.episode_seconds, plan.run_seconds))
    simulated = _simulated(ready)
    makers = [partial(_make, resources, stratum.environment, simulated) for stratum in ready.strata]
    hosts = [Hosts(make, threads) for make in makers]
    private = [Hosts(make, threads) for make in makers] if simulated else []
    waiting = SecondChances((key for key in keys if str(key) not in finished), resources.models.reach)

    async def work() -> None:
        async with aclosing(waiting.each()) as keys:
            async for key in keys:
                alone = private[key.stratum] if simulated else None
                await _run_episode(ready, resources, key, hosts[key.stratum], alone, worlds, journal, waiting)

    try:
        with collecting_seldom():
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once(ready)):
                    group.create_task(work())
    except* RunFailed as failures:
        raise failures.exceptions[0] from None
    finally:
        for each in (*hosts, *private):
            await each.close()


def at_once(ready: Ready) -> int:
    """How many episodes one worker has under way."""
    most = ready.plan.concurrency
    environments = 2 if _simulated(ready) else 1
    for stratum in ready.strata:
        offer = stratum.environment.entry.offer
        assert isinstance(offer, EnvironmentOffer)
        if offer.at_once is not None:
            most = min(most, max(1, offer.at_once // environments))
    return most


def _simulated(ready: Ready) -> bool:
    """Whether every episode has a second environment."""
    return Facet.SIMULATOR in ready.agent.needs


def _make(resources: Resources, chosen: Chosen, simulated: bool) -> Environment:
    environment: Environment = resources.make(chosen)
    return restorable(environment) if simulated else environment


async def _run_episode(
    ready: Ready,
    resources: Resources,
    key: EpisodeKey,
    hosts: Hosts,
    private: Hosts | None,
    worlds: Listed,
    journal: Journal,
    waiting: SecondChances[EpisodeKey],
) -> None:
    """Whatever goes wrong in a part of a plugin ends this episode as failed, with the reason. Where a model answers
    nobody at the moment, it comes again."""
    seed = seed_of(ready, worlds, key)
    episode: Episode | None = None
    try:
        async with hosts.borrow() as host, private.borrow() if private else nullcontext() as alone:
            labels = ready.strata[key.stratum].labels
            episode = Episode(ready, resources, key, seed, labels, host, journal, private=alone)
            try:
                ending, final = await episode.play()
            except GeneratorExit as error:  # to the generator that lends the host it would mean that itself is closed
                raise RuntimeError(f"GeneratorExit: {error}") from error
            await journal.end(key, ending, "", final)
    except RunFailed:
        raise
    except BaseException as error:
        pass_on(error)
        if isinstance(error, Unavailable) and waiting.put_back(key, str(key), error):
            return
        journal.keep_traceback(reason_of(error), traceback_of(error))
        if episode is not None and episode.begun:
            await journal.end(key, "failed", reason_of(error), None)
        else:
            await journal.fail(key, seed, reason_of(error))


def seed_of(ready: Ready, worlds: Listed, key: EpisodeKey) -> int:
    """The seed of an episode's world."""
    return world_seed(ready.plan.seed, key.world, len(worlds[key.stratum]))


def _listed(chosen: Chosen, resources: Resources) -> tuple[str, ...]:
    if Facet.WORLDS not in chosen.entry.offer.gives:
        return ()
    with closing(resources.make(chosen)) as environment:
        return tuple(environment.worlds())


def _n_worlds(ready: Ready, worlds: Sequence[Sequence[str]], stratum: int) -> int:
    return min(ready.plan.episodes, len(worlds[stratum]) or ready.plan.episodes)


def world_seed(root: int, world: int, n_listed: int) -> int:
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
