"""Charts of one number of a sweep."""

import sys

import pytest

from gde import GdeError, Measure, Measurement, Result, plot
from gde.data.result import Subject
from gde.errors import MissingExtra

ACCURACY = Measure(
    name="accuracy",
    title="Accuracy <b>",
    unit="share",
    headline=True,
    phrase="was right in {} of <steps>",
)


def number(value: float | None, **where: float) -> Measurement:
    reason = "" if value is not None else "no <turns>"
    return Measurement(
        name="accuracy",
        value=value,
        unit="share",
        n=7,
        where=where,
        reason=reason,
    )


def result(*measurements: Measurement) -> Result:
    return Result(
        run="runs/a<b",
        status="ok",
        plan_hash="1",
        measurements=measurements,
        failures=(),
        subject=Subject(agent="me", environment="grid", worlds=7, episodes=7),
        measures=(ACCURACY,),
    )


def test_charts_need_altair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"plot needs altair: .*\[report\]"):
        plot(result(number(0.5)), "accuracy", by="size")


def test_one_label_is_a_curve_of_its_values() -> None:
    pytest.importorskip("altair")
    swept = result(number(0.5), number(0.2, size=7), number(0.4, size=9))
    chart = plot(swept, "accuracy", by="size")
    spec = chart.to_dict()
    assert spec["encoding"]["x"]["field"] == "size"
    (rows,) = spec["datasets"].values()
    values = [(row["size"], row["value"]) for row in rows]
    assert values == [(7, 0.2), (9, 0.4)]


def test_the_other_label_of_a_sweep_makes_it_a_heat_map() -> None:
    pytest.importorskip("altair")
    numbers = [number(0.1 * n, density=float(n % 2), size=n) for n in (1, 2, 3, 4)]
    spec = plot(result(*numbers), "accuracy", by="size").to_dict()
    assert spec["title"] == "Accuracy <b> by size and density"


def test_what_cannot_be_drawn_is_refused() -> None:
    pytest.importorskip("altair")
    swept = result(number(0.5), number(0.2, size=7), number(0.4, size=9))
    with pytest.raises(GdeError, match=r"unknown number 'acuracy'.*accuracy"):
        plot(swept, "acuracy", by="size")
    with pytest.raises(
        GdeError, match=r"by density: wanted .*; it has values by size$"
    ):
        plot(swept, "accuracy", by="density")
    with pytest.raises(GdeError, match=r"it has one value alone: sweep a setting"):
        plot(result(number(0.5)), "accuracy", by="size")
