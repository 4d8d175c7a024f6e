"""Grids from a file: what is read, what is refused and how, and that a run uses each
grid once.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gde.before.preparing import dry
from gde.cli.main import build_app
from gde.data.how import How
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, GdeError
from gde.request.settings import build
from gde.runs.evaluating import evaluate, resume
from gde.stages.evidence import load_evidence
from gde.store.folder import RunFolder
from gde.testing import check_environment
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.grid.generation.files import read_origins

ROOM = ["#####", "#___#", "#___#", "#___#", "#####"]
GRID: dict[str, Any] = {"id": "a", "rows": ROOM, "agent": [1, 1], "goal": [3, 3]}
HALL: dict[str, Any] = {
    "id": "b",
    "rows": ["####", "#__#", "####"],
    "agent": [1, 1],
    "goal": [1, 2],
    "colour": "red",
}


def written(path: Path, *lines: dict[str, Any] | str) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


@pytest.fixture
def grids(tmp_path: Path) -> Path:
    """Nine rooms with the goal in each cell but the agent's, and a hall."""
    goals = [[row, column] for row in (1, 2, 3) for column in (1, 2, 3)][1:]
    rooms = [
        {**GRID, "id": f"room{n}", "goal": goal, "density": n / 8}
        for n, goal in enumerate(goals)
    ]
    return written(tmp_path / "grids.jsonl", *rooms, "", HALL)


def asked(
    file: Path, episodes: int = 200, agent: str = "optimal", **config: Any
) -> Plan:
    environment = Choice(name="grid", config={"grids": str(file), **config})
    return Plan(environment=environment, agent=Choice(name=agent), episodes=episodes)


def test_grids_of_a_file_keep_the_contract(grids: Path) -> None:
    check_environment(lambda: GridEnvironment(GridConfig(grids=grids)))
    check_environment(
        lambda: GridEnvironment(GridConfig(grids=grids, transform="transpose"))
    )


def test_the_line_of_the_manual_is_a_grid(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "grid-worlds.md").read_text(
        encoding="utf-8"
    )
    (line,) = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    assert read_origins(written(tmp_path / "grids.jsonl", line))[0].record == "first"


def test_equal_grids_of_a_file_are_one_base_with_their_transforms(
    tmp_path: Path,
) -> None:
    lines = [
        GRID,
        {**GRID, "id": "a again"},
        {**GRID, "id": "a turned", "base": "a again", "goal": [3, 1]},
        {**GRID, "id": "like a", "base": "b", "transform": "swap"},
        HALL,
    ]
    found = read_origins(written(tmp_path / "grids.jsonl", *lines))
    bases = {origin.record: origin.base for origin in found}
    assert bases == {
        "a": "a",
        "a again": "a",
        "a turned": "a",
        "like a": "b",
        "b": "b",
    }


def test_what_a_line_says_becomes_grid_base_and_labels(tmp_path: Path) -> None:
    more = {
        "density": 0.5,
        "hard": True,
        "transform": None,
        "distance": 4,
        "tags": ["x"],
        "note": None,
        "base": "z",
    }
    first, second = read_origins(
        written(tmp_path / "grids.jsonl", {**GRID, **more}, HALL)
    )
    assert (first.grid.rows, first.grid.agent, first.grid.goal) == (
        tuple(ROOM),
        (1, 1),
        (3, 3),
    )
    assert (first.base, first.record) == ("z", "a")
    kept = {
        "size": 5,
        "density": 0.5,
        "hard": True,
        "transform": "none",
        "distance": 4,
        "note": "none",
    }
    assert first.labels == kept
    assert (second.base, second.labels) == (
        "b",
        {"size": 4, "transform": "none", "colour": "red"},
    )


def test_the_world_carries_id_labels_and_base(tmp_path: Path) -> None:
    file = written(tmp_path / "grids.jsonl", {**GRID, "base": "z", "size": 5}, HALL)
    environment = GridEnvironment(GridConfig(grids=file, transform="reflect"))
    environment.reset(1)
    world = environment.world()
    assert (world.base, world.facts["record"]) == ("b", "b")
    varied = {"transform": "reflect", "actions": "none", "symbols": "none"}
    assert world.labels == {"size": 4, "colour": "red", **varied, "distance": 1}
    assert (world.facts["rows"], world.facts["agent"]) == (HALL["rows"], [1, 2])
    environment.reset(0)
    assert environment.world().base == "z"


