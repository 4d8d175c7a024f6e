"""A folder from elsewhere is copied to be written to; a refused request leaves none."""

import shutil
from pathlib import Path

import pytest
from commands import Gde

EVAL = ("eval", "--env", "corridor", "--agent", "scripted", "--episodes", "2")


@pytest.fixture
def foreign(gde: Gde, tmp_path: Path) -> Path:
    """A finished run as another user would send it."""
    assert gde(*EVAL, "--metric", "success", "--out", "made").returncode == 0
    return Path(shutil.copytree(tmp_path / "made", tmp_path / "in" / "run"))


@pytest.mark.parametrize(
    "refused",
    [
        ("probe", "--probe", "nobody-offers-it"),
        ("rescore", "--metric", "success", "--set", "success.nothing=1"),
        ("resume", "--set", "env.length=9"),
        ("report", "--reporter", "nobody-offers-it"),
    ],
    ids=lambda words: words[0],
)
def test_a_refusal_leaves_no_copy(
    gde: Gde, foreign: Path, refused: tuple[str, ...]
) -> None:
    command, *options = refused
    done = gde(command, str(foreign), *options)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert [*foreign.parent.iterdir()] == [foreign]


def test_what_was_written_is_told(gde: Gde, foreign: Path) -> None:
    done = gde("rescore", str(foreign), "--metric", "success")
    assert done.returncode == 0
    assert f"copied to {foreign}-copy" in done.stderr
    assert (foreign.with_name("run-copy") / "result.json").is_file()
