"""Several agents and models in one request: a plan for each, and what is refused."""

from pathlib import Path

import pytest

from gde.before.preparing import prepare
from gde.data.plan import Plan
from gde.errors import ConfigError, UnknownName
from gde.request.building import Wanted
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.planfile import read_plan
from gde.request.settings import parse_settings
from gde.request.variants import variants


def asked(
    agents: str, *settings: str, probes: tuple[str, ...] = (), file: Path | None = None
) -> dict[str, Plan]:
    names = (
        {"env": ["grid"], "agent": [agents], "probe": list(probes)}
        if file is None
        else {}
    )
    return variants(
        Wanted(names=names, settings=parse_settings(settings)),
        Catalogue(load_plugins()),
        file,
    )


def test_one_agent_as_it_is_stays_one_plan() -> None:
    (plan,) = asked("gpt-oss", "agent.effort=high").values()
    assert plan.agent.config == {"effort": "high"}


def test_agents_and_their_fields_are_crossed_and_settings_go_where_they_mean_something() -> (
    None
):
    plans = asked(
        "noisy,gpt-oss", "agent.p=0.1,0.4", "agent.model=nano", "model.batch_size=2"
    )
    assert list(plans) == ["noisy-0.1", "noisy-0.4", "gpt-oss"]
    assert plans["noisy-0.4"].agent.config == {"p": 0.4}
    assert not plans["noisy-0.1"].models
    assert plans["gpt-oss"].agent.config["model"] == "nano"
    (model,) = plans["gpt-oss"].models
    assert model.config == {"batch_size": "2"}


def test_models_and_their_settings_make_variants() -> None:
    plans = asked("gpt-oss", "agent.model=nano,hf:/some/folder")
    assert list(plans) == ["gpt-oss-nano", "gpt-oss-hf-some-folder"]
    assert list(asked("gpt-oss", "model.batch_size=1,8")) == ["gpt-oss-1", "gpt-oss-8"]


def test_named_models_make_variants() -> None:
    names = {"env": ["grid"], "agent": ["gpt-oss"]}
    models = ["a=nano", "b=nano:plain", "a", "b"]
    wanted = Wanted(
        names={**names, "model": models}, settings=parse_settings(["b.batch_size=1,2"])
    )
    plans = variants(wanted, Catalogue(load_plugins()))
    assert list(plans) == ["gpt-oss-a", "gpt-oss-b-1", "gpt-oss-b-2"]
    ready = prepare(plans["gpt-oss-b-2"])
    assert [choice.config["source"] for choice in ready.plan.models] == ["plain"]
    assert ready.how.settings["b"]["batch_size"] == 2


def test_a_named_model_that_nobody_asks_is_refused() -> None:
    names = {"env": ["grid"], "agent": ["gpt-oss"], "model": ["big=nano"]}
    with pytest.raises(ConfigError, match=r"--model big: .* --set agent\.model=big"):
        variants(Wanted(names=names), Catalogue(load_plugins()))


def test_what_an_variant_cannot_feed_is_left_out_unless_nobody_can() -> None:
    plans = asked("gpt-oss,optimal", probes=("cogmap",))
    assert [choice.name for choice in plans["gpt-oss"].probes] == ["cogmap"]
    assert plans["optimal"].probes == ()
    assert all(
        plan.probes for plan in asked("random,optimal", probes=("cogmap",)).values()
    )


def test_a_plan_file_may_sweep_its_agent(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[env]\nuse = "grid"\n[agent]\nuse = "noisy"\np = [0.0, 0.5]\n')
    assert list(asked("", file=file)) == ["noisy-0.0", "noisy-0.5"]


def test_a_plan_file_may_list_agents(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    agents = (
        '[[agent]]\nuse = "noisy"\np = [0.0, 0.5]\n[[agent]]\nuse = '
        '"gpt-oss"\nas = "llm"\n[[agent]]\nuse = "optimal"\n'
    )
    file.write_text(f'[env]\nuse = "grid"\n[[model]]\ndtype = "float32"\n{agents}')
    plans = asked("", "agent.effort=high", file=file)
    assert list(plans) == ["noisy-0.0", "noisy-0.5", "llm", "optimal"]
    assert plans["llm"].agent.config == {"effort": "high"}
    (model,) = plans["llm"].models
    assert model.config == {"dtype": "float32"}
    assert not plans["optimal"].models
    (only,) = variants(
        Wanted(names={"agent": ["random"]}), Catalogue(load_plugins()), file
    ).values()
    assert only.agent.name == "random"
    with pytest.raises(ConfigError, match="wanted one \\[agent\\], got a list"):
        read_plan(file)


@pytest.mark.parametrize(
    "agents", ["[[agent]]\np = 1\n", "agent = []\n", 'agent = ["noisy"]\n']
)
def test_a_list_of_agents_that_names_none_is_refused(
    agents: str, tmp_path: Path
) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(f'{agents}[env]\nuse = "grid"\n')
    with pytest.raises(ConfigError, match="wanted"):
        asked("", file=file)


@pytest.mark.parametrize(
    ("agents", "settings", "message"),
    [
        (
            "optimal,optimal",
            (),
            "agent 'optimal' is listed twice: rename one: OTHER=optimal",
        ),
        (
            "optimal,random",
            ("agent.effort=low",),
            "unknown field of agent 'effort'. Known: ties",
        ),
        ("optimal,nobody", (), "unknown agent 'nobody'"),
        ("gpt-oss,random", ("model.nonsense=3",), "unknown field of model 'nonsense'"),
        (
            "random,optimal",
            ("model.batch_size=3",),
            "model.batch_size: agent 'random' uses no language model",
        ),
        (
            "random",
            ("agent.model=nano",),
            "agent 'random' uses no language model: leave out the model",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(
    agents: str, settings: tuple[str, ...], message: str
) -> None:
    with pytest.raises((ConfigError, UnknownName), match=message.replace(".", r"\.")):
        for plan in asked(agents, *settings).values():
            prepare(plan)
