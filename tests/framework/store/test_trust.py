"""The list of trusted runs: what it finds, what is damaged, and where it is."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gde import Choice, Plan
from gde.data.how import How
from gde.errors import ConfigError
from gde.store import folder as folder_module
from gde.store.folder import RunFolder
from gde.store.trust import earlier_entry, entry_of, is_trusted, trust


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the list."""
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "trusted"


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], Path]:
    """Write a run folder's plan."""

    def write(text: str) -> Path:
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        (folder / "plan.toml").write_text(f'id = "one"\n{text}')
        return folder

    return write


def trust_as_it_is(folder: Path) -> None:
    trust(folder, (folder / "plan.toml").read_bytes(), How())


def test_a_folder_without_a_plan_is_not_trusted(tmp_path: Path, state: Path) -> None:
    assert not is_trusted(tmp_path)


def test_the_latest_of_several_plans_of_a_run_is_found(
    run: Callable[[str], Path], state: Path
) -> None:
    for when, text in ((1, "first"), (3, "third"), (2, "second")):
        trust_as_it_is(run(f"# {text}"))
        (entry,) = (each for each in state.iterdir() if text in each.read_text())
        os.utime(entry, (when, when))
    found = earlier_entry("one")
    assert found is not None and "third" in found.plan
    assert earlier_entry("another") is None


def test_an_entry_that_lacks_a_field_is_named(
    run: Callable[[str], Path], state: Path
) -> None:
    trust_as_it_is(run(""))
    (entry,) = state.iterdir()
    lines = entry.read_text().splitlines(keepends=True)
    entry.write_text("".join(each for each in lines if not each.startswith("day")))
    with pytest.raises(ConfigError, match=rf"^{entry} has no 'day': delete it$"):
        entry_of(run(""))


@pytest.mark.skipif(sys.platform != "linux", reason="of the XDG folders")
def test_the_list_is_in_the_users_state(
    run: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GDE_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    trust_as_it_is(run(""))
    (entry,) = (tmp_path / "home" / "gde" / "trusted").iterdir()
    assert entry.suffix == ".toml"
    assert is_trusted(run(""))


class Killed(BaseException):
    pass


def kill(*_given: object) -> None:
    raise Killed


def test_a_run_that_a_kill_leaves_is_trusted(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(environment="grid", agent="optimal", episodes=1)
    run = RunFolder.create(plan, tmp_path / "run", How())
    # The list is written first, so that no plan.toml is there without its entry.
    monkeypatch.setattr(folder_module, "trust_new", kill)
    with pytest.raises(Killed):
        RunFolder.create(plan, tmp_path / "killed", How())
    with pytest.raises(Killed):
        run.add({"metrics": (Choice(name="accuracy"),)}, How())
    assert not (tmp_path / "killed").exists()
    assert is_trusted(run.path)
