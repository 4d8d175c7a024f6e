"""The whole benchmark as files: in parallel, and going on where it was stopped."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from gde.data.json import Json
from gde.errors import GdeError
from gde.parts.executor import Executor
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import Domain, Settings, offer_of
from gde_plugins.reward_prediction.files import is_written, write_pair
from gde_plugins.reward_prediction.maker import Maker
from gde_plugins.reward_prediction.recipe import keep_recipe
from gde_plugins.reward_prediction.record import Pair, task_name

CHUNK = 25
"""Tasks that a worker makes at most with one opening of the environments: a simulator takes longer to start than to
make a pair."""
TURNS = 4
"""Chunks that a worker gets at least where there are several, so that none has all that take long."""
Watch = Callable[[str, int, int], None]
"""Told a domain, how many of its tasks are done, and of how many."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What of one domain is to be built."""

    domain: Domain
    recipe: Recipe
    n_tasks: int
    settings: Settings
    folder: Path

    @property
    def kept(self) -> dict[str, Json]:
        """What all pairs of the folder have in common; there may be any number of them."""
        asked = {f"{self.domain.name}.{name}": value for name, value in self.settings.items()}
        return {**asdict(self.recipe), **asked}


@dataclass(frozen=True, kw_only=True)
class Built:
    """What came of it."""

    domain: str
    pairs: int
    """There now, those of an earlier build included."""
    failures: tuple[str, ...]
    """Why tasks are missing; one line for a domain that cannot be had."""
    seconds: float
    megabytes: float


def build_domain(order: Order, executor: Executor, watch: Watch) -> Built:
    """Make the tasks that are not yet in the folder. A task that fails is told of, and the others are made.

    Raises:
        ConfigError: the folder has pairs that were made otherwise.
        RunFailed: a file cannot be written.
    """
    began, name = perf_counter(), order.domain.name
    tasks = range(order.n_tasks)
    waiting = [index for index in tasks if not is_written(order.folder / task_name(name, index))]
    failures = dict.fromkeys(_made(order, waiting, executor, watch))
    written = [order.folder / task_name(name, index) for index in tasks]
    sizes = [file.stat().st_size for folder in written if is_written(folder) for file in folder.glob("*.json")]
    return Built(
        domain=name,
        pairs=sum(map(is_written, written)),
        failures=tuple(failures),
        seconds=perf_counter() - began,
        megabytes=sum(sizes) / 2**20,
    )


def _made(order: Order, waiting: Sequence[int], executor: Executor, watch: Watch) -> Iterator[str]:
    try:
        offer_of(order.domain)
    except GdeError as error:
        yield str(error)
        return
    variants = len(order.domain.variants)
    # Tasks of one variant side by side, so that a worker opens few environments.
    by_variant = sorted(waiting, key=lambda index: (index % variants, index))
    chunks = in_chunks(by_variant, executor.workers)
    done = order.n_tasks - len(waiting)
    watch(order.domain.name, done, order.n_tasks)
    for failures in executor.map(partial(make_chunk, order), chunks):
        done += min(len(chunks[0]), order.n_tasks - done)
        watch(order.domain.name, done, order.n_tasks)
        yield from failures


def in_chunks(tasks: Sequence[int], workers: int) -> list[tuple[int, ...]]:
    """The tasks that a worker makes in a row; all chunks but the last are of one length."""
    size = CHUNK if workers == 1 else min(CHUNK, max(1, math.ceil(len(tasks) / (TURNS * workers))))
    return [tuple(tasks[i : i + size]) for i in range(0, len(tasks), size)]


def make_chunk(order: Order, indices: Sequence[int]) -> list[str]:
    """Make and write some tasks; why those that are missing are.

    Raises:
        GdeError: see `build_domain`.
    """
    failures = []
    with closing(Maker(order.domain, order.recipe, order.settings, n_tasks=order.n_tasks)) as maker:
        for index in indices:
            pair = attempted(maker, index)
            if isinstance(pair, str):
                failures.append(pair)
                continue
            keep_recipe(order.folder, order.kept)
            write_pair(pair, order.folder / pair.name)
    return failures


def attempted(maker: Maker, index: int) -> Pair | str:
    """The pair of a task, or why there is none: the others are made all the same."""
    try:
        return maker.pair(index)
    except GdeError as error:
        return str(error)
    except Exception as error:  # a simulator may fail in any way
        return f"domain {maker.domain.name}: task {index}: {type(error).__name__}: {error}"