def test_a_line_that_is_a_transform_already_says_so(tmp_path: Path) -> None:
    counterfactual = {
        **GRID,
        "id": "counterfactual",
        "base": "a",
        "transform": "RotateEnv",
    }
    environment = GridEnvironment(
        GridConfig(grids=written(tmp_path / "grids.jsonl", counterfactual))
    )
    environment.reset(0)
    assert environment.world().labels["transform"] == "RotateEnv"
    with pytest.raises(
        ConfigError,
        match=r"not yet transformed, got 'counterfactual', which is RotateEnv of 'a'; choose the othe",
    ):
        GridEnvironment(
            GridConfig(
                grids=written(tmp_path / "grids.jsonl", GRID, counterfactual),
                transform="swap",
            )
        )


def test_oblong_grids_are_aligned(tmp_path: Path) -> None:
    wide = {
        "id": "wide",
        "rows": ["#" * 12, "#" + "_" * 10 + "#", "#" * 12],
        "agent": [1, 1],
        "goal": [1, 10],
    }
    environment = GridEnvironment(
        GridConfig(grids=written(tmp_path / "grids.jsonl", wide))
    )
    lines = environment.reset(0).text.split("\n")
    assert lines[0] == "   0  1  2  3  4  5  6  7  8  9  10 11 "
    assert lines[2].index("G") == lines[0].index("10")


def test_a_run_uses_each_grid_once(grids: Path, tmp_path: Path) -> None:
    evaluate(asked(grids, transform=["none", "swap"]), tmp_path / "run")
    trajectories = load_evidence(tmp_path / "run").trajectories
    for transform in ("none", "swap"):
        records = [
            one.world.facts["record"]
            for one in trajectories
            if one.labels["transform"] == transform
        ]
        assert len(records) == 9
        assert {*records} == {*(f"room{n}" for n in range(8)), "b"}
    assert all(one.succeeded for one in trajectories)
    pairs = [
        [one.world.base for one in trajectories if one.key.condition == condition]
        for condition in (0, 1)
    ]
    assert pairs[0] == pairs[1]


def test_fewer_episodes_are_a_sample_by_the_seed(grids: Path, tmp_path: Path) -> None:
    def sample(seed: int, episodes: int) -> list[str]:
        folder = tmp_path / f"{seed}-{episodes}"
        evaluate(replace(asked(grids, episodes), seed=seed), folder)
        return [one.world.base for one in load_evidence(folder).trajectories]

    four = sample(0, 4)
    assert len({*four}) == 4
    assert sample(0, 7)[:4] == four
    assert sample(1, 4) != four


def test_labels_choose_grids(grids: Path) -> None:
    assert dry(asked(grids, where="colour=red")).episodes == 1
    assert dry(asked(grids, where=["size=5", "size=4"])).episodes == 9
    assert dry(asked(grids, where="size=5 density=0.25 transform=none")).episodes == 1


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            "sise=5",
            "unknown label of env.where in .*grids.jsonl 'sise'. Did you mean size?",
        ),
        (
            "size=9 colour=red",
            "env.where: no grid of .* has the labels size=9 colour=red: choose others",
        ),
        (
            "size",
            "env.where.*: wanted LABEL=VALUE, several separated by spaces, .*, got 'size'",
        ),
    ],
)
def test_refused_selections(grids: Path, where: str, message: str) -> None:
    with pytest.raises(GdeError, match=message):
        dry(asked(grids, where=where))


