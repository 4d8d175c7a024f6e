"""The user's settings: read once for all runs, and refused in a line where they are
wrong.
"""

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from gde import Choice, GdeError, How
from gde.before.preparing import prepare
from gde.data.plan import Plan
from gde.request.howfile import how_of, how_tables, read_settings, settings_file
from gde.request.settings import build
from gde.validating import marked

names = st.text(min_size=1, max_size=9).filter(lambda name: name not in ("use", "as"))
configs = st.dictionaries(names, st.integers(0, 9) | st.text(max_size=9))
choices = st.builds(Choice, name=names, alias=st.text(max_size=3), config=configs)
seconds = st.none() | st.floats(0.001, 1e9)
counts = st.none() | st.integers(1, 10**9)
hows = st.builds(
    How,
    concurrency=st.integers(1, 1000),
    executor=choices,
    reporters=st.lists(choices, max_size=2),
    turn_seconds=seconds,
    episode_seconds=seconds,
    run_seconds=seconds,
    part_seconds=seconds,
    max_calls=counts,
    max_tokens=counts,
    max_cost=seconds,
    cache=st.text(max_size=9),
    settings=st.dictionaries(names, configs.filter(bool)),
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the user's settings, which is not there yet."""
    path = tmp_path / "settings.toml"
    monkeypatch.setenv("GDE_SETTINGS", str(path))
    return path


@given(how=hows)
def test_a_how_survives_its_tables(how: How) -> None:
    assert how_of(marked(how_tables(how)), "here") == how


def test_what_a_part_does_not_set_is_written_and_read() -> None:
    set_nothing = Choice(name="ray", config={"cpus": None, "workers": 2})
    tables = how_tables(How(executor=set_nothing))
    read = how_of(marked(tomllib.loads(tomli_w.dumps(tables))), "here").executor
    assert build(Cores, read.config, "executor.ray") == Cores(workers=2, cpus=None)


@dataclass(frozen=True)
class Cores:
    workers: int = 1
    cpus: int | None = 4


@pytest.mark.skipif(sys.platform != "linux", reason="of the XDG folders")
def test_settings_are_in_the_users_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GDE_SETTINGS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert settings_file() == tmp_path / "gde" / "settings.toml"


def test_settings_hold_for_every_run_that_says_nothing_else(file: Path) -> None:
    assert read_settings().how == How()
    file.write_text(
        """
        concurrency = 3
        max_cost = 2.5
        executor = {use = "processes", workers = 2}
        reporters = ["html"]
        trusted_folders = ["~/shared", "/runs"]
        [parts.planted]
        batch_size = 7
        """
    )
    found = read_settings()
    assert found.trusted_folders == (Path.home() / "shared", Path("/runs"))
    assert found.how == How(
        concurrency=3,
        max_cost=2.5,
        executor=Choice(name="processes", config={"workers": 2}),
        reporters=["html"],
        settings={"planted": {"batch_size": 7}},
    )
    plan = Plan(environment="grid", agent="random")
    assert prepare(plan).how.concurrency == 3
    assert prepare(plan, how=How()).how.concurrency == How().concurrency


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speed = 1", r"unknown setting in .*settings\.toml 'speed'"),
        ("concurency = 1", "Did you mean concurrency"),
        ("episodes = 5", "unknown setting in .* 'episodes'"),
        ("concurrency = 0", r"run\.concurrency: wanted greater than or equal to 1"),
        ("max_cost = nan", r"run\.max_cost: wanted"),
        ("max_cost = inf", r"run\.max_cost: wanted"),
        ("max_cost = 0", r"run\.max_cost: wanted greater than 0"),
        ("executor = 7", "wanted a name or `use = NAME`, got 7"),
        ("reporters = 'html'", r"wanted reporters = \[NAME, \.\.\.\]"),
        ("parts = 7", r"wanted \[parts\.PART\] with fields"),
        ("parts.model = 7", r"wanted \[parts\.PART\] with fields"),
        ("trusted_folders = 7", "trusted_folders: wanted"),
        ("this is no toml", r"settings: .*settings\.toml: wanted TOML, got"),
    ],
)
def test_wrong_settings_are_refused_in_a_line(
    text: str, message: str, file: Path
) -> None:
    file.write_text(text)
    with pytest.raises(GdeError, match=message) as refusal:
        read_settings()
    assert "\n" not in str(refusal.value)
