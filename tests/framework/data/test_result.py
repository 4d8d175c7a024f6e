"""A measurement holds plain numbers, and says which field was given something else."""

import json
from dataclasses import asdict
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from gde.data.result import Measurement


def measurement(**changed: Any) -> Measurement:
    return Measurement(
        **{"name": "m", "value": 1.0, "unit": "share", "n": 1, **changed}
    )


def test_what_numpy_gives_is_kept_as_plain_numbers() -> None:
    given = measurement(
        name=np.str_("m"),
        value=np.float32(1.5),
        n=np.int64(3),
        interval=np.array([1, 2], dtype=np.float32),
        where={
            "size": np.int8(9),
            "share": np.float32(0.5),
            "solved": np.bool_(True),
            "kind": np.str_("all"),
        },
    )
    plain = measurement(
        value=1.5,
        n=3,
        interval=(1.0, 2.0),
        where={"size": 9, "share": 0.5, "solved": True, "kind": "all"},
    )
    assert json.dumps(asdict(given)) == json.dumps(asdict(plain))
    kinds = [
        type(each) for each in (given.name, given.value, given.n, *given.where.values())
    ]
    assert kinds == [str, float, int, int, float, bool, str]


@pytest.mark.parametrize(
    "value", [np.array(0.25), np.bool_(True), np.int64(7), True, 3, -0.0]
)
def test_a_value_is_a_float_and_exact(value: Any) -> None:
    kept = measurement(value=value).value
    assert type(kept) is float and kept == value


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("value", nan),
        ("value", np.float32(inf)),
        ("value", "1"),
        ("value", 1j),
        ("value", np.array([1.0])),
        ("value", 10**400),
        ("n", 1.5),
        ("n", -1),
        ("n", nan),
        ("n", inf),
        ("n", None),
        ("n", "1"),
        ("n", 2**63),
        ("interval", (3.0, 2.0)),
        ("interval", (nan, 2.0)),
        ("interval", (1.0, inf)),
        ("interval", (1.0,)),
        ("interval", "12"),
        ("interval", 1.0),
        ("where", {"a": nan}),
        ("where", {"a": [1]}),
        ("where", {"a": None}),
        ("where", {3: "a"}),
        ("where", {"a": "\ud800"}),
        ("where", None),
        ("name", None),
        ("unit", 5),
        ("source", b"x"),
        ("unit", "\ud800"),
    ],
)
def test_what_a_field_cannot_hold_is_refused_by_its_name(
    field: str, given: Any
) -> None:
    with pytest.raises(ValueError, match=rf"^\S+: {field}: wanted .*, got ") as refused:
        measurement(**{field: given})
    assert "\n" not in str(refused.value)


def test_what_a_measurement_lacks_has_a_reason_and_nothing_else_has() -> None:
    with pytest.raises(ValueError, match="m: a measurement without a value has a"):
        measurement(value=None)
    with pytest.raises(ValueError, match="m: a measurement with an interval has no"):
        measurement(interval=(0.0, 1.0), reason="x")
    assert measurement(interval=None, reason="x").reason == "x"


def test_results_from_before_clusters_were_counted_are_read() -> None:
    stored = {"name": "success", "value": 0.5, "unit": "share", "n": 4}
    old = TypeAdapter(Measurement).validate_python(stored)
    assert old.clusters is None


def test_clusters_are_a_whole_number_from_0_on() -> None:
    with pytest.raises(ValueError, match="clusters: wanted a whole number from 0 on"):
        Measurement(name="success", value=0.5, unit="share", n=4, clusters=-1)
