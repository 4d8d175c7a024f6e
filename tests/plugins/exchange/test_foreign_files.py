"""Files of other programs that are wrong or damaged are refused in one line."""

import os
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from gde.errors import GdeError
from gde_plugins.exchange import foreign_files
from gde_plugins.exchange.foreign_files import (
    check_archive,
    check_size,
    number,
    what_is_wrong,
)

HEADERS = ("header.json",)


def archive(path: Path, **texts: str) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for name, text in texts.items():
            file.writestr(f"{name}.json", text)
    return path


def test_an_archive_of_its_kind_is_accepted_and_one_that_is_cut_is_not(
    tmp_path: Path,
) -> None:
    whole = archive(tmp_path / "a.eval", header="{}")
    check_archive(whole, "a log", HEADERS)
    content = whole.read_bytes()
    for length in (0, 10, len(content) - 5):
        whole.write_bytes(content[:length])
        with pytest.raises(
            GdeError,
            match=r"a\.eval: wanted a log, got no whole zip archive; was it cut short\?",
        ):
            check_archive(whole, "a log", HEADERS)


def test_an_archive_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        GdeError, match=r"wanted a log, got a zip archive without header\.json"
    ):
        check_archive(archive(tmp_path / "a.eval", other="{}"), "a log", HEADERS)


def test_what_unpacks_to_too_much_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_files, "AT_MOST", 2**20)
    bomb = archive(tmp_path / "a.eval", header="0" * 2**24)
    assert bomb.stat().st_size < 2**16
    with pytest.raises(
        GdeError,
        match=r"a\.eval: wanted at most .* of samples, got .*; import it in parts",
    ):
        check_archive(bomb, "a log", HEADERS)
    large = tmp_path / "a.json"
    with large.open("wb") as file:
        os.truncate(file.fileno(), 2**21)
    with pytest.raises(GdeError, match="wanted at most"):
        check_size(large)


def test_an_archive_that_unpacks_to_much_more_than_a_log_is_refused(
    tmp_path: Path,
) -> None:
    bomb = archive(tmp_path / "a.eval", header="0" * 2**26)
    with pytest.raises(
        GdeError, match=r"an archive that unpacks to \d+ times its size"
    ):
        check_archive(bomb, "a log", HEADERS)


def test_a_reason_is_one_short_line() -> None:
    said = what_is_wrong(ValueError("first\n  second " + "x" * 10_000))
    assert said.startswith("first second x")
    assert len(said) <= 200
    assert what_is_wrong(KeyError("header")) == "there is no 'header'"
    assert [
        number(each) for each in (True, 2, 0.5, "2", None, float("inf"), 10**400)
    ] == [1, 2, 0.5, *[None] * 4]
