"""`check_reader` passes what refuses in one line, and names what does not."""

import json
from pathlib import Path

import pytest
from promised import caught

from gde.errors import ConfigError
from gde.foreign import ForeignFile
from gde.testing import check_reader


@pytest.fixture
def given(tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps({"name": "a", "size": [3, 4]}, indent=1))
    (folder / "b.json").write_text(json.dumps({"name": "b", "size": [5]}))
    return folder


def files(place: Path) -> list[ForeignFile]:
    return [ForeignFile("env.data", path) for path in sorted(place.glob("*.json"))]


def test_a_reader_that_refuses_by_name_keeps_every_promise(given: Path) -> None:
    before = {path: path.read_bytes() for path in given.iterdir()}
    seen: set[str] = set()
    refused = 0

    def careful(place: Path) -> None:
        nonlocal refused
        try:
            values = [file.json() for file in files(place)]
        except ConfigError:
            refused += 1
            raise
        seen.update(map(repr, values))

    check_reader(careful, given)
    assert 20 < refused < 80
    assert len(seen) > 20
    assert before == {path: path.read_bytes() for path in given.iterdir()}
    # A file by itself.
    check_reader(lambda path: ForeignFile("env.data", path).json(), given / "b.json")


def test_the_seed_says_what_is_damaged(given: Path) -> None:
    def texts(seed: int) -> list[bytes]:
        found = []

        def read(place: Path) -> None:
            found.append(b"".join(file.path.read_bytes() for file in files(place)))

        check_reader(read, given, n=5, seed=seed)
        return found

    assert texts(1) == texts(1) != texts(2)


def test_a_traceback_and_a_long_story_are_caught(given: Path) -> None:
    def careless(place: Path) -> None:
        for file in files(place):
            json.loads(file.text())

    def verbose(place: Path) -> None:
        for file in files(place):
            try:
                file.json()
            except ConfigError as error:
                raise ConfigError(f"{error}\nin {file.path}") from error

    with caught("careless", r"must be read, or raise a GdeError; got JSONDecodeError"):
        check_reader(careless, given)
    with caught("verbose", r"refused in one line of at most 1000 characters"):
        check_reader(verbose, given)
