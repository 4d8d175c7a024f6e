"""An episode as one text (Shen et al. 2026, appendix C.2.1), and preferences between
such texts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from gde.data.transcript import Transcript
from gde.errors import GdeError

NOTHING = "None"
RULER = "\n---\n"


@dataclass(frozen=True)
class Preference:
    """Two beginnings of episodes at one task, the more valuable first."""

    chosen: str
    rejected: str
    domain: str
    task: str


PREFERENCE = TypeAdapter(Preference)


def beginnings(transcript: Transcript) -> list[str]:
    """The text of the episode up to every step; empty where the world has no
    objective.
    """
    goal = transcript.objective
    if not goal:
        return []
    texts: list[str] = []
    text = f"<GOAL> {goal} </GOAL>{RULER}"
    for step in transcript.steps:
        if texts:
            text += "\n"
        text += f"<ACTION> {step.action or NOTHING} </ACTION>\n<STATE> {step.observation} </STATE>"
        texts.append(text)
    return texts


def read_preferences(files: Sequence[Path]) -> list[Preference]:
    """Read the files of `gde rewardbench build --train`.

    Raises:
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
    for number, line in enumerate(lines, 1):
        try:
            yield PREFERENCE.validate_json(line)
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(map(str, problem["loc"])) or "the line"
            raise GdeError(
                f"preferences {file}, line {number}: {field}: {problem['msg']}"
            ) from error
