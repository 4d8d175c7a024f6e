"""Every part of a distribution is checked by what its kind promises; the framework's
kit and broken counterfactuals stand in.
"""

import sys
from pathlib import Path

import pytest

from gde.errors import ConfigError, UnknownName
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.kinds import KINDS
from gde.testing.distribution import Checked, check_distribution

HEAD = '''"""A plugin."""
from dataclasses import dataclass
from gde import GdeError, NoConfig, Offer, hookimpl
from gde.request.kinds import KINDS


@dataclass(frozen=True)
class Needy:
    """What has no default."""

    number: int
    """Any."""


class Part:
    """Has nothing of what any kind wants."""


class Silent:
    """An agent that decides nothing."""

    def begin(self, brief): ...

    async def act(self, observation):
        return observation.text


def wrong(kind):
    return KINDS[kind].offer(name=f"wrong-{kind}", summary="Wrong.", config=NoConfig, make=lambda _, __: Part())
'''
HOOK = "\n\n@hookimpl\ndef gde_{kind}s():\n    return (wrong({kind!r}),)\n"


@pytest.fixture
def plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> "Plugin":
    return Plugin(tmp_path, monkeypatch, request.node.name.partition("[")[0])


class Plugin:
    """A module that GDE_LOAD_PLUGINS would name."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, test: str
    ) -> None:
        self._folder, self._monkeypatch, self.name = (
            folder,
            monkeypatch,
            f"plugin_of_{test}",
        )

    def write(self, body: str) -> Catalogue:
        (self._folder / f"{self.name}.py").write_text(HEAD + body, encoding="utf-8")
        self._monkeypatch.syspath_prepend(str(self._folder))
        self._monkeypatch.setenv("PYTHONPATH", str(self._folder), prepend=":")
        self._monkeypatch.delitem(sys.modules, self.name, raising=False)
        return Catalogue(load_plugins((), (self.name,)))


def test_a_part_of_every_kind_that_breaks_its_promises_is_named(plugin: Plugin) -> None:
    found = [
        *check_distribution(
            plugin.name, plugin.write("".join(HOOK.format(kind=kind) for kind in KINDS))
        )
    ]
    parts = {one.name: one for one in found if one.kind != "plugin"}
    assert {f"wrong-{kind}" for kind in KINDS} == parts.keys()
    for one in parts.values():
        assert one.status == "broken"
        assert one.reason
        assert "\n" not in one.reason


AGENT = """

@hookimpl
def gde_agents():
    return (Offer(name="silent", summary="Silent.", config={config}, make={make}, {more}),)
"""


def agent(
    plugin: Plugin,
    config: str = "NoConfig",
    make: str = "lambda _, __: Silent()",
    more: str = "",
) -> Catalogue:
    return plugin.write(AGENT.format(config=config, make=make, more=more))


def told(plugin: Plugin, catalogue: Catalogue, **chosen: object) -> Checked:
    *_, last = check_distribution(plugin.name, catalogue, **chosen)  # type: ignore[arg-type]
    return last


def test_what_is_broken_is_said_in_the_words_of_the_check(plugin: Plugin) -> None:
    one = told(plugin, agent(plugin))
    assert (one.kind, one.name, one.status) == ("agent", "silent", "broken")
    assert one.reason == "act must return a Decision, got '#_AG#'"


def test_what_is_not_installed_is_not_checked_and_said(plugin: Plugin) -> None:
    catalogue = agent(plugin, more="imports=('no_such_module',), extra='mine'")
    one = told(plugin, catalogue)
    assert one.status == "unchecked"
    assert one.reason == f"without no_such_module: pip install '{plugin.name}[mine]'"


def test_what_cannot_be_made_here_says_why(plugin: Plugin) -> None:
    refused = "def make(_, __):\n    raise GdeError('silent: set SILENT_KEY')\n"
    catalogue = plugin.write(
        refused + AGENT.format(config="NoConfig", make="make", more="")
    )
    assert told(plugin, catalogue).reason == "silent: set SILENT_KEY"


def test_an_agent_that_no_world_suits_is_not_checked(plugin: Plugin) -> None:
    one = told(plugin, agent(plugin, more="needs=frozenset({'wings'})"))
    assert (one.status, one.reason) == ("unchecked", "no environment here gives wings")


def test_what_has_no_default_can_be_set(plugin: Plugin) -> None:
    catalogue = agent(plugin, config="Needy")
    one = told(plugin, catalogue)
    assert (one.status, one.reason) == (
        "unchecked",
        "silent.number: wanted a value, got none; set silent.number=VALUE",
    )
    assert (
        told(plugin, catalogue, settings={"silent": {"number": 3}}).status == "broken"
    )
    with pytest.raises(ConfigError, match=r"silent\.number: wanted .*, got 'three'"):
        told(plugin, catalogue, settings={"silent": {"number": "three"}})
    with pytest.raises(
        UnknownName, match=r"unknown part of --set 'silence'\. Did you mean silent"
    ):
        told(plugin, catalogue, settings={"silence": {"number": 3}})


def test_a_plugin_that_cannot_be_loaded_is_broken(plugin: Plugin) -> None:
    (one,) = check_distribution(
        plugin.name, plugin.write("import no_such_module_either")
    )
    assert (one.kind, one.status) == ("plugin", "broken")
    assert "no_such_module_either" in one.reason


READS = """
import json
from pathlib import Path
from gde.testing.parts import Corridor


@dataclass(frozen=True)
class Lengths:
    \"\"\"A file.\"\"\"

    file: Path | None = None
    \"\"\"A length in JSON.\"\"\"


def corridor(config, _):
    if config.file is None:
        return Corridor()
    try:
        text = config.file.read_text("utf-8")
        return Corridor(max(2, min(json.loads(text)["length"], 5)))
    except {caught} as error:
        raise GdeError("wanted a length") from error


@hookimpl
def gde_environments():
    return (KINDS["environment"].offer(name="lengths", summary="Corridors.", config=Lengths, make=corridor),)
"""


def test_damage_to_the_files_of_an_environment_is_tried(
    plugin: Plugin, tmp_path: Path
) -> None:
    file = tmp_path / "length.json"
    file.write_text('{"length": 3}')
    chosen = {"lengths": {"file": str(file)}}
    careful = plugin.write(READS.replace("{caught}", "Exception"))
    assert told(plugin, careful, settings=chosen).reason == ""
    careless = plugin.write(READS.replace("{caught}", "UnicodeDecodeError"))
    assert told(plugin, careless).status == "kept"
    one = told(plugin, careless, settings=chosen)
    assert one.status == "broken"
    assert "must be read, or raise a GdeError; got" in one.reason

    file.write_text('{"length": 3}' + " " * 10_000_000)
    one = told(plugin, careful, settings=chosen)
    assert (one.status, one.reason) == (
        "kept",
        "file is too large to try damage: set a smaller one",
    )
