"""Datasets in the published columns, written and read as they stand."""

import csv
import json
import re
from io import StringIO
from pathlib import Path

import pytest
from asking import episode_in, measured

from gde.errors import ConfigError, GdeError
from gde_plugins.babyai.agents.scripted import ScriptedAnswerer
from gde_plugins.babyai.config import QuestionConfig
from gde_plugins.babyai.tasks.asked import KINDS
from gde_plugins.babyai.tasks.datasets import Wanted, write_dataset
from gde_plugins.babyai.tasks.environment import QuestionEnvironment
from gde_plugins.babyai.worlds.levels import PLAN_WORLDS


def wanted(task: str) -> Wanted:
    levels = [*PLAN_WORLDS][:2] if task == "plan" else ["GoToLocal", "UnblockPickup"]
    return Wanted(task=task, levels=levels, seeds=(1, 2))


@pytest.mark.parametrize("task", KINDS)
def test_a_dataset_is_asked_as_it_stands(task: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_dataset(wanted(task), path)
    rows = [*csv.DictReader(StringIO(path.read_text()))]
    rows[0]["env_description"] = "A description of another author."
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)

    world = QuestionEnvironment(task, QuestionConfig(dataset=path))
    assert len(world.worlds()) == 4
    assert world.reset(0).text.startswith("A description of another author.\n\n")
    agent = ScriptedAnswerer()
    found = measured(task, [episode_in(world, n, agent) for n in range(4)])
    name = "decompose.comprehension" if task == "decompose" else f"{task}.success"
    assert found[name].value == found[f"{name}.published"].value == 1


def test_the_target_of_plan_is_a_cell_as_published(tmp_path: Path) -> None:
    path = tmp_path / "plan.csv"
    write_dataset(wanted("plan"), path)
    row = next(csv.DictReader(StringIO(path.read_text())))
    x, y = map(int, row["target_subgoal"].strip("()").split(","))
    assert f"ball, color=red, position=({x}, {y})" in row["env_description"]


def test_a_row_of_another_world_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_dataset(wanted("predict"), path)
    path.write_text(
        path.read_text().replace("BabyAI-GoToLocal-v0,1,", "BabyAI-GoTo-v0,1,")
    )
    world = QuestionEnvironment("predict", QuestionConfig(dataset=path))
    with pytest.raises(GdeError, match=r"seed 1: the dataset has .*: correct the row"):
        world.reset(0)


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("env_name,seed\nBabyAI-GoTo-v0,1\n")
    with pytest.raises(ConfigError, match="lacks the columns env_description"):
        QuestionEnvironment("plan", QuestionConfig(dataset=path))
    with pytest.raises(ConfigError, match="wanted a file, got No such file"):
        QuestionEnvironment("plan", QuestionConfig(dataset=tmp_path / "none.csv"))


def test_both_kinds_of_file_hold_the_same_rows(tmp_path: Path) -> None:
    for name in ("rows.csv", "rows.jsonl"):
        assert write_dataset(wanted("predict"), tmp_path / name) == 4
        with pytest.raises(ConfigError, match=f"{name} exists: name another file"):
            write_dataset(wanted("predict"), tmp_path / name)
    written = [*csv.DictReader(StringIO((tmp_path / "rows.csv").read_text()))]
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert [{**row, "seed": str(row["seed"])} for row in found] == written
    with pytest.raises(ConfigError, match=r"ends in \.csv or \.jsonl"):
        write_dataset(wanted("predict"), tmp_path / "rows.parquet")


def test_rows_are_read_by_their_meaning(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_dataset(wanted("predict"), path)
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    seed, target, error = map(head.index, ("seed", "target_state", "error"))
    rows[0][seed] = "1.0"
    rows[0][target] = re.sub(r"(\d+)", r"np.int64(\1)", rows[0][target])
    rows[1][target] = rows[1][target].replace(" ", "")
    rows[1][error], rows[2][error] = "None", "nan"
    rows[3][error] = "no way"
    text = StringIO()
    csv.writer(text, delimiter=";").writerows([head, *rows])
    path.write_text(text.getvalue(), encoding="utf-16")

    world = QuestionEnvironment("predict", QuestionConfig(dataset=path))
    assert len(world.worlds()) == 3
    for place in range(3):
        world.reset(place)
    (remark,) = world.remarks()
    assert remark == "rows.csv, rows: read 3, left out 1: 1 with an error (row 4)"
    path.write_text("")
    with pytest.raises(ConfigError, match=r"rows.csv: lacks the columns env_name"):
        QuestionEnvironment("predict", QuestionConfig(dataset=path))
