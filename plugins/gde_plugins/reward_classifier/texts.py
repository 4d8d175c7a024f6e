"""An episode as one text (Shen et al. 2026, appendix C.2.1), and preferences between such texts."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gde.data.trajectory import Trajectory
from gde.errors import GdeError

NOTHING = "None"
RULER = "\n---\n"


@dataclass(frozen=True)
class Preference:
    """Two beginnings of episodes at one task, of which one is worth more."""

    chosen: str
    rejected: str
    domain: str
    task: str


def beginnings(trajectory: Trajectory) -> list[str]:
    """What happened up to every turn; empty where the world does not say what is asked for."""
    goal = trajectory.world.objective
    if not goal:
        return []
    steps = [
        f"<ACTION> {action or NOTHING} </ACTION>\n<STATE> {turn.observation.text} </STATE>"
        for action, turn in zip(trajectory.actions_before, trajectory.turns, strict=True)
    ]
    return [f"<GOAL> {goal} </GOAL>{RULER}" + "\n".join(steps[: end + 1]) for end in range(len(steps))]


def read_preferences(files: Sequence[Path]) -> list[Preference]:
    """The lines of `gde rewardbench build --train`.

    Raises:
        GdeError: a file cannot be read, holds something else, or nothing.
    """
    found = [each for file in files for each in _lines(file)]
    if not found:
        raise GdeError("--data: wanted files with preferences (`gde rewardbench build --train N`), got none")
    return found


def _lines(file: Path) -> Iterator[Preference]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GdeError(f"preferences {file}: {error}") from error
    for number, line in enumerate(lines, 1):
        try:
            told = json.loads(line)
            fields = {name: told[name] for name in ("chosen", "rejected", "domain", "task")}
        except (ValueError, KeyError, TypeError) as error:
            raise GdeError(f"preferences {file}, line {number}: {type(error).__name__}: {error}") from error
        if not all(isinstance(value, str) for value in fields.values()):
            raise GdeError(f"preferences {file}, line {number}: wanted texts, got {str(fields)[:80]}")
        yield Preference(**fields)
