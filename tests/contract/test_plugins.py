"""The bundled plugins are declared like everyone's, light to import and keep the
contract.
"""

import subprocess
import sys
import tomllib
from importlib import import_module
from inspect import signature
from pkgutil import resolve_name

import pytest
from sources import ROOT, sources

from gde.offers import NoConfig
from gde.request.catalogue import Catalogue
from gde.request.kinds import KINDS
from gde.testing import check_plugin
from gde.testing.plugins import HEAVY

DECLARED: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())[
    "project"
]["entry-points"]["gde"]


def test_every_plugin_module_is_declared() -> None:
    ours = ("gde_plugins.", "gde.executors.")
    modules = {
        name for name in sources() if name.startswith(ours) and name.endswith(".plugin")
    }
    assert modules == set(DECLARED.values())


@pytest.mark.parametrize("module", [*DECLARED.values()], ids=[*DECLARED])
def test_a_plugin_keeps_the_contract(module: str) -> None:
    check_plugin(import_module(module))


def test_the_paths_of_bundled_offers_can_be_imported_and_called() -> None:
    catalogue = Catalogue.default()
    offers = [entry.offer for kind in KINDS for entry in catalogue.entries(kind)]
    for offer in offers:
        path = offer.part or offer.make
        if isinstance(path, str) and not offer.missing():
            named = resolve_name(path)
            assert callable(named), path
            has_settings = offer.config is not NoConfig
            assert not has_settings or "config" in signature(named).parameters, path


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["plugins", "--json"], ["list", "agents", "--json"]],
    ids=str,
)
def test_looking_around_loads_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; sys.argv[0] = 'gde'\n"
        "from gde.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr.splitlines()[-1] == "[]"
