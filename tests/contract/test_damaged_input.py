"""Damaged files of other people: each reader says in one line what is wrong, and where.

The extended run damages 100,000 files for each reader.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gde.errors import GdeError
from gde_plugins.babyai.config import QuestionConfig
from gde_plugins.babyai.tasks.environment import QuestionEnvironment
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.environment import BlocksworldEnvironment
from gde_plugins.grid.generation.files import read_origins
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


READERS: dict[str, tuple[dict[str, str], Callable[[Path], object]]] = {
    "grids": (
        {"grids": json.dumps(GRID) + "\n" + json.dumps({**GRID, "id": "b"})},
        lambda folder: read_origins(folder / "grids"),
    ),
    "mazes": (
        {"mazes": "#####\n#S  #\n#.#.#\n#..G#\n#####\n"},
        lambda folder: read_origins(folder / "mazes"),
    ),
    "webshop": (
        {
            "items_shuffle.json": json.dumps([PRODUCT, {**PRODUCT, "asin": "B02"}]),
            "items_ins_v2.json": json.dumps({"B01": {"attributes": ["bright"]}}),
            "items_human_ins.json": json.dumps({"B01": [WISH], "B02": [WISH]}),
        },
        published_catalogue.__wrapped__,
    ),
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
PIECES = (
    *(b"", b"(", b")", b"[", b"]", b"{", b"}", b'"', b",", b":", b"\n", b"\r\n", b"-"),
    *(b"null", b"NaN", b"1e999", b"-1", b"[]", b"{}", b'""', b"\xff", b"\x00", b"#"),
    *(b"(not ", b"\xef\xbb\xbf", b"\xff\xfe", "ü".encode(), b"9" * 5000, b"[" * 2000),
)


ODD = (None, 3, -1, 2.5, 10**40, True, "", "x", "€3", [], {}, [None], {"a": None})


def odd(value: Any, rng: random.Random) -> Any:
    """The value with something else in one of its places."""
    places = [*value] if isinstance(value, dict) else range(len(value))
    if not places:
        return rng.choice(ODD)
    chosen = rng.choice([*places])
    inner = value[chosen]
    goes_in = isinstance(inner, dict | list) and rng.random() < 0.8
    changed = value.copy()
    changed[chosen] = odd(inner, rng) if goes_in else rng.choice(ODD)
    return changed


def damaged(text: str, rng: random.Random) -> bytes:
    if text.startswith(("[", "{")) and rng.random() < 0.5:
        lines = [json.dumps(odd(json.loads(line), rng)) for line in text.split("\n")]
        return "\n".join(lines).encode()
    content = bytearray(text.encode(rng.choice(("utf-8", "utf-8-sig", "utf-16"))))
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        place = rng.randrange(len(content) + 1)
        end = place + rng.choice((0, 1, 1, 4, 30))
        # Long pieces are rare: they hide what else is wrong.
        pieces = PIECES if rng.random() < 0.05 else PIECES[:-2]
        content[place:end] = rng.choice(pieces)
    return bytes(content)


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
    rng = random.Random(reader)
    refused = 0
    for _ in range(n):
        for name, text in files.items():
            (tmp_path / name).write_bytes(damaged(text, rng))
        try:
            read(tmp_path)
        except GdeError as error:
            refused += 1
            assert "\n" not in str(error)
            assert len(str(error)) < 1000
    assert 0 < refused < n
