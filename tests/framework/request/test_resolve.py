"""From a plan to parts: names, sweeps, groups, models and the defaults that are listed
by name.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gde import Choice, ConfigError, GdeError, Plan, UnknownName
from gde.offers import Capability
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.planfile import plan_hash
from gde.request.resolve import resolve

PLAN = Plan(environment="corridor", agent="scripted")
UNRELATED = """
from gde import MetricOffer, NoConfig, Offer, hookimpl

def nothing(evidence):
    return ()

@hookimpl
def gde_metrics():
    make = lambda _, __: nothing
    return [MetricOffer(name=name, summary="s", config=NoConfig, make=make, default=True) for name in {names}]

@hookimpl
def gde_agents():
    return [Offer(name="theirs", summary="s", config=NoConfig, make=lambda _, __: None)]
"""


def labels(plan: Plan, catalogue: Catalogue) -> list[str]:
    return [part.label for part in resolve(plan, catalogue).metrics]


def with_plugin(
    folder: Path, names: Sequence[str], patch: pytest.MonkeyPatch
) -> Catalogue:
    (folder / "unrelated.py").write_text(UNRELATED.format(names=list(names)))
    patch.syspath_prepend(str(folder))
    patch.delitem(__import__("sys").modules, "unrelated", raising=False)
    return Catalogue(
        load_plugins(modules=("gde.testing.plugin", "odd_parts", "unrelated"))
    )


def test_defaults_are_listed_by_name_with_their_settings(catalogue: Catalogue) -> None:
    ready = resolve(PLAN, catalogue)
    plan = ready.plan
    assert {"success", "accuracy", "efficiency"} <= {
        choice.name for choice in plan.metrics
    }
    assert "html" in {choice.name for choice in ready.how.reporters}
    assert resolve(plan, catalogue) == ready
    assert resolve(plan, catalogue, ready.how).how == ready.how
    assert plan_hash(replace(plan, metrics=())) != plan_hash(plan)


def test_defaults_are_those_that_the_parts_can_feed(catalogue: Catalogue) -> None:
    assert "efficiency" not in labels(
        replace(PLAN, environment=Choice(name="recipe")), catalogue
    )
    judged = replace(PLAN, rewards=(Choice(name="monotonic"),))
    assert "epic" in labels(judged, catalogue)


def test_what_else_is_installed_plays_no_part(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = with_plugin(tmp_path, ["theirs"], monkeypatch)
    assert "theirs" in more.names("metric")
    assert labels(PLAN, more) == labels(PLAN, catalogue)
    assert plan_hash(resolve(PLAN, more).plan) == plan_hash(
        resolve(PLAN, catalogue).plan
    )


def test_the_defaults_of_a_plugin_come_with_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = with_plugin(tmp_path, ["theirs"], monkeypatch)
    assert "theirs" in labels(replace(PLAN, agent=Choice(name="theirs")), more)


def test_a_default_that_another_plugin_calls_the_same_is_still_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = with_plugin(tmp_path, ["success"], monkeypatch)
    ready = resolve(PLAN, more)
    (success,) = [part for part in ready.metrics if part.label == "success"]
    assert success.entry.qualified == "behaviour:success"
    assert labels(ready.plan, more) == labels(PLAN, more)
    with pytest.raises(
        GdeError,
        match=r"metric 'success' is offered by .*: say behaviour:success or unrelated:success",
    ):
        resolve(replace(PLAN, metrics=(Choice(name="success"),)), more)


def test_a_sweep_becomes_conditions_and_stays_in_the_plan(catalogue: Catalogue) -> None:
    swept = replace(
        PLAN,
        environment=Choice(
            name="slow-corridor", config={"length": [3, 5], "seconds": [0.0, 0.1]}
        ),
    )
    ready = resolve(swept, catalogue)
    assert [condition.labels for condition in ready.conditions] == [
        {"length": length, "seconds": seconds}
        for length in (3, 5)
        for seconds in (0.0, 0.1)
    ]
    assert ready.plan.environment.config == {
        "length": [3, 5],
        "seconds": [0.0, 0.1],
        "trap": -1,
    }
    assert resolve(ready.plan, catalogue).plan == ready.plan


def test_the_name_of_a_group_stands_for_its_members(catalogue: Catalogue) -> None:
    meg = labels(
        replace(PLAN, metrics=(Choice(name="success"), Choice(name="meg"))), catalogue
    )
    assert meg[0] == "success"
    assert {"meg-known", "meg-unknown"} <= {*meg}


@pytest.mark.parametrize(
    "group", [Choice(name="meg", config={"beta": 1}), Choice(name="meg", alias="mine")]
)
def test_a_group_is_neither_set_nor_renamed(
    group: Choice, catalogue: Catalogue
) -> None:
    with pytest.raises(
        ConfigError,
        match=r"metric '\w+': a group is neither renamed nor set; name its members meg-",
    ):
        resolve(replace(PLAN, metrics=(group,)), catalogue)


def test_a_part_is_had_twice_under_two_names(catalogue: Catalogue) -> None:
    twice = (Choice(name="success"), Choice(name="success", alias="again"))
    assert labels(replace(PLAN, metrics=twice), catalogue) == ["success", "again"]
    with pytest.raises(
        ConfigError,
        match=r"metric 'again' is listed twice; .*: OTHER=again",
    ):
        resolve(
            replace(PLAN, metrics=(*twice, Choice(name="length", alias="again"))),
            catalogue,
        )


@pytest.mark.parametrize(
    "alias", ["../../elsewhere", "a/b", "two words", "a\\b", "new\nline"]
)
def test_a_name_that_cannot_name_a_file_is_refused(
    alias: str, catalogue: Catalogue
) -> None:
    with pytest.raises(
        ConfigError, match=r"probe .*: wanted a name without blanks and slashes"
    ):
        resolve(replace(PLAN, probes=(Choice(name="where", alias=alias),)), catalogue)


def test_settings_of_the_model_are_for_the_first_that_the_agent_names(
    catalogue: Catalogue,
) -> None:
    config = {"model": "logged", "adviser": "planted"}
    plan = replace(
        PLAN,
        agent=Choice(name="advised", config=config),
        models=[Choice(name="", config={"log": "here"})],
    )
    ready = resolve(plan, catalogue)
    assert ready.agent_model == "logged"
    assert ready.models["logged"].config.log == "here"
    assert set(ready.models) == {"logged", "planted"}
    by_name = {choice.name: choice for choice in ready.plan.models}
    assert by_name["logged"].config["log"] == "here"
    assert by_name["planted"].config == {"width": 64}


def test_a_judge_that_names_the_agent_s_model_has_the_same_with_its_settings(
    asking: Catalogue,
) -> None:
    agent, judge = (
        Choice(name=name, config={"model": "noted"})
        for name in ("asking", "progress-judge")
    )
    plan = replace(
        PLAN,
        agent=agent,
        rewards=(judge,),
        models=[Choice(name="", config={"source": "here"})],
    )
    assert [model.config.source for model in resolve(plan, asking).models.values()] == [
        "here"
    ]


def test_settings_of_a_model_that_nobody_asks_are_refused(catalogue: Catalogue) -> None:
    with pytest.raises(
        ConfigError, match=r"model\.depth: agent 'scripted' uses no language model"
    ):
        resolve(replace(PLAN, models=[Choice(name="", config={"depth": 3})]), catalogue)


def test_a_name_of_the_user_s_own_is_a_model_for_every_part(
    asking: Catalogue,
) -> None:
    agent, judge = (
        Choice(name=name, config={"model": "big"})
        for name in ("asking", "progress-judge")
    )
    big = Choice(name="noted:here", alias="big", config={"note": "n"})
    unused = Choice(name="noted:there", alias="small")
    plan = replace(PLAN, agent=agent, rewards=(judge,), models=(big, unused))
    ready = resolve(plan, asking)
    assert {name: each.config.source for name, each in ready.models.items()} == {
        "big": "here"
    }
    # The plan in the run folder makes the same parts.
    assert resolve(ready.plan, asking).models == ready.models


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([("planted", "big"), ("logged", "big")], "'big' is listed twice"),
        ([("planted", "a.b")], r"'a\.b': wanted a name of letters"),
        ([("planted", "run")], "'run': settings of that name are those of another"),
        ([("planted", "logged")], "'logged': a model of that name exists already"),
    ],
)
def test_names_of_models_that_mean_two_things_are_refused(
    models: list[tuple[str, str]], message: str, catalogue: Catalogue
) -> None:
    _, alias = models[0]
    choices = [Choice(name=name, alias=alias) for name, alias in models]
    agent = Choice(name="advised", config={"model": alias})
    with pytest.raises(ConfigError, match=message):
        resolve(replace(PLAN, agent=agent, models=choices), catalogue)


def test_parts_that_are_gone_are_refused_or_stand_in(catalogue: Catalogue) -> None:
    gone = replace(
        PLAN,
        environment=Choice(name="gone", config={"size": 9}),
        agent=Choice(name="asking", config={"model": "gone:x"}),
        metrics=(
            Choice(name="gone", config={"a": 1}),
            Choice(name="success", config={"unknown": 1}),
        ),
    )
    with pytest.raises(UnknownName, match="unknown environment 'gone'"):
        resolve(gone, catalogue)
    ready = resolve(gone, catalogue, absent=True)
    assert "unknown environment 'gone'" in ready.environment.absent
    assert [bool(part.absent) for part in ready.metrics] == [True, True]
    assert "unknown language model 'gone'" in ready.models["gone:x"].absent
    assert ready.plan.environment.config == {"size": 9}
    assert ready.plan.metrics == gone.metrics
    with pytest.raises(GdeError, match="unknown environment 'gone'"):
        ready.environment.make(None)  # type: ignore[arg-type]


def test_a_process_that_is_one_gives_its_optimum_too(catalogue: Catalogue) -> None:
    assert {Capability.MDP, Capability.OPTIMUM} <= resolve(PLAN, catalogue).gives
    recipe = resolve(replace(PLAN, environment=Choice(name="recipe")), catalogue).gives
    assert Capability.OPTIMUM in recipe and Capability.MDP not in recipe


def test_a_group_takes_what_fits_the_run_and_what_is_asked_for_by_name_must_fit(
    catalogue: Catalogue,
) -> None:
    fitting = labels(replace(PLAN, metrics=("meg",)), catalogue)
    assert "meg-known" in fitting and "meg-belief" not in fitting
    assert "meg-belief" in labels(
        replace(PLAN, metrics=("meg", "meg-belief")), catalogue
    )
    ready = resolve(replace(PLAN, metrics=("meg",)), catalogue)
    assert [choice.name for choice in ready.plan.metrics] == fitting


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("corridor,long-corridor", "One run has one environment: begin a run for each"),
        ("corridor,nowhere", "Known: "),
    ],
)
def test_several_environments_are_told_what_to_do(
    name: str, told: str, catalogue: Catalogue
) -> None:
    with pytest.raises(UnknownName, match=told) as refused:
        resolve(Plan(environment=name, agent="random"), catalogue)
    assert ("begin a run for each" in str(refused.value)) is ("nowhere" not in name)
