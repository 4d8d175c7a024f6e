"""A clone asks git for its commit, a wheel or source archive holds it."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gde.request import provenance

ROOT = Path(provenance.__file__).parents[3]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository of one commit with a package in it."""
    (tmp_path / "framework/gde/request").mkdir(parents=True)
    (tmp_path / "framework/gde/request/provenance.py").write_text("")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    author = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    git(tmp_path, *author, "commit", "--quiet", "--message=first")
    return tmp_path


def git(place: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=place, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def found(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the package beneath a folder says."""
    monkeypatch.setattr(provenance, "__file__", str(root / "gde/request/provenance.py"))
    provenance.commit.cache_clear()
    try:
        return provenance.commit()
    finally:
        provenance.commit.cache_clear()


def test_a_clone_says_its_commit_and_changes(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = git(clone, "rev-parse", "HEAD")
    assert found(clone / "framework", monkeypatch) == head
    (clone / "framework/gde/request/provenance.py").write_text("changed = True")
    assert found(clone / "framework", monkeypatch) == f"{head}-dirty"


def built(root: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files that the build adds, by their paths in the archive."""
    # The builder itself is there only while something is built.
    for name in ("", ".builders", ".builders.hooks", ".builders.hooks.plugin"):
        monkeypatch.setitem(sys.modules, f"hatchling{name}", ModuleType(name))
    interface: Any = ModuleType("interface")
    interface.BuildHookInterface = SimpleNamespace
    place = "hatchling.builders.hooks.plugin.interface"
    monkeypatch.setitem(sys.modules, place, interface)
    spec = importlib.util.spec_from_file_location(
        "hatch_build", ROOT / "hatch_build.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    data: dict[str, dict[str, str]] = {"force_include": {}}
    hook = module.Hook(root=str(root), target_name=target)
    hook.initialize("standard", data)
    return {inside: file for file, inside in data["force_include"].items()}


def test_a_build_holds_its_commit(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = git(clone, "rev-parse", "HEAD")
    (file,) = built(clone, "wheel", monkeypatch).values()
    assert [*built(clone, "wheel", monkeypatch)] == ["gde/COMMIT"]
    assert [*built(clone, "sdist", monkeypatch)] == ["framework/gde/COMMIT"]

    # Unpacked, it says so without a repository.
    unpacked = clone / "elsewhere/gde"
    unpacked.mkdir(parents=True)
    (unpacked / "COMMIT").write_text(Path(file).read_text())
    assert found(clone / "elsewhere", monkeypatch) == head

    # A wheel of a source archive keeps what is there.
    (clone / "framework/gde/COMMIT").write_text("earlier")
    assert built(clone, "wheel", monkeypatch) == {}
