"""A plan from names and settings as they are written on a command line."""

from dataclasses import replace
from pathlib import Path

import pytest

from gde import Choice, GdeError, Plan, write_plan
from gde.request.building import Wanted, asked_for, build_plan, choose

NAMES = {"env": ["corridor"], "agent": ["asking"]}


def built(
    *settings: str,
    file: Path | None = None,
    numbers: dict[str, int] | None = None,
    **names: list[str],
) -> Plan:
    return build_plan(
        Wanted(
            names={**NAMES, **names},
            settings=settings,
            file=file,
            numbers=numbers or {},
        )
    )


def test_a_part_may_be_called_otherwise() -> None:
    assert choose("cogmap") == Choice(name="cogmap")
    assert choose("deep=cogmap") == Choice(name="cogmap", alias="deep")
    assert choose("deep=probes:cogmap") == Choice(name="probes:cogmap", alias="deep")


def test_names_become_choices_of_their_kind() -> None:
    plan = built(
        probe=["where", "deep=where"],
        reward=["judge"],
        metric=["success"],
        report=["html"],
    )
    assert [choice.label for choice in plan.probes] == ["where", "deep"]
    assert plan.rewards == (Choice(name="judge"),)
    assert (plan.environment, plan.agent) == (
        Choice(name="corridor"),
        Choice(name="asking"),
    )
    assert (plan.metrics, plan.reporters) == (
        (Choice(name="success"),),
        (Choice(name="html"),),
    )


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


def test_options_of_the_run_go_before_settings() -> None:
    assert built("run.seed=7", numbers={"seed": 8}).seed == 8


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
        built(*settings, **names)


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
    return build_plan(Wanted(names=names, settings=settings, file=file))


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
