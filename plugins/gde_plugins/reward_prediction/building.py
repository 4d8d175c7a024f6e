"""The benchmark as files, built in parallel: pairs of trajectories, and preferences
to train on. A stopped build resumes.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter

from gde.data.json import Json
from gde.errors import ConfigError, GdeError
from gde.files import replacing
from gde.foreign import ForeignFile
from gde.parts.executor import Executor
from gde.seeding import generator
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import Domain, Settings
from gde_plugins.reward_prediction.files import (
    Contents,
    Pair,
    Record,
    contents,
    find_records,
    is_written,
    task_name,
    write_pair,
)
from gde_plugins.reward_prediction.maker import Maker

RECIPE = "recipe.json"
"""File with the recipe of a folder's pairs, so that two recipes are never mixed."""
CHUNK = 25
"""Maximum number of tasks per start of the environments.

A simulator takes longer to start than to make a pair.
"""
TURNS = 4
"""Minimum number of chunks per worker, so that no worker gets all the slow tasks."""
Output = TypeVar("Output")
Watch = Callable[[str, int, int], None]
"""Takes a domain, the number of its finished tasks, and the number of all tasks."""


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
        """Recipe and settings that all pairs of the folder share."""
        settings = {
            f"{self.domain.name}.{name}": value for name, value in self.settings.items()
        }
        return {**asdict(self.recipe), **settings}

    def maker(self) -> Maker:
        """What makes the pairs, to be closed."""
        return Maker(self.domain, self.recipe, self.settings, n_tasks=self.n_tasks)


@dataclass(frozen=True, kw_only=True)
class Built:
    """The outcome of a build."""

    domain: str
    pairs: int
    """Pairs in the folder, those of an earlier build included."""
    failures: tuple[str, ...]
    """Reasons of missing tasks; a single one if the domain is not available."""
    seconds: float
    megabytes: float


def build_domain(order: Order, executor: Executor, watch: Watch) -> Built:
    """Make the tasks that are missing in the folder; failed tasks are skipped.

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
    """Make the missing tasks; yields the reasons of failures."""
    # Tasks of one variant side by side, so that a worker opens few environments.
    n_variants = len(order.domain.variants)
    by_variant = sorted(missing, key=lambda index: (index % n_variants, index))
    chunks = in_chunks(by_variant, executor.workers)

    told = partial(watch, order.domain.name)
    yield from chain.from_iterable(
        _done(partial(make_chunk, order), chunks, order.n_tasks, executor, told)
    )


def _done(
    make: Callable[[Sequence[int]], Output],
    chunks: Sequence[Sequence[int]],
    n_tasks: int,
    executor: Executor,
    told: Callable[[int, int], None],
) -> Iterator[Output]:
    """Yield what is made of each chunk, and tell how many of all tasks are done.

    Tasks that stand in no chunk were done before.
    """
    n_done = n_tasks - sum(map(len, chunks))
    told(n_done, n_tasks)
    for made in executor.map(make, chunks):
        n_done += min(len(chunks[0]), n_tasks - n_done)
        told(n_done, n_tasks)
        yield made


def in_chunks(tasks: Sequence[int], workers: int) -> list[tuple[int, ...]]:
    """Split tasks into chunks of one length; the last may be shorter."""
    size = CHUNK
    if workers > 1:
        size = min(CHUNK, max(1, math.ceil(len(tasks) / (TURNS * workers))))
    return [tuple(tasks[i : i + size]) for i in range(0, len(tasks), size)]


def make_chunk(order: Order, indices: Sequence[int]) -> list[str]:
    """Make and write some tasks; returns the reasons of failures.

    Raises:
        GdeError: see `build_domain`.
    """
    failures = []
    with closing(order.maker()) as maker:
        for index in indices:
            pair = attempted(maker, index)
            if isinstance(pair, str):
                failures.append(pair)
                continue
            if not check_recipe(order):
                with replacing(order.folder / RECIPE) as file:
                    text = json.dumps(order.shared_recipe, indent=1, ensure_ascii=False)
                    file.write_text(text + "\n", encoding="utf-8")
            write_pair(pair, order.folder / pair.name)
    return failures


def attempted(maker: Maker, index: int) -> Pair | str:
    """Return the pair of a task, or the reason why there is none."""
    try:
        return maker.pair(index)
    except GdeError as error:
        return str(error)
    except Exception as error:  # a simulator may fail in any way
        return (
            f"domain {maker.domain.name}: task {index}: {type(error).__name__}: {error}"
        )


def check_recipe(order: Order) -> bool:
    """Return whether the folder has a recipe, and check that it is the order's.

    Raises:
        ConfigError: the folder has another recipe, or one that cannot be read.
    """
    path = order.folder / RECIPE
    if not path.exists():
        return False
    # Recipes of earlier versions lack what they could not choose.
    previous = {"pairs": "published", **_read_recipe(path)}
    wanted = order.shared_recipe
    changed = [
        name
        for name in {**previous, **wanted}
        if previous.get(name) != wanted.get(name)
    ]
    if changed:
        raise ConfigError(
            f"--out: {path} has other values of {', '.join(changed)}: use the same or name another folder"
        )
    return True


def _read_recipe(path: Path) -> dict[str, Json]:
    # Without its recipe nobody knows how the pairs of a folder were made, so a broken
    # one is not replaced.
    file = ForeignFile("--out", path)
    try:
        return file.valid(TypeAdapter(dict[str, Any]), file.json())
    except ConfigError as error:
        raise ConfigError(f"{error}: restore it or name another folder") from error


PER_TASK = 10
"""Maximum number of preferences per task."""
GIVEN_UP = 10
"""Number of consecutive tasks without preferences after which the search stops."""
TRAIN = "train.jsonl"
TEST = "test.json"
"""File with the origins of the test's tasks, which no training may use."""
Preference = dict[str, Json]
_Made = tuple[list[Preference], Contents] | str
"""The preferences of a task and its contents, or the reason why it has none."""
Overlap = dict[str, tuple[int, int]]
"""How many contents of the training the test has too, of how many, by kind."""


