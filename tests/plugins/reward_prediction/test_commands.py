"""gde rewardbench build: what is refused before anything is begun, and what stops it in
one line.
"""

import json
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gde.cli.main import build_app
from gde.errors import GdeError, RunFailed
from gde_plugins.reward_prediction import building

SMALL = ("--domain", "blocksworld", "--share", "0.008")
"""Two pairs."""


def build(out: Path, *words: str) -> Result:
    return CliRunner().invoke(
        build_app(), ["rewardbench", "build", "--out", str(out), *words]
    )


def refused(out: Path, *words: str) -> str:
    """Why, in one line."""
    done = build(out, *words)
    assert isinstance(done.exception, GdeError) and done.exception.exit_code == 2, (
        done.exception
    )
    assert "\n" not in str(done.exception)
    return str(done.exception)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_an_interrupted_build_says_how_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "build_domain", interrupted)
    done = build(tmp_path / "out", *SMALL)
    assert done.exit_code == 130 and "repeat the command to resume" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "blocksworld.nope=1"), "unknown field of blocksworld 'nope'"),
        (("--set", "blocksworld.blocks=99"), "blocksworld.blocks"),
        (
            ("--set", "webshop.data=/nope"),
            "--set webshop: domain webshop is not built: add --domain webshop",
        ),
        (
            ("--train", "10", "--set", "blocksworld.nope=1"),
            "unknown field of blocksworld 'nope'",
        ),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_begun(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    assert said in refused(tmp_path / "out", *SMALL, *words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("out", "words", "said"),
    [
        ("file", (), "file: File exists: name another folder"),
        ("file/below", (), "file/below: Not a directory: name another folder"),
        (
            "file/below",
            ("--train", "10"),
            "file/below: Not a directory: name another folder",
        ),
        ("a" * 300, (), "File name too long: name another folder"),
        ("run", (), "run is the folder of a run"),
    ],
)
def test_nothing_is_built_where_it_cannot_be_written(
    out: str, words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    for path in ("file", "run/plan.toml"):
        (tmp_path / path).touch()
    before = {*tmp_path.rglob("*")}
    assert said in refused(tmp_path / out, *SMALL, *words)
    assert {*tmp_path.rglob("*")} == before


def test_an_environment_that_cannot_be_made_is_one_line_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    wrong = (*SMALL, "--set", f"blocksworld.problems={tmp_path / 'nope'}")
    for words in ((), ("--train", "10")):
        done = build(tmp_path, *wrong, *words)
        assert done.exit_code == 3
        assert done.output.count("env.problems") == 1
        assert contents(tmp_path) == {}
    assert build(tmp_path, *SMALL).exit_code == 0


def test_a_build_goes_on_with_the_same_recipe_alone(tmp_path: Path) -> None:
    assert build(tmp_path, *SMALL, "--set", "blocksworld.play_on=yes").exit_code == 0
    kept = tmp_path / "blocksworld" / "recipe.json"
    recipe = {
        "seed": 0,
        "padding": 3,
        "offset": 1,
        "overlap": 2,
        "pairs": "published",
        "blocksworld.play_on": True,
    }
    assert json.loads(kept.read_text(encoding="utf-8")) == recipe
    before = contents(tmp_path)
    larger = ("--domain", "blocksworld", "--share", "0.012")
    said = refused(
        tmp_path,
        *larger,
        "--seed",
        "5",
        "--padding",
        "0",
        "--set",
        "blocksworld.play_on=true",
    )
    assert "recipe.json has other values of seed, padding: use the same" in said
    assert "other values of blocksworld.play_on" in refused(tmp_path, *larger)
    assert contents(tmp_path) == before
    assert build(tmp_path, *larger, "--set", "blocksworld.play_on=true").exit_code == 0
    assert before.keys() < contents(tmp_path).keys()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", ":1: wanted JSON, got Expecting value, column 1"),
        (b'{"seed": 0,', ":1: wanted JSON, got Expecting property name"),
        (b"\xff\xfe\xff", ":1: wanted text in UTF-8, got byte 0xff: save it as UTF-8"),
        (b"[]", ": the record: wanted a table, got []"),
        (b"null", ": the record: wanted a table, got None"),
        (None, ": wanted a file, got Is a directory"),
    ],
)
def test_a_broken_recipe_is_one_line_and_is_kept(
    content: bytes | None, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "blocksworld" / building.RECIPE
    path.parent.mkdir()
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    message = refused(tmp_path, *SMALL)
    assert message.startswith(f"--out: {path}{problem}")
    assert message.endswith(": restore it or name another folder")
    assert [*tmp_path.rglob("*")] == [path.parent, path]


@pytest.mark.parametrize("words", [(), ("--train", "10")])
def test_a_file_in_place_of_a_domain_folder_is_one_line(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "blocksworld"
    path.touch()
    message = refused(tmp_path, *SMALL, *words)
    assert message == (
        f"--out: {path} is a file, not a folder: move it or name another folder"
    )
    assert path.read_bytes() == b""


def test_training_pairs_have_no_recipe(tmp_path: Path) -> None:
    assert build(tmp_path, *SMALL, "--train", "10", "--seed", "1").exit_code == 0
    assert [*contents(tmp_path)] == ["blocksworld/test.json", "blocksworld/train.jsonl"]
    assert build(tmp_path, *SMALL).exit_code == 0
    assert build(tmp_path, *SMALL, "--train", "10", "--seed", "2").exit_code == 0


@pytest.fixture
def little_room() -> Iterator[None]:
    """No file may become larger than 2 KiB."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("words", [(), ("--train", "20")])
def test_a_full_disk_stops_in_one_line_and_leaves_nothing_half_written(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = build(tmp_path, *SMALL, *words)
    assert isinstance(done.exception, RunFailed) and "File too large" in str(
        done.exception
    )
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]
    assert all(json.loads(text) for text in contents(tmp_path).values())
