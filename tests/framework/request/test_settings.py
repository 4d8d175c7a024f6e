"""From text to typed configurations, and what is said of values that do not fit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, IsFinite, Predicate
from pydantic import Field

from gde.errors import ConfigError, UnknownName
from gde.offers import FilePath, Readable
from gde.request.settings import build, combinations, describe, parse_settings
from gde.validating import Text, marked


@dataclass(frozen=True)
class Config:
    size: Annotated[int, Field(ge=5, le=25)] = 7
    """Cells a side."""
    share: float = 0.5
    """Between none
    and all."""
    name: str = "x"
    limit: int | None = 3
    label: str | None = "x"
    positions: tuple[str, ...] = ("pre",)
    mode: int | Literal["early", "late"] = "late"

    def __post_init__(self) -> None:
        if self.share > 1:
            raise ValueError("a share of at most 1")


@dataclass(frozen=True)
class Swept:
    size: int = 7
    density: float = 0.5
    file: FilePath | None = None


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("size", "9", 9),
        ("share", "0.25", 0.25),
        ("name", "3", "3"),
        ("name", "a,b", "a,b"),
        ("limit", "none", None),
        ("label", "none", None),
        ("limit", "4", 4),
        ("positions", "pre,post", ("pre", "post")),
        ("positions", '["pre"]', ("pre",)),
        ("positions", "post", ("post",)),
        ("mode", "early", "early"),
        ("mode", "2", 2),
    ],
)
def test_text_becomes_what_the_field_takes(
    field: str, text: str, value: object
) -> None:
    assert getattr(build(Config, {field: Text(text)}, "env"), field) == value


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("size", "3", r"env\.size: wanted greater than or equal to 5, got '3'"),
        ("size", "seven", r"env\.size: wanted a whole number, got 'seven'"),
        ("share", "2", r"env: wanted a share of at most 1"),
        ("mode", "soon", r"env\.mode: wanted .*got 'soon'"),
    ],
)
def test_a_value_out_of_range_names_field_wanted_and_got(
    field: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        build(Config, {field: Text(text)}, "env")


@dataclass(frozen=True)
class Nested:
    depth: float = 1.0


@dataclass(frozen=True)
class Numbers:
    one: float | None = 0.5
    several: tuple[float, ...] = ()
    named: Mapping[str, float] = field(default_factory=dict)
    within: Nested = Nested()
    declared: IsFinite[float] = 0.0
    even: Annotated[int, Predicate(lambda number: number % 2 == 0)] = 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("one", "inf"),
        ("one", "-inf"),
        ("one", nan),
        ("one", "1e999"),
        ("several", "1,nan"),
        ("named", '{"a": Infinity}'),
        ("within", {"depth": inf}),
        ("declared", "inf"),
    ],
)
def test_no_number_of_a_configuration_is_infinite_or_nan(name: str, value: Any) -> None:
    with pytest.raises(
        ConfigError, match=rf"^agent\.{name}: wanted a finite number, got \S"
    ):
        build(Numbers, marked({name: value}), "agent")


@dataclass(frozen=True)
class Unbounded:
    most: float = inf


def test_a_default_is_finite_too_and_a_text_may_say_anything() -> None:
    with pytest.raises(
        ConfigError, match=r"agent\.most: wanted a finite number, got inf"
    ):
        build(Unbounded, {}, "agent")
    assert build(Unbounded, {"most": Text("3")}, "agent").most == 3
    assert build(Config, {"name": "inf"}, "env").name == "inf"


def test_what_a_condition_wants_is_told_without_a_library_s_words() -> None:
    with pytest.raises(
        ConfigError,
        match=r"agent\.even: wanted a value that passes .*lambda.*, got '3'",
    ):
        build(Numbers, {"even": Text("3")}, "agent")


def test_unknown_field_suggests_the_near_one() -> None:
    with pytest.raises(
        UnknownName, match=r"unknown field of env 'sizes'\. Did you mean size"
    ):
        build(Config, {"sizes": "7"}, "env")


def test_commas_sweep_except_where_the_field_takes_them() -> None:
    given = marked({"size": "7,9", "positions": "a,b", "name": "a,b"})
    swept, crossed = combinations(Config, given, "env")
    assert swept == {"size": [7, 9]}
    same = {"positions": ["a", "b"], "name": "a,b"}
    assert crossed == [{"size": 7, **same}, {"size": 9, **same}]


def test_every_value_of_a_sweep_is_checked() -> None:
    with pytest.raises(ConfigError, match=r"env\.size: wanted .* got '99'"):
        combinations(Config, {"size": Text("7,99")}, "env")


def test_a_value_is_swept_once() -> None:
    with pytest.raises(
        ConfigError, match=r"env\.size: wanted each value of a sweep once, got 7 twice"
    ):
        combinations(Config, {"size": Text("7,9,7")}, "env")


def test_settings_are_grouped_by_part() -> None:
    parsed = parse_settings(["env.size=7,9", "agent.model=hf:/a=b"])
    assert parsed == {"env": {"size": "7,9"}, "agent": {"model": "hf:/a=b"}}


@pytest.mark.parametrize("setting", ["size=7", "env.size", ".=1", "env.=1"])
def test_a_setting_that_is_none_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match=r"wanted PART\.FIELD=VALUE"):
        parse_settings([setting])


def test_a_setting_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"env\.size is given twice"):
        parse_settings(["env.size=7", "env.size=9"])


@dataclass(frozen=True)
class Heir(Config):
    more: int = 0
    """Further."""


def test_inherited_fields_keep_their_meaning() -> None:
    meanings = {name: meaning for name, _, _, meaning in describe(Heir)}
    assert (meanings["size"], meanings["more"]) == ("Cells a side.", "Further.")


def test_describe_gives_type_default_and_docstring() -> None:
    fields = {name: rest for name, *rest in describe(Config)}
    assert fields["size"] == ["int", 7, "Cells a side."]
    assert fields["share"][2] == "Between none and all."


def test_what_a_field_takes_is_told_in_words() -> None:
    @dataclass(frozen=True)
    class Many:
        near: Annotated[int, Ge(1)] | None = None
        mode: Literal["now", "later"] = "now"
        seeds: tuple[Annotated[int, Ge(0)], ...] = ()
        file: Annotated[str, Readable(Path)] | None = None

    told = {name: kind for name, kind, *_ in describe(Many)}
    assert told == {
        "near": "int or none",
        "mode": "now, later",
        "seeds": "int, ...",
        "file": "str or none",
    }


def test_a_sweep_of_millions_is_refused() -> None:
    swept = {name: Text(",".join(map(str, range(101)))) for name in ("size", "density")}
    with pytest.raises(ConfigError, match=r"at most 10,000 combinations .* got 10,201"):
        combinations(Swept, swept, "env")


def test_swept_paths_are_texts_in_a_plan(tmp_path: Path) -> None:
    swept, each = combinations(
        Swept, {"file": Text(f"{tmp_path}/a,{tmp_path}/b")}, "env"
    )
    assert swept == {"file": [f"{tmp_path}/a", f"{tmp_path}/b"]}
    assert [one["file"] for one in each] == swept["file"]


def test_a_home_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"env\.file: .* of this machine"):
        build(Swept, {"file": "~nobody-of-this-name/a"}, "env")
