"""A training split for supervised reward models: which of two beginnings of a trajectory is worth more.

The tasks are others than those that are judged, wherever every seed is another world.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from gde.errors import GdeError
from gde.parts.executor import Executor
from gde.seeding import generator
from gde_plugins.reward_prediction.building import Order, Watch, in_chunks
from gde_plugins.reward_prediction.making import Maker
from gde_plugins.reward_prediction.record import Pair, Record

PER_TASK = 10
"""Preferences that are taken from one task."""
Preference = dict[str, str]


def write_preferences(order: Order, n_pairs: int, executor: Executor, watch: Watch) -> tuple[Path, list[str]]:
    """Write `train.jsonl` with as many preferences, and say which tasks failed.

    A line holds `domain`, `task`, `chosen` and `rejected`, the texts laid out as in Shen et al. (2026), appendix C.2.1.
    """
    n_tasks = -(-n_pairs // PER_TASK)
    chunks = in_chunks(range(n_tasks), executor.workers)
    order = Order(**{**vars(order), "n_tasks": n_tasks})
    found: dict[int, list[Preference] | str] = {}
    for made in executor.map(partial(make_chunk, order), chunks):
        found.update(made)
        watch(order.domain.name, min(len(found) * PER_TASK, n_pairs), n_pairs)
    order.folder.mkdir(parents=True, exist_ok=True)
    path, unfinished = order.folder / "train.jsonl", order.folder / ".train.jsonl"
    lines = [each for index in sorted(found) for each in _listed(found[index])][:n_pairs]
    unfinished.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    unfinished.replace(path)
    return path, [each for each in found.values() if isinstance(each, str)]


def _listed(made: list[Preference] | str) -> list[Preference]:
    return [] if isinstance(made, str) else made


def make_chunk(order: Order, indices: Sequence[int]) -> dict[int, list[Preference] | str]:
    """The preferences of some tasks, or why there are none."""
    made: dict[int, list[Preference] | str] = {}
    with closing(Maker(order.domain, order.recipe, order.settings, "train", order.n_tasks)) as maker:
        for index in indices:
            try:
                pair = maker.pair(index)
                rng = generator(order.recipe.seed, "preferences", order.domain.name, index)
                made[index] = [
                    {"domain": order.domain.name, "task": pair.name, **preference}
                    for preference in preferences(pair, PER_TASK, rng)
                ]
            except GdeError as error:
                made[index] = str(error)
    return made


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