def write_preferences(
    order: Order,
    n_pairs: int,
    executor: Executor,
    watch: Watch,
    test: Path | None = None,
    apart: Sequence[str] = (),
) -> tuple[int, str, Overlap]:
    """Write `train.jsonl` with `n_pairs` preferences from as many tasks as needed.

    A line holds `domain`, `task`, `origins` of the task, `chosen` and `rejected`, the
    texts laid out as in Shen et al. (2026), appendix C.2.1, and their true rewards. No
    task is one of the test's. Without any preference, no file is written.

    Args:
        order: of the test's tasks.
        n_pairs: number of preferences.
        executor: makes the tasks.
        watch: is told of progress.
        test: folder of the built test; without one, the order's tasks are made anew.
        apart: kinds of `contents` that no task may share with the test.

    Returns:
        The number of written preferences, the reason if there are fewer, and what
        training and test share.

    Raises:
        RunFailed: the file cannot be written.
    """
    tested = (
        read_contents(test / order.domain.name)
        if test
        else _tested(order, executor, watch)
    )
    left_out = {kind: tested[kind] for kind in ("tasks", *apart)}
    made = _gathered(order, left_out, n_pairs, executor, watch)
    used = _merged(task[1] for task in made if not isinstance(task, str))
    overlap = {
        kind: (len(known & tested[kind]), len(known)) for kind, known in used.items()
    }
    found: list[Preference] = []
    reason = f"domain {order.domain.name}: there are no more"
    for task in made:
        found += _listed(task)
        if isinstance(task, str):
            reason = task
    del found[n_pairs:]

    if found:
        with replacing(order.folder / TRAIN) as file:
            lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in found]
            file.write_text("".join(lines), encoding="utf-8")
        with replacing(order.folder / TEST) as file:
            text = json.dumps({"origins": sorted(tested["tasks"])})
            file.write_text(text + "\n", encoding="utf-8")
    if len(found) == n_pairs:
        return n_pairs, "", overlap
    written = f"({len(found)} preferences of {n_pairs}, from {len(made)} tasks)"
    return len(found), f"{reason} {written}", overlap


def read_contents(folder: Path) -> Contents:
    """The contents of all trajectories of a folder.

    Raises:
        ConfigError: the folder has none.
        GdeError: one cannot be read.
    """
    found = contents(one.read() for one in find_records(folder))
    if not found["tasks"]:
        raise ConfigError(
            f"--test: wanted a folder of `gde rewardbench build`, got none in {folder}"
        )
    return found


