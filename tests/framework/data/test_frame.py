"""A result as a frame."""

import sys
from dataclasses import replace

import pytest

from gde import GdeError, Measure, Measurement, Result

MEASUREMENTS = (
    Measurement(
        name="success",
        value=0.5,
        unit="share",
        n=4,
        interval=(0.1, 0.9),
        source="success",
    ),
    Measurement(
        name="success",
        value=1.0,
        unit="share",
        n=2,
        where={"size": 9, "n": "few"},
        source="success",
    ),
    Measurement(name="meg", value=None, unit="nats", n=0, reason="did not converge"),
)
RESULT = Result(
    run="runs/1",
    status="ok",
    plan_hash="0",
    measurements=MEASUREMENTS,
    failures=(),
    measures=(Measure(name="success", title="goal reached"),),
)


def test_one_row_a_measurement_and_a_column_for_each_restriction() -> None:
    frame = RESULT.to_frame()
    first = ["name", "title", "value", "low", "high", "unit", "n", "clusters"]
    assert [*frame.columns] == [*first, "source", "reason", "size", "where.n"]
    assert frame.title.tolist() == ["goal reached", "goal reached", "meg"]
    assert frame.n.tolist() == [4, 2, 0]
    assert frame["size"].dropna().tolist() == [9]
    assert frame["where.n"].dropna().tolist() == ["few"]
    assert frame.value.isna().tolist() == [False, False, True]
    assert (frame.low[0], frame.high[0]) == (0.1, 0.9)
    assert frame[frame["size"].isna() & frame.value.notna()].value.tolist() == [0.5]


def test_nothing_measured_has_the_same_columns() -> None:
    frame = replace(RESULT, measurements=()).to_frame()
    assert len(frame) == 0
    assert "value" in frame.columns


def test_without_pandas_the_install_line_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        GdeError,
        match=r"Result\.to_frame needs pandas: pip install 'gde-eval\[frames\]'",
    ):
        RESULT.to_frame()
