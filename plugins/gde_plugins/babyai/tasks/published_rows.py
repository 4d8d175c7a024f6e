"""Questions from a dataset in the published columns, as its rows stand."""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gde.errors import ConfigError, GdeError
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict
from gde_plugins.babyai.tasks.question import Question, state_text
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import LEVELS, PREFIX, Release
from gde_plugins.babyai.worlds.scene import Scene

Row = Mapping[str, str]
NEEDED: Mapping[str, tuple[str, ...]] = {
    "predict": ("action_sequence", "target_state"),
    "plan": ("target_subgoal",),
    "decompose": (),
}
COMMON = ("env_name", "seed", "env_description", "initial_state")


def read_rows(path: Path, task: str) -> Sequence[Row]:
    """Read the rows of a file that have a question.

    Raises:
        ConfigError: the file cannot be read, or lacks a column.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            found = [row for row in reader if not row.get("error")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"env.dataset={path}: cannot be read: {error}") from None
    wanted = (*COMMON, *NEEDED[task])
    missing = [name for name in wanted if name not in (reader.fieldnames or ())]
    if missing or not found:
        what = f"lacks the columns {', '.join(missing)}" if missing else "has no rows"
        raise ConfigError(
            f"env.dataset={path}: {what}: wanted a CSV file with {', '.join(wanted)}"
        )
    return found


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
    if level not in LEVELS or not row["seed"].isdecimal():
        raise GdeError(f"{named}: wanted a BabyAI level and a seed")
    scene = make_scene(level, int(row["seed"]), release)
    question = QUESTIONS[task](scene, row)
    first = state_text(scene, scene.agent, scene.direction)
    for told, known in ((row["initial_state"], first), _target(question, row)):
        if told != known:
            raise GdeError(
                f"{named}: the dataset has {told}, minigrid {release} has {known}: set env.release"
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
    return Predict(scene, [word for word in actions if word])


QUESTIONS: Mapping[str, Callable[[Scene, Row], Question]] = {
    "predict": _predict,
    "plan": lambda scene, _: PlanQuestion(scene),
    "decompose": lambda scene, _: Decompose(scene),
}
