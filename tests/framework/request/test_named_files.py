"""The files that a configuration names, in whatever form, and which of them are let."""

from pathlib import Path

import pytest

from gde.data.json import Json
from gde.errors import GdeError
from gde.request.named_files import named_files, refuse_unnamed, resolved


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is let, beside a secret that is not; also the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "let").mkdir()
    (tmp_path / "let" / "worlds").write_text("theirs")
    return tmp_path / "let"


@pytest.mark.parametrize(
    "config",
    [
        {"grids": "{}"},
        {"model": "hf:{}"},
        {"model": "probe:hf:{}"},
        {"{}": 1},
        {"files": ["none", "{}"]},
        {"files": ("none", "{}")},
        {"deep": {"er": [{"file": "{}"}]}},
        {"grids": "~/let/worlds"},
    ],
)
def test_a_file_is_found_wherever_it_is_named(config: Json, folder: Path) -> None:
    def filled(value: Json) -> Json:
        if isinstance(value, str):
            return value.replace("{}", str(folder / "worlds"))
        if isinstance(value, dict):
            return {str(filled(name)): filled(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(filled, value))
        return value

    assert list(named_files(filled(config))) == [folder / "worlds"]
    refuse_unnamed("grid", filled(config), resolved(["~/let"]))
    with pytest.raises(GdeError, match=r"grid: .* would read"):
        refuse_unnamed("grid", filled(config), resolved(["~/another"]))


def test_what_is_let_is_no_way_to_what_lies_beside_it(folder: Path) -> None:
    let = resolved([folder])
    link, secret = folder / "link", folder.parent / "secret"
    link.symlink_to(secret)
    for way in (link, folder / ".." / "secret"):
        with pytest.raises(GdeError, match=rf"would read {secret}:"):
            refuse_unnamed("grid", {"grids": str(way)}, let)
    # Parts would follow links in a folder that is let.
    with pytest.raises(
        GdeError, match=rf"{link} leads to {secret}: .* --read {secret}"
    ):
        resolved([folder])
    assert resolved([folder, secret]) == [str(folder), str(secret)]


def test_a_link_to_itself_leads_nowhere(folder: Path) -> None:
    loop = folder / "loop"
    loop.symlink_to(loop)
    assert resolved([folder]) == [str(folder)]
    assert list(named_files({"grids": str(loop)})) == []


def test_a_folder_that_looks_like_a_home_folder_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "~nobody-here").symlink_to(folder.parent)
    found = list(named_files({"grids": "~nobody-here/secret"}))
    assert found == [folder.parent / "secret"]
    (folder / "~").mkdir()
    (folder / "~" / "both").touch()
    (folder.parent / "both").touch()
    both = [folder.parent / "both", folder / "~" / "both"]
    assert list(named_files(["~/both"])) == both


def test_texts_that_name_no_file_are_no_files() -> None:
    texts = ["", "no such file", "nul\0", "~nobody-of-this-name/x", "a" * 5000, "a:b"]
    assert list(named_files(texts)) == []