BROKEN: list[tuple[dict[str, Any] | str, str]] = [
    ("{oops", "wanted JSON, got Expecting property name.*, column 2"),
    ("[1, 2]", r"the record: wanted an object, got \[1, 2\]"),
    ({"id": "x", "rows": ROOM, "agent": [1, 1]}, "goal: wanted a value, got none"),
    ({**HALL, "id": 3}, "id: wanted text, got 3"),
    (
        {**HALL, "agent": [1, 1, 1]},
        r"agent: wanted 2 values at most, got \[1, 1, 1\]",
    ),
    (
        {**HALL, "goal": [1, 2.5]},
        r"goal.1: wanted a whole number, got 2.5",
    ),
    ({**HALL, "rows": "####"}, "rows: wanted a list of values, got '####'"),
    ({**HALL, "rows": []}, r"wanted rows of equal length, got \[\]"),
    (
        {**HALL, "rows": ["####", "#_#"]},
        r"wanted rows of equal length, got \['####', '#_#'\]",
    ),
    (
        {**HALL, "rows": ["####", "#AG#", "####"]},
        r"wanted rows of # \(wall\) and _ \(free\) only, got \['A', 'G'\]",
    ),
    (
        {**HALL, "rows": ["####", "#___", "####"]},
        "wanted walls all around, got a free cell at the edge",
    ),
    (
        {**HALL, "goal": [1, 9]},
        r"wanted the goal on a free cell, got \[1, 9\]",
    ),
    (
        {**HALL, "agent": [-1, 1]},
        r"wanted the agent on a free cell, got \[-1, 1\]",
    ),
    ({**HALL, "goal": [0, 0]}, r"wanted the goal on a free cell, got \[0, 0\]"),
    (
        {**HALL, "goal": [1, 1]},
        r"wanted agent and goal on different cells, got \[1, 1\] for both",
    ),
    (
        {**GRID, "id": "x", "rows": [*ROOM[:2], "#####", *ROOM[3:]]},
        "wanted a path from agent to goal, got none",
    ),
    (GRID, "wanted a unique id, got 'a' again"),
    (
        {**HALL, "distance": 2},
        "wanted distance 1, the length of the shortest path, got 2",
    ),
    (
        {**HALL, "actions": "x"},
        "wanted another name for the label 'actions', which is a setting of the environment",
    ),
    (
        json.dumps({**HALL, "weight": 1.0})[:-4] + "NaN}",
        "weight: wanted a finite number, got nan",
    ),
]


