"""The released format of trajectories.

A folder a task holds `positive.json` and `negative_N.json`. Each is `{goal_description,
trajectory: [{action, observation, reward: {raw, shaped, is_expert}}]}`. Further fields
are optional, and other readers ignore them: `initial_observation`, `world` (its
labels), and the admissible actions of each step, `admissible`, as indices into the
list `actions`, since some worlds list hundreds.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from gde.data import transcript
from gde.data.json import Json
from gde.data.origin import origins
from gde.files import replacing
from gde.foreign import ForeignFile, fault

Side = Literal["positive", "negative"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action and its consequences."""

    action: str
    observation: str
    """After the action."""
    raw: float
    """The environment's own measure of success, 0 to 1."""
    shaped: float
    """True reward: interpolated along the expert's steps, raw elsewhere."""
    is_expert: bool
    admissible: tuple[str, ...] = ()
    """Admissible actions before the action; empty where none were recorded."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One trajectory."""

    goal: str
    steps: tuple[Step, ...]
    start: str = ""
    """Observation before the first step; empty where none was recorded."""
    world: Mapping[str, Json] = field(default_factory=dict)
    """Labels of the world."""

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(step.action for step in self.steps)

    @property
    def success(self) -> float:
        """The greatest success of any step."""
        return max((step.raw for step in self.steps), default=0.0)

    @property
    def expert_actions(self) -> tuple[str, ...]:
        return tuple(step.action for step in self.steps if step.is_expert)

    @property
    def origins(self) -> frozenset[str]:
        """The identity of the task by content, see `gde.data.origin`."""
        first = self.steps[0]
        return origins(
            transcript.Transcript(
                objective=self.goal,
                start=self.start,
                steps=(transcript.Step(first.action, first.observation),),
            )
        )


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A success and its failures at the same task."""

    domain: str
    index: int
    positive: Record
    negatives: tuple[Record, ...]

    @property
    def name(self) -> str:
        """The folder of the task."""
        return task_name(self.domain, self.index)

    @property
    def records(self) -> tuple[Record, ...]:
        """The success, then its failures."""
        return self.positive, *self.negatives


Contents = Mapping[str, frozenset[str]]
"""What a split may share, by kind."""


def contents(records: Iterable[Record]) -> Contents:
    """What training must not share with the test: tasks, goals, first observations, and
    steps with their goals.
    """
    found = [*records]
    steps = [
        "\n".join((one.goal, step.action, step.observation))
        for one in found
        for step in one.steps
    ]
    return {
        "tasks": frozenset().union(*(one.origins for one in found)),
        "goals": frozenset(one.goal for one in found),
        "layouts": frozenset(one.start for one in found if one.start),
        "steps": frozenset(steps),
    }


def task_name(domain: str, index: int) -> str:
    """The name of a task of a domain."""
    return f"{domain}-{index:04d}"


POSITIVE, NEGATIVE = "positive.json", "negative_*.json"
FIRST_NEGATIVE = "negative_0.json"


class _Reward(BaseModel):
    raw: float = Field(allow_inf_nan=False)
    shaped: float = Field(allow_inf_nan=False)
    is_expert: bool = False


class _Step(BaseModel):
    action: str
    observation: str
    reward: _Reward
    admissible: list[int] = []

    @field_validator("observation", mode="before")
    @classmethod
    def _unpacked(cls, value: Any) -> Any:
        """Some domains were released with every observation in a list of its own."""
        return value[0] if isinstance(value, list) and len(value) == 1 else value


class _Trajectory(BaseModel):
    goal_description: str = Field(min_length=1)
    trajectory: list[_Step] = Field(min_length=1)
    initial_observation: str = ""
    world: dict[str, Any] = {}
    actions: list[str] = []

    @model_validator(mode="after")
    def _known(self) -> Self:
        if any(
            not 0 <= place < len(self.actions)
            for step in self.trajectory
            for place in step.admissible
        ):
            raise ValueError(
                f"`admissible` must be places in `actions`, 0 to {len(self.actions) - 1}"
            )
        return self


@dataclass(frozen=True)
class Recorded:
    """A file that holds a trajectory."""

    path: Path
    task: str
    """Path of its folder within the data."""
    side: Side

    def read(self) -> Record:
        """The trajectory.

        Raises:
            ConfigError: the file cannot be read, is cut off, or holds something else.
        """
        file = ForeignFile("trajectory", self.path)
        try:
            found = _Trajectory.model_validate(file.json())
        except ValidationError as error:
            raise file.refused(fault(error)) from error
        return Record(
            goal=found.goal_description,
            start=found.initial_observation,
            steps=tuple(_step(each, found.actions) for each in found.trajectory),
            world=found.world,
        )

    def success(self) -> "Recorded":
        """The file of the success at the same task."""
        return Recorded(self.path.with_name(POSITIVE), self.task, "positive")


def _step(written: _Step, actions: list[str]) -> Step:
    raw = min(
        max(written.reward.raw, 0.0), 1.0
    )  # some domains were released on other scales
    return Step(
        action=written.action,
        observation=written.observation,
        raw=raw,
        shaped=written.reward.shaped,
        is_expert=written.reward.is_expert,
        admissible=tuple(actions[place] for place in written.admissible),
    )


def find_records(folder: Path) -> Iterator[Recorded]:
    """Every trajectory of a folder, at any depth, by path."""
    for path in sorted(folder.rglob("*.json")):
        task = path.parent.relative_to(folder).as_posix()
        if path.name == POSITIVE:
            yield Recorded(path, task, "positive")
        elif path.match(NEGATIVE):
            yield Recorded(path, task, "negative")


def is_written(folder: Path) -> bool:
    """Whether both sides of a task are there."""
    return (folder / POSITIVE).is_file() and (folder / FIRST_NEGATIVE).is_file()


def write_pair(pair: Pair, folder: Path) -> None:
    """Write all trajectories, each wholly or not at all.

    Raises:
        RunFailed: they cannot be written.
    """
    names = [POSITIVE]
    names += [f"negative_{i}.json" for i in range(len(pair.negatives))]
    # The first two come last: a task that has them is complete.
    for name, record in reversed([*zip(names, pair.records, strict=True)]):
        with replacing(folder / name) as file:
            file.write_text(
                json.dumps(as_json(record), ensure_ascii=False), encoding="utf-8"
            )


def as_json(record: Record) -> Json:
    """A trajectory as it is written."""
    indices: dict[str, int] = {}
    steps: list[Json] = []
    for step in record.steps:
        for action in step.admissible:
            indices.setdefault(action, len(indices))
        fields: dict[str, Json] = {
            "action": step.action,
            "observation": step.observation,
            "reward": {
                "raw": step.raw,
                "shaped": step.shaped,
                "is_expert": step.is_expert,
            },
            "admissible": [indices[action] for action in step.admissible],
        }
        steps.append(fields)
    return {
        "goal_description": record.goal,
        "initial_observation": record.start,
        "world": dict(record.world),
        "trajectory": steps,
        "actions": [*indices],
    }
