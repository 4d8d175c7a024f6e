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
    (folder / "link").symlink_to(folder.parent / "secret")
    for way in (folder / "link", folder / ".." / "secret"):
        with pytest.raises(GdeError, match=rf"would read {folder.parent}/secret:"):
            refuse_unnamed("grid", {"grids": str(way)}, resolved([folder]))


def test_texts_that_name_no_file_are_no_files() -> None:
    texts = ["", "no such file", "nul\0", "~nobody-of-this-name/x", "a" * 5000, "a:b"]
    assert list(named_files(texts)) == []