@pytest.mark.parametrize(
    ("line", "message"), BROKEN, ids=[message for _, message in BROKEN]
)
def test_a_broken_line_is_named_before_anything_runs(
    line: Any, message: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "grids.jsonl", GRID, "", line)
    with pytest.raises(ConfigError, match=f"env.grids: {file}:3: {message}"):
        evaluate(asked(file), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_may_hold_a_list_or_drawn_mazes(tmp_path: Path) -> None:
    maze = "######\n#S   #\n#.##.#\n#...G#\n######\n"
    file = tmp_path / "mazes.txt"
    of_maze_dataset = maze.replace("G", "E").replace("#...E", "#XXXE")
    file.write_text(f"\n{maze}\n\n{of_maze_dataset}", encoding="utf-16")
    first, second = read_origins(file)
    assert (first.record, second.record) == ("line 2", "line 9")
    assert first.grid.rows == ("######", "#____#", "#_##_#", "#____#", "######")
    assert (first.grid.agent, first.grid.goal) == ((1, 1), (3, 4))
    for text in (json.dumps([GRID, HALL], indent=1), json.dumps([GRID, HALL])):
        file.write_text(text, encoding="utf-8-sig")
        assert [one.record for one in read_origins(file)] == ["a", "b"]
    for bad, message in (
        (maze.replace("S", " "), ":1: wanted one S in the maze, got 0"),
        (maze.replace(".", "x"), r":1: wanted rows of # .*, got \['x'\]"),
    ):
        file.write_text(bad, encoding="utf-8")
        with pytest.raises(ConfigError, match=message):
            read_origins(file)


TOKENS = (
    "<ADJLIST_START> (0,0) <--> (0,1) ; (1,1) <--> (0,1) ; (1,0) <--> (1,1) ; <ADJLIST_END> "
    "<ORIGIN_START> (1,0) <ORIGIN_END> <TARGET_START> (0,0) <TARGET_END> "
    "<PATH_START> (1,0) (1,1) (0,1) (0,0) <PATH_END>"
)


def test_tokens_of_maze_dataset_are_the_maze_that_it_draws(tmp_path: Path) -> None:
    file = tmp_path / "mazes.txt"
    spaced = TOKENS.replace("(0,0)", "( 0 , 0 )")
    file.write_text(f"{TOKENS}\n\n{spaced}\n")
    drawn = tmp_path / "drawn.txt"
    drawn.write_text("#####\n#EXX#\n###X#\n#SXX#\n#####\n")
    first, second = read_origins(file)
    (same,) = read_origins(drawn)
    assert first.grid == second.grid == same.grid
    assert (first.record, second.record) == ("line 1", "line 3")
    for old, new, message in (
        ("(1,0) <ORIGIN_END>", "<ORIGIN_END>", "wanted <ORIGIN_START>"),
        ("<TARGET_END>", "(1,1) <TARGET_END>", "wanted <TARGET_START>"),
        ("(1,0) <--> (1,1) ;", "(1,0) <-->", "wanted <ADJLIST_START>"),
        ("(1,0) <--> (1,1)", "(1,0) <--> (0,1)", "neighbouring cells"),
        ("(1,1) <--> (0,1) ;", "", "wanted a path from agent to goal"),
    ):
        file.write_text(TOKENS.replace(old, new))
        with pytest.raises(ConfigError, match=f":1: .*{message}"):
            read_origins(file)


@pytest.mark.parametrize("option", ["--dry-run", "--json"])
def test_the_command_line_says_it_in_one_line(option: str, tmp_path: Path) -> None:
    settings = [
        "--set",
        f"env.grids={tmp_path / 'none.jsonl'}",
        "--agent",
        "optimal",
        "--out",
        str(tmp_path / "run"),
    ]
    ran = CliRunner().invoke(build_app(), ["eval", "--env", "grid", *settings, option])
    assert isinstance(ran.exception, ConfigError)
    assert str(ran.exception).endswith(
        "none.jsonl: wanted a file, got No such file or directory"
    )
    assert not (tmp_path / "run").exists()


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"empty.jsonl: wanted a grid, got an empty file"
    ):
        read_origins(written(tmp_path / "empty.jsonl"))
    with pytest.raises(ConfigError, match="wanted a file, got Is a directory"):
        read_origins(tmp_path)
    (tmp_path / "bytes").write_bytes(b"# \xff")
    with pytest.raises(
        ConfigError, match=r"bytes:1: wanted text in UTF-8, got byte 0xff"
    ):
        read_origins(tmp_path / "bytes")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"grids": "x", "size": 9},
            "env: wanted no size together with grids: grids of a file are used unchanged",
        ),
        (
            {"grids": "x", "max_distance": 9},
            "env: wanted no max_distance together with grids",
        ),
        (
            {"where": "size=5"},
            "env: wanted grids=FILE together with where, got only where 'size=5'",
        ),
        ({"grids": ""}, "env.grids: wanted the path of a file or folder, got ''"),
    ],
)
def test_settings_that_do_not_go_with_a_file(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        build(GridConfig, values, "env")


def test_a_resumed_run_notices_that_the_file_has_changed(
    grids: Path, tmp_path: Path
) -> None:
    evaluate(asked(grids), tmp_path / "run")
    resume(tmp_path / "run")
    (tmp_path / "run" / "result.json").unlink()
    path = grids
    path.write_text(
        path.read_text(encoding="utf-8").replace("red", "blue"), encoding="utf-8"
    )
    with pytest.raises(
        GdeError,
        match="lists other worlds than when this run began: restore the source of the worlds",
    ):
        resume(tmp_path / "run")
    path.unlink()
    with pytest.raises(GdeError, match="wanted a file, got No such file"):
        resume(tmp_path / "run")
    assert len(load_evidence(tmp_path / "run").trajectories) == 9


def test_a_file_is_read_again_only_when_it_has_changed(grids: Path) -> None:
    first = read_origins(grids)
    assert read_origins(grids) is first
    written(grids, HALL)
    assert [origin.record for origin in read_origins(grids)] == ["b"]


@pytest.mark.extended
def test_workers_use_each_grid_once_too(grids: Path, tmp_path: Path) -> None:
    how = How(executor=Choice(name="processes", config={"workers": 2}))
    evaluate(asked(grids), tmp_path / "run", how=how)
    evaluate(asked(grids), tmp_path / "serial")
    runs = [load_evidence(tmp_path / name).trajectories for name in ("run", "serial")]
    assert [one.world for one in runs[0]] == [one.world for one in runs[1]]
    assert len({one.world.base for one in runs[0]}) == 9
    assert (
        RunFolder.open(tmp_path / "run").plan().environment
        == RunFolder.open(tmp_path / "serial").plan().environment
    )
