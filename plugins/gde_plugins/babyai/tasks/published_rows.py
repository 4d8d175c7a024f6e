"""Questions from a dataset in the published columns, as its rows stand."""

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from gde.errors import GdeError
from gde.foreign import Account, ForeignFile, shown
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict
from gde_plugins.babyai.tasks.question import Question, state_text
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import LEVELS, PREFIX, Release
from gde_plugins.babyai.worlds.scene import ACTIONS, Scene

Row = Mapping[str, str]
NEEDED: Mapping[str, tuple[str, ...]] = {
    "predict": ("action_sequence", "target_state"),
    "plan": ("target_subgoal",),
    "decompose": (),
}
COMMON = ("env_name", "seed", "env_description", "initial_state")
NOTHING = {"", "none", "nan"}
"""Texts that stand for an empty cell."""
SEED = re.compile(r"\d{1,9}", re.ASCII)
NUMPY = re.compile(r"np\.\w+\((-?\d+)\)|\s")
"""What the text of a state may have more than its numbers."""


@dataclass(frozen=True)
class Rows:
    """The rows of a file that have a question."""

    file: ForeignFile
    rows: Mapping[int, Row]
    """By their places in the file, from 1 on."""
    account: Account


def read_rows(path: Path, task: str) -> Rows:
    """Read the rows of a file that have a question.

    Raises:
        ConfigError: the file cannot be read, or lacks a column.
    """
    file = ForeignFile("env.dataset", path)
    text = file.text()
    head = text.partition("\n")[0]
    # Where the decimal separator is a comma, spreadsheets write semicolons.
    delimiter = ";" if "," not in head else ","
    wanted = (*COMMON, *NEEDED[task])
    found: dict[int, Row] = {}
    left_out: list[tuple[str, str]] = []
    try:
        reader = csv.DictReader(StringIO(text, newline=""), delimiter=delimiter)
        names = reader.fieldnames or ()
        missing = [name for name in wanted if name not in names]
        if missing:
            raise file.refused(
                f"lacks the columns {', '.join(missing)}: wanted a CSV file with {', '.join(wanted)}"
            )
        for place, row in enumerate(reader, start=1):
            if (row.get("error") or "").strip().lower() not in NOTHING:
                left_out.append(("with an error", f"row {place}"))
            elif None in [row[name] for name in wanted]:
                left_out.append(("cut short", f"row {place}"))
            else:
                found[place] = row
    except csv.Error as error:
        raise file.refused(f"wanted a CSV file, got {error}") from error
    if not found:
        raise file.refused(f"has no rows, {len(left_out)} are left out")
    return Rows(file, found, Account(len(found), left_out))


def level_of(row: Row) -> str:
    """Return the level of a row."""
    return row["env_name"].removeprefix(PREFIX).rpartition("-v")[0]


def question_of(task: str, row: Row, release: Release) -> Question:
    """Make the question of a row.

    Raises:
        GdeError: its world is not the one that was described, e.g. of another release.
    """
    level = level_of(row)
    named = f"{row['env_name']}, seed {row['seed']}"
    # A column of numbers with gaps is written as 1.0.
    seed = row["seed"].strip().removesuffix(".0")
    if level not in LEVELS or not SEED.fullmatch(seed):
        raise GdeError(f"{named}: wanted a BabyAI level and a seed")
    scene = make_scene(level, int(seed), release)
    question = QUESTIONS[task](scene, row)
    first = state_text(scene, scene.agent, scene.direction)
    for told, known in ((row["initial_state"], first), _target(question, row)):
        if NUMPY.sub(r"\1", told) != NUMPY.sub(r"\1", known):
            other: Release = "3.2" if release == "3.0" else "3.0"
            is_same = make_scene(level, int(seed), other) == scene
            advice = "correct the row" if is_same else f"set env.release={other}"
            raise GdeError(
                f"{named}: the dataset has {told}, minigrid {release} has {known}: {advice}"
            )
    return question


def _target(question: Question, row: Row) -> tuple[str, str]:
    """What the row and the world say is the answer's target."""
    match question:
        case Predict():
            return row["target_state"], question.target
        case PlanQuestion():
            return row["target_subgoal"], str(question.scene.place(question.target))
    return "", ""


def _predict(scene: Scene, row: Row) -> Question:
    actions = [word.strip() for word in row["action_sequence"].split(",")]
    known = [word for word in actions if word]
    for word in known:
        if word not in ACTIONS:
            raise GdeError(
                f"action_sequence: wanted {', '.join(ACTIONS)}, got {shown(word)}"
            )
    return Predict(scene, known)


QUESTIONS: Mapping[str, Callable[[Scene, Row], Question]] = {
    "predict": _predict,
    "plan": lambda scene, _: PlanQuestion(scene),
    "decompose": lambda scene, _: Decompose(scene),
}
