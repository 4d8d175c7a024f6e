"""A training split for supervised reward models: pairs of beginnings of which one is
worth more.

Its tasks are not those of the benchmark, wherever every seed is another world.
"""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gde.files import replacing
from gde.parts.executor import Executor
from gde.seeding import generator
from gde_plugins.reward_prediction.building import Order, Watch, attempted, in_chunks
from gde_plugins.reward_prediction.maker import Maker
from gde_plugins.reward_prediction.record import Pair, Record

PER_TASK = 10
"""Preferences from one task, at most."""
GIVEN_UP = 10
"""Tasks in a row without preferences after which no further ones are tried."""
TRAIN = "train.jsonl"
Preference = dict[str, str]
_Made = list[Preference] | str
"""The preferences of a task, or the reason why it has none."""


def write_preferences(
    order: Order, n_pairs: int, executor: Executor, watch: Watch
) -> tuple[int, str]:
    """Write `train.jsonl` with so many preferences; returns how many, and why there are
    fewer.

    A line holds `domain`, `task`, `chosen` and `rejected`, the texts laid out as in
    Shen et al. (2026), appendix C.2.1. It takes as many tasks as it needs. Where there
    is no preference at all, it writes nothing.

    Raises:
        RunFailed: the file cannot be written.
    """
    made = _gathered(order, n_pairs, executor, watch)
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
    if len(found) == n_pairs:
        return n_pairs, ""
    return len(
        found
    ), f"{reason} ({len(found)} preferences of {n_pairs}, from {len(made)} tasks)"


def _gathered(
    order: Order, n_pairs: int, executor: Executor, watch: Watch
) -> list[_Made]:
    """The preferences of tasks in their order, until there are enough or too many tasks
    in a row have none.
    """
    # Where worlds are listed, each of so many tasks has worlds of its own to replace a
    # failure.
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
            partial(make_chunk, order), in_chunks(tasks, executor.workers)
        ):
            further.update(chunk)
            n_found += sum(len(_listed(each)) for each in chunk.values())
            watch(order.domain.name, min(n_found, n_pairs), n_pairs)
        made += [further[index] for index in tasks]
    return made


def _listed(made: _Made) -> list[Preference]:
    return [] if isinstance(made, str) else made


def make_chunk(order: Order, indices: Sequence[int]) -> dict[int, _Made]:
    """The preferences of some tasks, by index."""
    with closing(
        Maker(order.domain, order.recipe, order.settings, "train", order.n_tasks)
    ) as maker:
        return {
            index: _preferred(attempted(maker, index), order.recipe.seed)
            for index in indices
        }


def _preferred(pair: Pair | str, seed: int) -> _Made:
    if isinstance(pair, str):
        return pair
    rng = generator(seed, "preferences", pair.domain, pair.index)
    return [
        {"domain": pair.domain, "task": pair.name, **each}
        for each in preferences(pair, PER_TASK, rng)
    ]


@dataclass(frozen=True)
class _Beginning:
    record: Record
    n_steps: int

    @property
    def worth(self) -> float:
        return self.record.steps[self.n_steps - 1].shaped


def preferences(pair: Pair, n: int, rng: np.random.Generator) -> Iterator[Preference]:
    """Random pairs of beginnings of a task's two trajectories, at most n, the more
    valuable first.
    """
    beginnings: list[_Beginning] = []
    for record in (pair.positive, pair.negative):
        beginnings.extend(
            _Beginning(record, end + 1) for end in range(len(record.steps))
        )
    worth = np.array([each.worth for each in beginnings])
    better, worse = np.nonzero(worth[:, None] > worth[None, :])
    for place in rng.choice(len(better), min(n, len(better)), replace=False):
        chosen = beginnings[better[place]]
        rejected = beginnings[worse[place]]
        yield {"chosen": _text(chosen), "rejected": _text(rejected)}


def _text(beginning: _Beginning) -> str:
    steps = beginning.record.steps[: beginning.n_steps]
    lines = [
        f"<ACTION> {one.action} </ACTION>\n<STATE> {one.observation} </STATE>"
        for one in steps
    ]
    return f"<GOAL> {beginning.record.goal} </GOAL>\n---\n" + "\n".join(lines)
