"""Damaged files of other people: each reader says in one line what is wrong, and where.

The extended run damages 100,000 files for each reader.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gde.errors import GdeError
from gde.request.planfile import read_plan
from gde.testing import check_reader
from gde_plugins.babyai.config import QuestionConfig
from gde_plugins.babyai.tasks.environment import QuestionEnvironment
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.environment import BlocksworldEnvironment
from gde_plugins.exchange.judged_file import read_rows
from gde_plugins.grid.generation.files import read_origins
from gde_plugins.reward_prediction.files import find_records
from gde_plugins.text_worlds.alfworld.files import games
from gde_plugins.webshop.published import published_catalogue

ROWS = ["#####", "#___#", "#_#_#", "#___#", "#####"]
GRID = {"id": "a", "rows": ROWS, "agent": [1, 1], "goal": [3, 3], "density": 0.5}
PRODUCT: dict[str, Any] = {
    "asin": "B01",
    "name": "Grey Lamp",
    "query": "lamp",
    "product_category": "Home \u203a Lamps",
    "pricing": "$12.50 to $20",
    "full_description": None,
    "small_description": ["bright"],
    "customization_options": {"color": [{"value": "Red"}], "size": None},
}
WISH = {
    "instruction": "a lamp.",
    "instruction_attributes": ["bright"],
    "instruction_options": ["red"],
}
DOMAIN = """(define (domain d) (:requirements :strips)
 (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
 (:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
  :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
 (:action put-down :parameters (?x) :precondition (holding ?x)
  :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
 (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
  :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
 (:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty))
  :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))"""
PROBLEM = """(define (problem p) (:domain d) (:objects a b c)
 (:init (handempty) (ontable a) (on b a) (clear b) (ontable c) (clear c)) (:goal (and (on a b))))"""
STEPS = """{"id": 1, "goal": "a lamp", "steps": [{"action": "go", "observation": "here"}]}
{"id": 2, "goal": "a lamp", "start": "here", "action": "go", "observation": "there"}
{"id": 2, "goal": "a lamp", "action": "go", "observation": "here"}"""
TRAJECTORY = {
    "goal_description": "a lamp",
    "initial_observation": "here",
    "world": {"rooms": 2},
    "trajectory": [
        {
            "action": "go",
            "observation": "there",
            "reward": {"raw": 0, "shaped": 0.5, "is_expert": True},
            "admissible": [0],
        }
    ],
    "actions": ["go"],
}
PLAN = """version = 3
[env]
use = "grid" # of two densities
density = [0.0, 0.5]
[run]
episodes = 20
[agent]
use = "noisy"
[[metric]]
use = "success"
"""
CSV = """env_name,seed,env_description,initial_state,action_sequence,target_state,error
BabyAI-GoToObj-v0,1,"a, room","((3, 4), 3)","left, forward","((2, 4), 2)",
BabyAI-GoToObj-v0,2,"a, room","((6, 2), 0)",right,"((6, 2), 1)",None
"""


def blocks(folder: Path) -> None:
    world = BlocksworldEnvironment(BlocksworldConfig(problems=folder))
    world.reset(0)
    world.optimum()


def rows(folder: Path) -> None:
    config = QuestionConfig(dataset=folder / "rows.csv")
    world = QuestionEnvironment("predict", config)
    for seed in range(len(world.worlds())):
        world.reset(seed)


def trajectories(folder: Path) -> None:
    for one in find_records(folder):
        one.read()


READERS: dict[str, tuple[dict[str, str], Callable[[Path], object]]] = {
    "grids": (
        {"grids": json.dumps(GRID) + "\n" + json.dumps({**GRID, "id": "b"})},
        lambda folder: read_origins(folder / "grids"),
    ),
    "mazes": (
        {"mazes": "#####\n#S  #\n#.#.#\n#..G#\n#####\n"},
        lambda folder: read_origins(folder / "mazes"),
    ),
    "maze-dataset": (
        {
            "tokens": "<ADJLIST_START> (0,0) <--> (0,1) ; (0,1) <--> (1,1) ; <ADJLIST_END> "
            "<ORIGIN_START> (0,0) <ORIGIN_END> <TARGET_START> (1,1) <TARGET_END>\n"
        },
        lambda folder: read_origins(folder / "tokens"),
    ),
    "webshop": (
        {
            "items_shuffle.json": json.dumps([PRODUCT, {**PRODUCT, "asin": "B02"}]),
            "items_ins_v2.json": json.dumps({"B01": {"attributes": ["bright"]}}),
            "items_human_ins.json": json.dumps({"B01": [WISH], "B02": [WISH]}),
        },
        published_catalogue.__wrapped__,
    ),
    "trajectories to judge": (
        {"rows": STEPS},
        lambda folder: read_rows(folder / "rows"),
    ),
    "plans": ({"plan.toml": PLAN}, lambda folder: read_plan(folder / "plan.toml")),
    "trajectories": ({"positive.json": json.dumps(TRAJECTORY)}, trajectories),
    "blocksworld": ({"domain.pddl": DOMAIN, "problem.pddl": PROBLEM}, blocks),
    "babybench": ({"rows.csv": CSV}, rows),
    "alfworld": (
        {
            "traj_data.json": json.dumps({"task_type": "x"}),
            "game.tw-pddl": json.dumps({"solvable": True}),
        },
        lambda folder: games(folder, None),
    ),
}


@pytest.mark.parametrize(
    "n",
    [
        300,
        pytest.param(10_000, marks=pytest.mark.extended),
        pytest.param(100_000, marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.parametrize("reader", READERS)
def test_damaged_files_are_read_or_refused_in_one_line(
    reader: str, n: int, tmp_path: Path
) -> None:
    files, read = READERS[reader]
    given = tmp_path / "given"
    given.mkdir()
    for name, text in files.items():
        (given / name).write_text(text, encoding="utf-8")
    refused = 0

    def counted(place: Path) -> None:
        nonlocal refused
        try:
            read(place)
        except GdeError:
            refused += 1
            raise

    check_reader(counted, given, n, seed=len(reader))
    assert 0 < refused < n
