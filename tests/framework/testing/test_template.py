"""Every skeleton works at once: it runs, and its own tests pass."""

import importlib
import re
import sys
from pathlib import Path
from textwrap import indent

import pytest

from gde.errors import ConfigError
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.kinds import SKELETONS
from gde.testing import check_environment
from gde.testing.template import write_plugin

NUMPY = "import numpy as np\n\nBACK, ON"
TAB = "    "


@pytest.mark.parametrize("kind", SKELETONS)
def test_a_skeleton_keeps_the_promises_of_its_kind(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"my_{kind.replace('-', '_')}"
    folder = write_plugin(name, tmp_path / "made", kind)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    monkeypatch.syspath_prepend(str(folder / "tests"))
    own = importlib.import_module(f"test_{name}")
    tests = {
        title: test for title, test in vars(own).items() if title.startswith("test_")
    }
    assert len(tests) >= 2
    for test in tests.values():
        (tmp_path / "empty").mkdir(exist_ok=True)
        test(
            **(
                {"tmp_path": tmp_path / "empty"}
                if "tmp_path" in test.__annotations__
                else {}
            )
        )
    catalogue = Catalogue(load_plugins((), (f"gde_{name}",)))
    assert catalogue.find(kind.replace("-", "_"), name.replace("_", "-")).offer.summary
    for module in (f"test_{name}", f"gde_{name}"):
        sys.modules.pop(module)


def test_the_process_that_the_page_shows_is_that_of_the_skeleton(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs/how-to/environment.md").read_text(
        encoding="utf-8"
    )
    (shown,) = re.findall(r"```python\n(def mdp.*?)```", page, re.DOTALL)
    module = (
        write_plugin("counted", tmp_path / "made", "environment") / "gde_counted.py"
    )
    head, _, rest = module.read_text(encoding="utf-8").partition("    def optimum")
    step = rest[rest.index("    def step") :]
    body = f"{head}{indent(shown, TAB)}\n{step}".replace(
        "State(facts=", "State(index=self._at, facts="
    )
    module.write_text(
        body.replace("    World,\n", "    TabularMDP,\n    World,\n", 1).replace(
            "BACK, ON", NUMPY
        )
    )
    monkeypatch.syspath_prepend(str(module.parent))
    counted = importlib.import_module("gde_counted")
    check_environment(lambda: counted.Path(counted.Config(length=4)), gives={"mdp"})
    sys.modules.pop("gde_counted")


def test_a_kind_without_skeleton_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"--kind: wanted one of environment, .*, got 'reproduction'"
    ):
        write_plugin("mine", tmp_path / "made", "reproduction")
    assert not (tmp_path / "made").exists()
