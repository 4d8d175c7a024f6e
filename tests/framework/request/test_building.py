"""A plan from names and settings as they are written on a command line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, GdeError, How, Plan, read_plan, write_plan
from gde.request.building import (
    Wanted,
    amend_how,
    asked_for,
    build_how,
    build_plan,
    choose,
)
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.request.settings import parse_settings

NAMES = {"env": ["corridor"], "agent": ["asking"]}


def wanted(
    *settings: str,
    **names: list[str],
) -> Wanted:
    return Wanted(names={**NAMES, **names}, settings=parse_settings(settings))


def built(*settings: str, **given: Any) -> Plan:
    return build_plan(wanted(*settings, **given))


def test_a_part_may_be_called_otherwise() -> None:
    assert choose("cogmap") == Choice(name="cogmap")
    assert choose("deep=cogmap") == Choice(name="cogmap", alias="deep")
    assert choose("deep=probes:cogmap") == Choice(name="probes:cogmap", alias="deep")


def test_names_become_choices_of_their_kind() -> None:
    request = wanted(
        probe=["where", "deep=where"],
        reward=["judge"],
        metric=["success"],
        report=["html"],
        executor=["processes"],
    )
    plan, how = build_plan(request), build_how(request, How(reporters=["mine"]))
    assert [choice.label for choice in plan.probes] == ["where", "deep"]
    assert plan.rewards == (Choice(name="judge"),)
    assert (plan.environment, plan.agent) == (
        Choice(name="corridor"),
        Choice(name="asking"),
    )
    assert plan.metrics == (Choice(name="success"),)
    assert how.reporters == (Choice(name="html"),)
    assert how.executor == Choice(name="processes")


def test_a_command_line_says_what_and_how_at_once() -> None:
    request = wanted(
        "run.seed=7",
        "run.max_calls=9",
        "run.concurrency=4",
        "run.turn_seconds=none",
        "executor.workers=2",
        "html.films=1",
        "env.length=5",
        executor=["processes"],
        report=["html"],
    )
    settings = How(turn_seconds=3.0, episode_seconds=4.0, cache="kept")
    assert build_how(request, settings) == How(
        concurrency=4,
        executor=Choice(name="processes", config={"workers": "2"}),
        reporters=[Choice(name="html", config={"films": "1"})],
        episode_seconds=4.0,
        max_calls=9,
        cache="kept",
    )
    plan = build_plan(request)
    assert (plan.seed, plan.environment.config) == (7, {"length": "5"})
    assert plan == build_plan(wanted("run.seed=7", "env.length=5"))


def test_a_run_goes_on_otherwise_but_measures_the_same() -> None:
    plan = Plan(
        environment="corridor",
        agent="asking",
        models=[Choice(name="openai:m"), Choice(name="openai:n", alias="big")],
        probes=["where"],
    )
    last = How(max_calls=5, concurrency=2, settings={"big": {"timeout": 3}})
    how = amend_how(
        last,
        plan,
        ["run.max_calls=9", "model.retries=1", "executor.workers=2"],
        "processes",
        ["openai:m@http://a/v1", "big=openai:n@http://b/v1"],
    )
    assert how == How(
        max_calls=9,
        concurrency=2,
        executor=Choice(name="processes", config={"workers": "2"}),
        settings={
            "big": {"timeout": 3, "url": "http://b/v1"},
            "model": {"retries": "1"},
            "openai:m": {"url": "http://a/v1"},
        },
    )
    assert amend_how(last, plan, []) == last


@pytest.mark.parametrize(
    ("settings", "models", "message"),
    [
        (["run.seed=9"], [], r"run\.seed could change the results of the run"),
        (["run.speed=9"], [], "unknown field of run 'speed'"),
        (["gone.timeout=9"], [], "unknown part of --set 'gone'"),
        ([], ["openai:m"], "--model openai:m: wanted MODEL@URL"),
        ([], ["openai:n@http://a"], "the server of a model of the run, which are: "),
        ([], ["big=openai:m@http://a"], "the server of a model of the run"),
    ],
)
def test_what_a_begun_run_cannot_take_is_refused(
    settings: list[str], models: list[str], message: str
) -> None:
    plan = Plan(
        environment="corridor", agent="asking", models=[Choice(name="openai:m")]
    )
    with pytest.raises(GdeError, match=message):
        amend_how(How(), plan, settings, models=models)


def test_settings_go_to_the_parts_that_they_name() -> None:
    plan = built(
        "env.length=3,5",
        "agent.model=planted",
        "model.depth=3",
        "deep.layer=1,2",
        "where.layer=0",
        "judge.model=nano",
        "run.seed=7",
        probe=["where", "deep=where"],
        reward=["judge"],
    )
    assert plan.environment.config == {"length": "3,5"}
    assert plan.agent.config == {"model": "planted"}
    assert plan.models == (Choice(name="", config={"depth": "3"}),)
    assert [choice.config for choice in plan.probes] == [
        {"layer": "0"},
        {"layer": "1,2"},
    ]
    assert plan.rewards[0].config == {"model": "nano"}
    assert plan.seed == 7


@pytest.mark.parametrize(
    ("settings", "names", "message"),
    [
        (
            (),
            {"env": []},
            r"wanted --env NAME \(or --plan FILE\), got none; `gde list environments` lists",
        ),
        ((), {"agent": []}, r"wanted --agent NAME \(or --plan FILE\), got none"),
        (
            ("cogmap.layer=1",),
            {"probe": ["where"]},
            r"unknown part of --set 'cogmap'\. Known: agent, env, .*where",
        ),
        (("judge.model=m",), {}, "add it first, e.g. --reward judge"),
        (("run.speed=1",), {}, "unknown field of run 'speed'"),
        (
            ("run.episodes=0",),
            {},
            r"run\.episodes: wanted greater than or equal to 1, got '0'",
        ),
        (
            ("run.turn_seconds=-1",),
            {},
            r"run\.turn_seconds: wanted greater than 0, got '-1'",
        ),
        (("env.length",), {}, r"--set 'env.length': wanted PART\.FIELD=VALUE"),
    ],
)
def test_what_cannot_be_read_is_refused(
    settings: tuple[str, ...], names: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(GdeError, match=message):
        request = wanted(*settings, **names)
        build_how(request, How())
        build_plan(request)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    agent = Choice(name="advised", config={"model": "logged"})
    plan = Plan(
        environment="corridor",
        agent=agent,
        models=[Choice(name="", config={"log": "x"})],
        rewards=["judge"],
        seed=3,
    )
    path.write_text(write_plan(plan), encoding="utf-8")
    return path


def with_file(file: Path, *settings: str, **names: list[str]) -> Plan:
    return build_plan(
        Wanted(names=names, settings=parse_settings(settings), plan=read_plan(file))
    )


def test_a_plan_file_is_overridden_by_what_is_said_beside_it(file: Path) -> None:
    plan = with_file(file, "env.length=5", "run.seed=4", metric=["success"])
    assert plan.environment == Choice(name="corridor", config={"length": "5"})
    assert (plan.seed, plan.metrics, plan.rewards) == (
        4,
        (Choice(name="success"),),
        (Choice(name="judge"),),
    )
    assert plan.models == (unnamed(log="x"),)


def test_settings_of_the_model_go_with_their_agent_and_model(file: Path) -> None:
    own = unnamed(log="x")
    assert with_file(file, agent=["asking"]).models == ()
    assert with_file(file, "agent.model=planted").models == ()
    assert with_file(file, model=["planted"]).models == ()
    assert with_file(file, "agent.adviser=planted").models == (own,)
    assert with_file(file, "model.pause=1").models == (own, unnamed(pause="1"))


def test_models_get_names_and_settings_of_their_own(file: Path) -> None:
    plan = with_file(
        file,
        "big.pause=2",
        "agent.adviser=big",
        model=["planted", "big=logged:x?a=b"],
    )
    big = Choice(name="logged:x?a=b", alias="big", config={"pause": "2"})
    assert plan.models == (big,)
    assert plan.agent.config == {"model": "planted", "adviser": "big"}


def unnamed(**config: str) -> Choice:
    """Settings of the agent's model."""
    return Choice(name="", config=config)


