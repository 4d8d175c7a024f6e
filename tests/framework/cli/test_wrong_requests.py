"""Wrong requests: one line that names what is wrong, and nothing is written, whichever
way they come.
"""

from collections.abc import Mapping
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from commands import Gde
from own_parts import go_right

from gde import Choice, FunctionAgent, GdeError, How, Plan, RunFailed, evaluate
from gde.testing.parts import Corridor

PARTS: Mapping[str, Any] = {
    "environment": Corridor,
    "agent": FunctionAgent(go_right),
    "metrics": ["success"],
    "episodes": 2,
}
OF_PLAN: list[tuple[str, Any]] = [
    *(("goal_swap", value) for value in ("no", 1, None)),
    *(("learning", value) for value in ("no", 0, None)),
    *(("seed", value) for value in ("1", -1, 1.0, True, None)),
    *(("episodes", value) for value in ("20", 0, -3, 2.5, 2.0, True, None, [2])),
    *(("repeats", value) for value in (1.5, 0, "2")),
    *(("initialisations", value) for value in ("5", 0, True, 2.5)),
    *(("metrics", value) for value in ("success", None, 5, [5], [["success"]])),
    *(("probes", value) for value in ("cogmap", None, [5])),
    *(("rewards", value) for value in ("x", [5])),
    *(("models", value) for value in (5, [5], "nano")),
    *(("agent", value) for value in (5, "", ["random"], "nobody", b"random")),
    *(("environment", value) for value in (5, "", "nowhere", {})),
]
OF_HOW: list[tuple[str, Any]] = [
    *(("turn_seconds", value) for value in ("5", 0, nan, inf, True)),
    *(("episode_seconds", value) for value in ("5", -1)),
    *(("run_seconds", value) for value in (-1, "9")),
    *(("part_seconds", value) for value in ("x", -2)),
    *(("concurrency", value) for value in ("4", 0, 1.5, None)),
    *(("max_calls", value) for value in ("5", 0)),
    ("max_tokens", 1.5),
    *(("max_cost", value) for value in ("1", -1)),
    *(("executor", value) for value in (5, "nowhere")),
    *(("reporters", value) for value in ("html", [5])),
    *(("cache", value) for value in (5, None)),
    *(("settings", value) for value in (5, {"model": 5}, {1: {}})),
]
OF_PARTS: list[tuple[str, str, Any]] = [
    *(("env", "size", value) for value in ("7", 7.0, True, 2.5, [], None, {}, "7,9")),
    *(("env", "size", value) for value in (["7"], [7, 7], [7, 999])),
    *(("env", "density", value) for value in ("x", nan, 2.0, False)),
    *(("agent", "p", value) for value in ("0.2", True, None, 7, inf, object())),
]
OF_CALL: list[tuple[str, Any]] = [
    *(("plan", value) for value in ("plan.toml", None, dict(PARTS))),
    *(("out", value) for value in (5, b"run", True, [], "s3://bucket/run")),
    *(("how", value) for value in (5, {"concurrency": 4})),
    ("catalogue", 5),
    ("watch", 5),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(plan: Mapping[str, Any], how: Mapping[str, Any] | None = None) -> str:
    """The words in which a request is refused."""
    with pytest.raises(GdeError) as caught:
        evaluate(Plan(**{**PARTS, **plan}), "run", how=How(**(how or {})))
    return said(caught.value)


def said(error: GdeError) -> str:
    assert not isinstance(error, RunFailed)
    assert not any(Path().iterdir())
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize(("field", "value"), OF_PLAN)
def test_a_plan_takes_what_its_fields_say(field: str, value: Any) -> None:
    assert field.rstrip("s").replace("reward", "") in refused({field: value})


@pytest.mark.parametrize(("field", "value"), OF_HOW)
def test_so_does_the_way_it_is_run(field: str, value: Any) -> None:
    assert field.rstrip("s") in refused({}, {field: value})


@pytest.mark.parametrize(("whose", "field", "value"), OF_PARTS)
def test_settings_of_parts_are_no_texts_in_python(
    whose: str, field: str, value: Any
) -> None:
    grid, noisy = {}, {}
    (grid if whose == "env" else noisy)[field] = value
    message = refused(
        {
            "environment": Choice(name="grid", config=grid),
            "agent": Choice(name="noisy", config=noisy),
        }
    )
    assert message.startswith(f"{whose}.{field}: ")


@pytest.mark.parametrize(
    "fields",
    [{"name": 5}, {"config": 5}, {"config": {1: 2}}, {"alias": 5}, {"name": b"grid"}],
)
def test_a_choice_takes_what_its_fields_say(fields: Mapping[str, Any]) -> None:
    with pytest.raises(GdeError, match=rf"^Choice\.{next(iter(fields))}: wanted \S"):
        Choice(**{"name": "grid", **fields})


@pytest.mark.parametrize(("argument", "value"), OF_CALL)
def test_evaluate_takes_what_its_arguments_say(argument: str, value: Any) -> None:
    call: dict[str, Any] = {"plan": Plan(**PARTS), "out": "run", argument: value}
    with pytest.raises(GdeError) as caught:
        evaluate(**call)
    assert said(caught.value).startswith(("s3:", f"{argument}: wanted a"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("episodes", 0),
        ("episodes", 2.5),
        ("episodes", True),
        ("repeats", -1),
        ("seed", -1),
        ("goal_swap", 3),
        ("initialisations", 0),
    ],
)
def test_python_and_a_file_say_the_same(field: str, value: Any, gde: Gde) -> None:
    in_python = refused({field: value})
    text = f'[env]\nuse = "grid"\n[agent]\nuse = "random"\n[run]\n{field} = {value}\n'
    Path("plan.toml").write_text(text.lower())
    _, _, error = gde("eval", "--plan", "plan.toml")
    assert error == f"gde: {in_python}\n"
    assert list(Path().iterdir()) == [Path("plan.toml")]


@pytest.mark.parametrize(
    ("setting", "fields"),
    [
        ("run.episodes=0", {"episodes": 0}),
        ("run.seed=-1", {"seed": -1}),
        ("run.learning=5", {"learning": 5}),
    ],
)
def test_a_command_line_says_the_same_of_its_text(
    setting: str, fields: Mapping[str, Any], gde: Gde
) -> None:
    in_python, _, got = refused(fields).partition(", got ")
    _, _, error = gde("eval", "--env", "grid", "--agent", "random", "--set", setting)
    assert error == f"gde: {in_python}, got {got!r}\n"


def test_numpy_and_other_numbers_of_a_kind_are_taken() -> None:
    assert How(turn_seconds=5).turn_seconds == 5
    assert Plan(**{**PARTS, "metrics": iter(["success"])}).metrics[0].name == "success"


@pytest.mark.parametrize(
    "command",
    [
        "eval --env corridor --agent scripted --episodes 2",
        "eval --env corridor --agent scripted,random --episodes 2",
        "report RUN",
        "import LOG",
        "new-plugin mine --kind agent",
        "profile --agent noisy",
        "reproduce telos-behaviour",
        "babyai dataset --task predict",
        "rewardbench build",
    ],
)
@pytest.mark.parametrize("out", ["s3://bucket/run", "gs://bucket", "file:///tmp/run"])
def test_no_command_writes_to_an_address(
    command: str, out: str, gde: Gde, tmp_path: Path
) -> None:
    done = gde(*command.split(), "--out", out)
    assert done.returncode == 2
    assert "wanted a local path, got an address" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
