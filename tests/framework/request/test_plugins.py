"""Loading plugins: a broken one is a record, a duplicate is an error only for who asks
for it.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from gde.errors import GdeError, UnknownName
from gde.request.catalogue import Catalogue, call_each, load_plugins

AGENT = """
from gde import Offer, NoConfig, hookimpl
@hookimpl
def gde_agents():
    return (Offer(name={name!r}, summary="s", config=NoConfig, make=lambda c, _: None),)
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_bundled_plugins_load_through_the_public_group() -> None:
    records = {record.name: record for record in load_plugins().records}
    assert {"grid", "text_agent", "probes", "executors", "pages"} <= records.keys()
    assert not [record for record in records.values() if record.error]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import does_not_exist_anywhere", "ModuleNotFoundError"),
        ("raise SystemExit(7)", "SystemExit: 7"),
        ("raise BaseException('odd')", "BaseException: odd"),
        (
            "from gde import hookimpl\n@hookimpl\ndef gde_agents(): raise SystemExit('bye')",
            "SystemExit: bye",
        ),
        (
            "from gde import hookimpl\n@hookimpl\ndef gde_agentz(): ...",
            "unknown hook 'gde_agentz'",
        ),
        (
            "from gde import hookimpl\n@hookimpl\ndef gde_agents(): import nowhere_at_all",
            "ModuleNotFoundError",
        ),
        (
            "from gde import hookimpl\n@hookimpl\ndef gde_agents(): return ['random']",
            "must give a sequence of Offers",
        ),
        (
            AGENT.replace("agents", "environments").format(name="x"),
            "a sequence of EnvironmentOffers, got Offer",
        ),
    ],
)
def test_broken_plugin_is_kept_with_its_reason_and_stops_nothing(
    modules: Path, source: str, reason: str
) -> None:
    (modules / "broken_one.py").write_text(source)
    plugins = load_plugins(modules=["broken_one"])
    assert [
        (record.name, reason in record.error)
        for record in plugins.records
        if record.error
    ] == [("broken_one", True)]
    catalogue = Catalogue(plugins)
    assert catalogue.find("environment", "grid").plugin == "grid"
    with pytest.raises(UnknownName, match="Plugins that are off: broken_one"):
        catalogue.find("agent", "nobody")


def test_duplicate_names_name_both_modules_and_stay_reachable_by_qualified_name(
    modules: Path,
) -> None:
    (modules / "first_rival.py").write_text(AGENT.format(name="random"))
    catalogue = Catalogue(load_plugins(modules=["first_rival"]))
    with pytest.raises(
        GdeError,
        match=r"gde_plugins\.baselines\.plugin and first_rival: say baselines:random",
    ):
        catalogue.find("agent", "random")
    assert catalogue.find("agent", "first_rival:random").module == "first_rival"
    assert {"baselines:random", "first_rival:random"} <= set(catalogue.names("agent"))


def test_plugins_can_be_left_out_and_added(
    modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (modules / "added.py").write_text(AGENT.format(name="extra"))
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "added")
    monkeypatch.setenv("GDE_DISABLE_PLUGINS", "behaviour")
    ours = [
        point.name
        for point in entry_points(group="gde")
        if point.value.startswith("gde_plugins.")
    ]
    catalogue = Catalogue(
        load_plugins(
            disable=[name for name in ours if name not in {"baselines", "behaviour"}]
        )
    )
    assert catalogue.names("environment") == []
    assert "success" not in catalogue.names("metric")
    assert "extra" in catalogue.names("agent")


def test_a_module_that_is_named_twice_or_declared_besides_is_loaded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "gde.testing.plugin,gde_plugins.grid.plugin")
    plugins = load_plugins(modules=("gde.testing.plugin",))
    assert not any(record.error for record in plugins.records)
    modules = [record.module for record in plugins.records]
    assert len(modules) == len(set(modules))
    assert "gde.testing.plugin" in modules


def test_disabling_what_does_not_exist_is_refused() -> None:
    with pytest.raises(GdeError, match=r"cannot disable plugin 'gird'.*grid"):
        load_plugins(disable=["gird"])


def test_unknown_name_suggests_near_misses_and_lists_what_exists() -> None:
    with pytest.raises(
        UnknownName,
        match=r"unknown environment 'gird'\. Did you mean grid\? Known: .*grid",
    ):
        Catalogue.default().find("environment", "gird")


def test_an_event_that_raises_is_complained_of_and_stops_nothing(modules: Path) -> None:
    (modules / "loud.py").write_text(
        "from gde import hookimpl\n@hookimpl\ndef gde_run_finished(): 1 / 0"
    )
    (modules / "calm.py").write_text(
        "from gde import hookimpl\nseen = []\n@hookimpl\ndef gde_run_finished(result): seen.append(result)"
    )
    complaints: list[str] = []
    hook = load_plugins(modules=["loud", "calm"]).manager.hook
    call_each(hook.gde_run_finished, complaints.append, result="the result")
    assert complaints == [
        "plugin loud: gde_run_finished failed: ZeroDivisionError: division by zero"
    ]
    assert sys.modules["calm"].seen == ["the result"]


def test_two_loads_share_nothing() -> None:
    assert load_plugins().manager is not load_plugins().manager
