"""Recorded trajectories as an environment, so that reward models judge them like any
others.

An episode begins after the first recorded action. Turn t shows the observation after
the recorded action t; its one admissible action is the next recorded one, and after the
last the record ends. So each of T steps is a turn, and the true reward of a turn is
that of its state. Any agent that takes a listed action replays the record.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from gde.data.json import Json
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.data.trajectory import FIRST_ACTION
from gde.data.transcript import DEMONSTRATION
from gde.errors import ConfigError, GdeError
from gde_plugins.reward_prediction.config import RewardBenchConfig
from gde_plugins.reward_prediction.domains import find_domain
from gde_plugins.reward_prediction.files import (
    Pair,
    Record,
    Recorded,
    Side,
    find_records,
    task_name,
)
from gde_plugins.reward_prediction.maker import Maker, failures

END = "end of the record"


@dataclass(frozen=True)
class _Episode:
    record: Record
    task: str
    side: Side
    expert: Record
    """The success at the task."""


class RewardBench:
    """Implements `HasState` and `HasTasks` of `gde.parts.environment`, and gives the
    capability TRUE_REWARD.
    """

    def __init__(self, config: RewardBenchConfig) -> None:
        """List the trajectories; none is made or read yet.

        Raises:
            GdeError: no such domain, or no trajectory of it in the folder.
        """
        self._config = config
        self._domain = find_domain(config.domain)
        self._maker = Maker(self._domain, config)
        self._files = _files(config)
        self._played: _Episode | None = None
        self._pair: Pair | None = None
        self._at = 0

    def worlds(self) -> Sequence[str]:
        if self._files:
            return [
                f"{one.task} {one.path.stem} {_digest(one.path)}" for one in self._files
            ]
        settings = repr(sorted(asdict(self._config).items()))
        digest = sha256(settings.encode()).hexdigest()[:16]
        return [
            f"{task_name(self._domain.name, task)} {number} {digest}"
            for task, number in self._made
        ]

    def tasks_of_worlds(self) -> Sequence[str]:
        if self._files:
            return [one.task for one in self._files]
        return [task_name(self._domain.name, task) for task, _ in self._made]

    def reset(self, seed: int) -> Observation:
        """Begin trajectory number `seed`, modulo their number.

        Raises:
            GdeError: it cannot be made or read.
        """
        self._played = (
            self._files_episode(seed) if self._files else self._made_episode(seed)
        )
        self._at = 0
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective=self._episode.record.goal, horizon=len(self._episode.record.steps)
        )

    def world(self) -> World:
        """Facts are `objective`, `task`, `initial` (the first observation), `first`
        (the first recorded action), `domain` and, with show_success, `demonstration`. Labels
        are `side`, positive or negative, and those of the recorded world. The two sides
        of a task are one cluster.
        """
        episode = self._episode
        record = episode.record
        domain = self._domain.name
        facts: dict[str, Json] = {
            "objective": record.goal,
            "task": episode.task,
            "initial": record.start,
            FIRST_ACTION: record.actions[0],
            "domain": domain,
        }
        if self._config.show_success:
            facts[DEMONSTRATION] = _way(episode.expert)

        labels = {
            name: value
            for name, value in record.world.items()
            if isinstance(value, str | int | float)
        }
        content = repr(
            (record.goal, record.actions, [step.observation for step in record.steps])
        )
        digest = sha256(content.encode()).hexdigest()[:16]
        return World(
            id=f"{domain}/{episode.task}/{episode.side}/{digest}",
            facts=facts,
            labels={**labels, "side": episode.side},
            base=f"{domain}/{episode.task}",
        )

    def state(self) -> State:
        """Facts are `reward`, the true one, `raw`, the environment's own, `expert`, and
        `view`, the observation.
        """
        step = self._episode.record.steps[
            min(self._at, len(self._episode.record.steps) - 1)
        ]
        view = self._observe().text
        return State(
            facts={
                "reward": step.shaped,
                "raw": step.raw,
                "expert": step.is_expert,
                "view": view,
            }
        )

    def step(self, action: str) -> Outcome:
        steps = self._episode.record.steps
        if self._at >= len(steps):
            raise ValueError("the record has ended: call reset(seed)")
        if action != self._next:
            raise ValueError(f"the record goes on with {self._next!r}, got {action!r}")
        self._at += 1
        so_far = max(step.raw for step in steps[: self._at + 1])
        if self._at == len(steps):
            return Outcome.terminal(self._observe(), 0.0, success=so_far)
        return Outcome.running(self._observe(), steps[self._at].raw, success=so_far)

    def close(self) -> None:
        """Close the environments that trajectories were made in."""
        self._maker.close()

    @property
    def _episode(self) -> _Episode:
        if self._played is None:
            raise GdeError("no trajectory has begun yet: call reset(seed) first")
        return self._played

    @property
    def _next(self) -> str:
        actions = self._episode.record.actions
        return actions[self._at + 1] if self._at + 1 < len(actions) else END

    @cached_property
    def _made(self) -> Sequence[tuple[int, int]]:
        """Tasks, and the places of their trajectories, that of the success first."""
        n_tasks = self._domain.tasks(self._config.share)
        n_failures = len(failures(self._domain, self._config)) or 1
        places = range(1 + n_failures)
        return [(task, place) for task in range(n_tasks) for place in places]

    def _files_episode(self, seed: int) -> _Episode:
        file = self._files[seed % len(self._files)]
        record = file.read()
        expert = (
            file.success().read()
            if self._config.show_success and file.side == "negative"
            else record
        )
        return _Episode(record, file.task, file.side, expert)

    def _made_episode(self, seed: int) -> _Episode:
        index, place = self._made[seed % len(self._made)]
        if self._pair is None or self._pair.index != index:
            self._pair = self._maker.pair(index)
        record = self._pair.records[place]
        side: Side = "negative" if place else "positive"
        return _Episode(record, self._pair.name, side, self._pair.positive)

    def _observe(self) -> Observation:
        steps = self._episode.record.steps
        text = steps[min(self._at, len(steps) - 1)].observation
        return Observation(text=text, actions=(self._next,))


def _way(expert: Record) -> list[Json]:
    """Actions and observations up to the goal."""
    last = max(
        (index for index, step in enumerate(expert.steps) if step.is_expert),
        default=len(expert.steps) - 1,
    )
    return [[step.action, step.observation] for step in expert.steps[: last + 1]]


def _files(config: RewardBenchConfig) -> tuple[Recorded, ...]:
    if config.data is None:
        return ()
    folder = Path(config.data) / config.domain
    found = recorded(folder, config.share)
    if not found:
        wanted = "a folder with TASK/positive.json and TASK/negative_0.json"
        raise ConfigError(f"env.data: wanted {wanted}, got none in {folder}")
    sides: dict[str, set[Side]] = {}
    for one in found:
        sides.setdefault(one.task, set()).add(one.side)
    for task, there in sides.items():
        if len(there) == 1:
            only = f"{folder / task} has nothing but a {', '.join(there)}"
            raise ConfigError(
                f"env.data: {only}, with which nothing is compared; complete it or remove it"
            )
    return found


def recorded(folder: Path, share: float = 1.0) -> tuple[Recorded, ...]:
    """The trajectories of that share of a folder's tasks, the first by path."""
    found = tuple(find_records(folder))
    tasks = list(dict.fromkeys(one.task for one in found))
    chosen = {*tasks[: math.ceil(round(share * len(tasks), 6))]}
    return tuple(one for one in found if one.task in chosen)


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        return f"unreadable: {error.strerror}"  # its episode fails with the reason
