"""The whole benchmark as files, built in parallel; a stopped build goes on where it
was.
"""

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
"""Greatest number of tasks for one opening of the environments: simulators take longer
to start than to make a pair.
"""
TURNS = 4
"""Least number of chunks of each of several workers, so that none gets all the slow
ones.
"""
Watch = Callable[[str, int, int], None]
"""Takes a domain, the number of its finished tasks, and the number of all."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """The build of one domain."""

    domain: Domain
    recipe: Recipe
    n_tasks: int
    settings: Settings
    folder: Path

    @property
    def shared_recipe(self) -> dict[str, Json]:
        """Recipe and settings of all pairs of the folder, however many there are."""
        settings = {
            f"{self.domain.name}.{name}": value for name, value in self.settings.items()
        }
        return {**asdict(self.recipe), **settings}


@dataclass(frozen=True, kw_only=True)
class Built:
    """The outcome of a build."""

    domain: str
    pairs: int
    """Pairs in the folder, those of an earlier build included."""
    failures: tuple[str, ...]
    """Reasons of missing tasks; one for a domain that is not available."""
    seconds: float
    megabytes: float


def build_domain(order: Order, executor: Executor, watch: Watch) -> Built:
    """Make the tasks that are not yet in the folder; a failed task does not stop the
    others.

    Raises:
        ConfigError: the folder has pairs of another recipe.
        RunFailed: a file cannot be written.
    """
    began = perf_counter()
    name = order.domain.name
    folders = [order.folder / task_name(name, index) for index in range(order.n_tasks)]
    missing = [index for index, folder in enumerate(folders) if not is_written(folder)]
    failures = dict.fromkeys(_make(order, missing, executor, watch))

    n_pairs = 0
    n_bytes = 0
    for folder in folders:
        if is_written(folder):
            n_pairs += 1
            n_bytes += sum(file.stat().st_size for file in folder.glob("*.json"))
    return Built(
        domain=name,
        pairs=n_pairs,
        failures=tuple(failures),
        seconds=perf_counter() - began,
        megabytes=n_bytes / 2**20,
    )


def _make(
    order: Order, missing: Sequence[int], executor: Executor, watch: Watch
) -> Iterator[str]:
    """Make the missing tasks; yields the reasons of those that fail."""
    try:
        offer_of(order.domain)
    except GdeError as error:
        yield str(error)
        return
    # Tasks of one variant side by side, so that a worker opens few environments.
    n_variants = len(order.domain.variants)
    by_variant = sorted(missing, key=lambda index: (index % n_variants, index))
    chunks = in_chunks(by_variant, executor.workers)

    n_done = order.n_tasks - len(missing)
    watch(order.domain.name, n_done, order.n_tasks)
    for failures in executor.map(partial(make_chunk, order), chunks):
        n_done += min(len(chunks[0]), order.n_tasks - n_done)
        watch(order.domain.name, n_done, order.n_tasks)
        yield from failures


def in_chunks(tasks: Sequence[int], workers: int) -> list[tuple[int, ...]]:
    """Split tasks into those that a worker makes in a row; all chunks but the last are
    of one length.
    """
    size = CHUNK
    if workers > 1:
        size = min(CHUNK, max(1, math.ceil(len(tasks) / (TURNS * workers))))
    return [tuple(tasks[i : i + size]) for i in range(0, len(tasks), size)]


def make_chunk(order: Order, indices: Sequence[int]) -> list[str]:
    """Make and write some tasks; returns the reasons of those that fail.

    Raises:
        GdeError: see `build_domain`.
    """
    failures = []
    with closing(
        Maker(order.domain, order.recipe, order.settings, n_tasks=order.n_tasks)
    ) as maker:
        for index in indices:
            pair = attempted(maker, index)
            if isinstance(pair, str):
                failures.append(pair)
                continue
            keep_recipe(order.folder, order.shared_recipe)
            write_pair(pair, order.folder / pair.name)
    return failures


def attempted(maker: Maker, index: int) -> Pair | str:
    """The pair of a task, or the reason why there is none."""
    try:
        return maker.pair(index)
    except GdeError as error:
        return str(error)
    except Exception as error:  # a simulator may fail in any way
        return (
            f"domain {maker.domain.name}: task {index}: {type(error).__name__}: {error}"
        )
