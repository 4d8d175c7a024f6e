"""A wide screen has the learning curves beside its figure, a narrow one has not."""

from dataclasses import replace

from gde.data.result import Measurement, Result
from gde.reporting.curves import curves
from gde.reporting.findings import probed
from gde.reporting.terminal.curve_table import COLUMNS, curve_table
from gde.reporting.terminal.screen import screen


def with_curve(result: Result, name: str, of: dict[str, list[float]]) -> Result:
    """With the curves of some controls, of 4, 8, 16 ... worlds each."""
    (main, *_) = probed(result)
    points = tuple(
        Measurement(
            name=f"cogmap.curve.{name}",
            value=value,
            unit="share",
            n=9,
            where={**main.fit.where, "control": control, "worlds": 4 * 2**step},
            source="cogmap",
        )
        for control, values in of.items()
        for step, value in enumerate(values)
    )
    return replace(result, measurements=(*result.measurements, *points))


def test_the_model_stands_beside_the_control_of_an_early_reader(
    result: Result,
) -> None:
    assert curve_table(result) == []
    drawn = with_curve(
        result,
        "top1.agent",
        {"none": [0.4, 1.0], "untrained": [0.1], "shuffled": [0.05, 0.06]},
    )
    lines = [line.split() for line in curve_table(drawn)]
    assert lines == [
        ["Learning", "curves,", "%"],
        ["fitted", "worlds", "4", "8"],
        ["Agent", "found"],
        ["model", "40", "100"],
        ["random", "weights", "10"],
    ]


def test_the_largest_sizes_and_two_curves_are_shown(result: Result) -> None:
    scores = [step / 10 for step in range(10)]
    for name in ("top1.agent", "top1.goal", "top1.wall"):
        result = with_curve(result, name, {"none": scores})
    (probe, *_) = probed(result)
    assert [one.measure.name for one in curves(probe, result)] == [
        "cogmap.top1.agent",
        "cogmap.top1.goal",
    ]
    lines = curve_table(result)
    assert lines[1].split()[2:] == ["64", "128", "256", "512", "1024", "2048"]
    assert lines[3].split() == ["model", "40", "50", "60", "70", "80", "90"]
    assert max(map(len, lines)) <= COLUMNS


def test_it_stands_beside_the_figure_of_a_wide_screen_alone(result: Result) -> None:
    drawn = with_curve(result, "top1.agent", {"none": [0.4, 1.0]})
    narrow = screen(drawn, width=159).finding
    wide = screen(drawn, width=160).finding
    assert not any("Learning curves" in line for line in narrow)
    assert any("What it did" in line and "Learning curves" in line for line in wide)
    assert max(map(len, wide)) <= 160
