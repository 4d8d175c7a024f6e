"""Preferences between the texts of two episodes, as files have them."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from gde.data.origin import origins
from gde.data.transcript import Step, Transcript
from gde.errors import ConfigError, GdeError
from gde_plugins.reward_classifier.texts import NOTHING, RULER

BEGINNING = re.compile(
    rf"<GOAL> (.*?) </GOAL>{RULER}<ACTION> (.*?) </ACTION>\n<STATE> (.*?) </STATE>",
    re.DOTALL,
)
GOAL = re.compile(rf"<GOAL> (.*?) </GOAL>{RULER}", re.DOTALL)
STEP = re.compile(r"<ACTION> (.*?) </ACTION>\n<STATE> (.*?) </STATE>", re.DOTALL)
TEST = "test.json"
"""File beside preferences with the origins of the tasks that they may not be of."""


@dataclass(frozen=True)
class Preference:
    """Two beginnings of episodes at one task, the more valuable first."""

    chosen: str
    rejected: str
    domain: str
    task: str
    origins: tuple[str, ...] = ()
    """Of the task, see `gde.data.origin`; those of the texts are added when read."""
    chosen_reward: float | None = None
    """True reward at the end of the text; None where the file does not tell it."""
    rejected_reward: float | None = None


PREFERENCE = TypeAdapter(Preference)


def read_text(text: str) -> Transcript:
    """The transcript of a text; empty for a text of another form."""
    goal = GOAL.match(text)
    if not goal:
        return Transcript(objective="", steps=())
    steps = [
        Step("" if action == NOTHING else action, observation)
        for action, observation in STEP.findall(text, goal.end())
    ]
    return Transcript(objective=goal[1], steps=tuple(steps))


def read_preferences(files: Sequence[Path]) -> list[Preference]:
    """Read the files of `gde rewardbench build --train`.

    Raises:
        ConfigError: a preference is of a test task.
        GdeError: a file cannot be read, holds something else, or nothing.
    """
    found = [*chain.from_iterable(map(_lines, files))]
    if not found:
        raise GdeError(
            "--data: wanted files with preferences (`gde rewardbench build --train N`), got none"
        )
    return found


def _lines(file: Path) -> Iterator[Preference]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GdeError(f"preferences {file}: {error}") from error
    tested = _tested(file.with_name(TEST))
    for number, line in enumerate(lines, 1):
        try:
            read = PREFERENCE.validate_json(line)
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(map(str, problem["loc"])) or "the line"
            raise GdeError(
                f"preferences {file}, line {number}: {field}: {problem['msg']}"
            ) from error
        known = {*read.origins, *_origins(read.chosen), *_origins(read.rejected)}
        if known & tested:
            raise ConfigError(
                f"preferences {file}, line {number}: {read.task} is a test task of {TEST}: leave its lines out"
            )
        yield replace(read, origins=tuple(sorted(known)))


def _origins(text: str) -> frozenset[str]:
    """The origins of a text, whatever its task claims to be."""
    found = BEGINNING.match(text)
    if not found:
        return frozenset()
    goal, action, observation = found.groups()
    return origins(Transcript(objective=goal, steps=(Step(action, observation),)))


def _tested(file: Path) -> frozenset[str]:
    if not file.exists():
        return frozenset()
    try:
        return frozenset(map(str, json.loads(file.read_bytes())["origins"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(
            f"{file}: wanted the file of `gde rewardbench build --train`: build it again"
        ) from error