def test_a_server_that_is_said_beside_a_plan_file_is_taken(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("env.use='corridor'\nagent={use='react', model='openai:m'}")
    for settings in (["agent.model=openai:m@http://a"], ["model.url=http://a"]):
        ready = resolve(with_file(path, *settings), catalogue)
        assert ready.how.settings["openai:m"]["url"] == "http://a"


def test_names_in_a_plan_file_stay_what_they_are(file: Path) -> None:
    plan = with_file(file)
    assert replace(plan, environment=choose("corridor")) == plan


def test_parts_are_added_with_models_of_their_own() -> None:
    probes, models = asked_for(
        "probe",
        ["cogmap"],
        ["cogmap.weights=here", "here.date=2026-11-20"],
        ["here=hf:a=b"],
    )
    assert probes == (Choice(name="cogmap", config={"weights": "here"}),)
    dated = Choice(name="hf:a=b", alias="here", config={"date": "2026-11-20"})
    assert models == (dated,)
    with pytest.raises(GdeError, match="--model hf:a: wanted ALIAS=MODEL"):
        asked_for("probe", ["cogmap"], [], ["hf:a"])
    with pytest.raises(GdeError, match="--set plan: unknown probe"):
        asked_for("probe", ["cogmap"], ["plan.x=1"], ["here=hf:a"])
