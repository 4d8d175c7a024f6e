"""A training split for supervised reward models: which of two beginnings of a trajectory is worth more.

The tasks are others than those that are judged, wherever every seed is another world.
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
"""Preferences that are taken from one task."""
GIVEN_UP = 10
"""Tasks in a row that give none, after which no further ones are tried."""
TRAIN = "train.jsonl"
Preference = dict[str, str]
_Made = list[Preference] | str
"""The preferences of a task, or why there are none."""


def write_preferences(order: Order, n_pairs: int, executor: Executor, watch: Watch) -> tuple[int, str]:
    """Write `train.jsonl` with as many preferences, from as many tasks as it takes; how many, and why it has fewer.

    A line holds `domain`, `task`, `chosen` and `rejected`, the texts laid out as in Shen et al. (2026), appendix C.2.1.
    Where there is none at all, nothing is written.

    Raises:
        RunFailed: the file cannot be written.
    """
    made = _gathered(order, n_pairs, executor, watch)
    found = [each for task in made for each in _listed(task)][:n_pairs]
    if found:
        with replacing(order.folder / TRAIN) as file:
            lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in found)
            file.write_text("".join(lines), encoding="utf-8")
    if len(found) == n_pairs:
        return n_pairs, ""
    reasons = [task for task in made if isinstance(task, str)] or [f"domain {order.domain.name}: there are no more"]
    return len(found), f"{reasons[-1]} ({len(found)} preferences of {n_pairs}, from {len(made)} tasks)"


def _gathered(order: Order, n_pairs: int, executor: Executor, watch: Watch) -> list[_Made]:
    """What tasks give, in their order, until it is enough or there is no more to be had."""
    # Where worlds are listed, each of so many tasks has its own, and a further one takes the place of a failure.
    order = replace(order, n_tasks=GIVEN_UP * n_pairs)
    made: list[_Made] = []
    n_found = 0
    while n_found < n_pairs and (len(made) < GIVEN_UP or any(map(_listed, made[-GIVEN_UP:]))):
        tasks = range(len(made), len(made) + math.ceil((n_pairs - n_found) / PER_TASK))
        further: dict[int, _Made] = {}
        for chunk in executor.map(partial(make_chunk, order), in_chunks(tasks, executor.workers)):
            further.update(chunk)
            n_found += sum(len(_listed(each)) for each in chunk.values())
            watch(order.domain.name, min(n_found, n_pairs), n_pairs)
        made += [further[index] for index in tasks]
    return made


def _listed(made: _Made) -> list[Preference]:
    return [] if isinstance(made, str) else made


def make_chunk(order: Order, indices: Sequence[int]) -> dict[int, _Made]:
    """The preferences of some tasks, or why there are none."""
    with closing(Maker(order.domain, order.recipe, order.settings, "train", order.n_tasks)) as maker:
        return {index: _preferred(attempted(maker, index), order.recipe.seed) for index in indices}


def _preferred(pair: Pair | str, seed: int) -> _Made:
    if isinstance(pair, str):
        return pair
    rng = generator(seed, "preferences", pair.domain, pair.index)
    return [{"domain": pair.domain, "task": pair.name, **each} for each in preferences(pair, PER_TASK, rng)]


@dataclass(frozen=True)
class _Beginning:
    record: Record
    n_steps: int

    @property
    def worth(self) -> float:
        return self.record.steps[self.n_steps - 1].shaped


def preferences(pair: Pair, n: int, rng: np.random.Generator) -> Iterator[Preference]:
    """Random beginnings of the two trajectories of a task, two by two, the one that is worth more first."""
    all_of_them = [
        _Beginning(record, end + 1) for record in (pair.positive, pair.negative) for end in range(len(record.steps))
    ]
    worth = np.array([each.worth for each in all_of_them])
    better, worse = np.nonzero(worth[:, None] > worth[None, :])
    for place in rng.choice(len(better), min(n, len(better)), replace=False):
        chosen, rejected = all_of_them[better[place]], all_of_them[worse[place]]
        yield {"chosen": _text(chosen), "rejected": _text(rejected)}


def _text(beginning: _Beginning) -> str:
    steps = beginning.record.steps[: beginning.n_steps]
    told = "\n".join(f"<ACTION> {one.action} </ACTION>\n<STATE> {one.observation} </STATE>" for one in steps)
    return f"<GOAL> {beginning.record.goal} </GOAL>\n---\n{told}"
