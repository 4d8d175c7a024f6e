"""Files of other people: read as text, complained about in one form, accounted for."""

from pathlib import Path

import pytest
from pydantic import BaseModel, TypeAdapter

from gde.errors import ConfigError
from gde.foreign import Account, ForeignFile


class Record(BaseModel):
    name: str
    place: tuple[int, int] = (0, 0)


RECORD = TypeAdapter(Record)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marks_and_line_ends_are_no_part_of_a_text(
    encoding: str, line_end: str, tmp_path: Path
) -> None:
    path = tmp_path / "text"
    path.write_bytes(f"Zahl{line_end}größer{line_end}".encode(encoding))
    assert ForeignFile("env.data", path).text() == "Zahl\ngrößer\n"


def test_other_bytes_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("one\nnúmero".encode("latin-1"))
    file = ForeignFile("env.data", path)
    wanted = (
        f"env.data: {path}:2: wanted text in UTF-8, got byte 0xfa: save it as UTF-8"
    )
    with pytest.raises(ConfigError) as told:
        file.text()
    assert str(told.value) == wanted
    assert file.text(errors="replace") == "one\nn\ufffdmero"
    with pytest.raises(ConfigError, match=r"none: wanted a file, got No such file"):
        ForeignFile("env.data", tmp_path / "none").text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,\n "b"}', r":2: wanted JSON, got Expecting ':' delimiter, column 5"),
        ("[" * 100_000, "wanted JSON, got maximum recursion"),
        ("9" * 5_000, "wanted JSON, got Exceeds the limit"),
    ],
)
def test_no_json_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        ForeignFile("env.data", path).json()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"name": None}, "data.json: row 3: name: wanted text, got None"),
        ({"name": 3}, "name: wanted text, got 3"),
        ({}, "name: wanted a value, got none"),
        ({"name": "a", "place": [1, "2"]}, "place.1: wanted a whole number, got '2'"),
        ([], r"row 3: the record: wanted an object, got \[\]"),
    ],
)
def test_a_record_is_checked_by_its_schema(value: object, message: str) -> None:
    file = ForeignFile("env.data", Path("data.json"))
    found = file.valid(RECORD, {"name": "a", "place": [1, 2]})
    assert (found.name, found.place) == ("a", (1, 2))
    with pytest.raises(ConfigError, match=message):
        file.valid(RECORD, value, "row 3")


def test_an_account_names_the_first_of_each_reason() -> None:
    left_out = [("unsolvable", "b"), ("without a game", "c"), ("without a game", "d")]
    assert [*Account(137, left_out).told("trials")] == [
        "trials: read 137, left out 3: 2 without a game (c), 1 unsolvable (b)"
    ]
    assert not [*Account(137).told("trials")]