def _merged(found: Iterable[Contents]) -> Contents:
    parts = [contents(()), *found]
    return {kind: frozenset().union(*(one[kind] for one in parts)) for kind in parts[0]}


def _tested(order: Order, executor: Executor, watch: Watch) -> Contents:
    """The contents of the order's own tasks."""
    chunks = in_chunks(range(order.n_tasks), executor.workers)
    told = partial(watch, f"{order.domain.name}, test")
    made = _done(partial(make_contents, order), chunks, order.n_tasks, executor, told)
    return _merged(made)


def make_contents(order: Order, indices: Sequence[int]) -> Contents:
    """The contents of some tasks; those that fail have none."""
    with closing(order.maker()) as maker:
        pairs = [attempted(maker, index) for index in indices]
    return _merged(contents(one.records) for one in pairs if isinstance(one, Pair))


def _gathered(
    order: Order,
    left_out: Contents,
    n_pairs: int,
    executor: Executor,
    watch: Watch,
) -> list[_Made]:
    """Return the preferences of consecutive tasks, until there are enough or too many
    tasks in a row have none.
    """
    # The greatest possible number of tasks: where worlds are listed, no two tasks then
    # share a world.
    order = replace(order, n_tasks=GIVEN_UP * n_pairs)
    made: list[_Made] = []
    n_found = 0
    while n_found < n_pairs:
        if len(made) >= GIVEN_UP and not any(map(_listed, made[-GIVEN_UP:])):
            break
        n_more = math.ceil((n_pairs - n_found) / PER_TASK)
        tasks = range(len(made), len(made) + n_more)
        further: dict[int, _Made] = {}
        for chunk in executor.map(
            partial(make_preferences, order, left_out),
            in_chunks(tasks, executor.workers),
        ):
            further.update(chunk)
            n_found += sum(len(_listed(each)) for each in chunk.values())
            watch(order.domain.name, min(n_found, n_pairs), n_pairs)
        made += [further[index] for index in tasks]
    return made


def _listed(made: _Made) -> list[Preference]:
    return [] if isinstance(made, str) else made[0]


def make_preferences(
    order: Order, left_out: Contents, indices: Sequence[int]
) -> dict[int, _Made]:
    """Return the preferences of some tasks, by index."""
    with closing(
        Maker(
            order.domain,
            order.recipe,
            order.settings,
            purpose="train",
            left_out=left_out,
            n_tasks=order.n_tasks,
        )
    ) as maker:
        return {
            index: _preferred(attempted(maker, index), order.recipe.seed)
            for index in indices
        }


def _preferred(pair: Pair | str, seed: int) -> _Made:
    if isinstance(pair, str):
        return pair
    rng = generator(seed, "preferences", pair.domain, pair.index)
    found = contents(pair.records)
    origins: list[Json] = [*sorted(found["tasks"])]
    task: Preference = {"domain": pair.domain, "task": pair.name, "origins": origins}
    return [{**task, **each} for each in preferences(pair, PER_TASK, rng)], found


@dataclass(frozen=True)
class _Beginning:
    record: Record
    n_steps: int

    @property
    def worth(self) -> float:
        return self.record.steps[self.n_steps - 1].shaped


def preferences(pair: Pair, n: int, rng: np.random.Generator) -> Iterator[Preference]:
    """Yield at most n random pairs of beginnings of a task's trajectories, the
    better one as `chosen`.
    """
    beginnings: list[_Beginning] = []
    for record in pair.records:
        beginnings.extend(
            _Beginning(record, end + 1) for end in range(len(record.steps))
        )
    worth = np.array([each.worth for each in beginnings])
    better, worse = np.nonzero(worth[:, None] > worth[None, :])
    for place in rng.choice(len(better), min(n, len(better)), replace=False):
        chosen = beginnings[better[place]]
        rejected = beginnings[worse[place]]
        yield {
            "chosen": _text(chosen),
            "rejected": _text(rejected),
            "chosen_reward": chosen.worth,
            "rejected_reward": rejected.worth,
        }


def _text(beginning: _Beginning) -> str:
    steps = beginning.record.steps[: beginning.n_steps]
    lines = [
        f"<ACTION> {one.action} </ACTION>\n<STATE> {one.observation} </STATE>"
        for one in steps
    ]
    return f"<GOAL> {beginning.record.goal} </GOAL>\n---\n" + "\n".join(lines)
