"""Learning in a report: the figure of curves."""

from dataclasses import replace
from typing import Any

from gde.data.json import Labels
from gde.data.result import Measurement, Result
from gde.reporting.drawing import svg
from gde.reporting.findings import probed
from gde.reporting.wording import CONTROLS
from gde_plugins.pages.figures.learning import COLORS, MODEL, learning_curves


def of_fit(result: Result, control: str) -> Labels:
    """The labels of the main fit with this control."""
    (main, *_) = probed(result)
    return {**main.fit.where, "control": control}


def curve(result: Result, name: str, control: str, values: list[float]) -> Result:
    """With a learning curve of the probe."""
    where = of_fit(result, control)
    points = []
    for step, value in enumerate(values):
        points.append(
            Measurement(
                name=f"cogmap.curve.{name}",
                value=value,
                unit="share",
                n=9,
                interval=(value / 2, value),
                where={**where, "worlds": 4 * 2**step},
                source="cogmap",
            )
        )
    return replace(result, measurements=(*result.measurements, *points))


def rows(panel: Any) -> list[tuple[int, str, float]]:
    return [(row["worlds"], row["of"], row["value"]) for row in panel["data"]["values"]]


def test_curves_of_the_model_and_of_its_controls_share_a_panel(result: Result) -> None:
    assert learning_curves(probed(result)[0], result) is None
    with_curves = curve(result, "top1.agent", "none", [0.4, 1.0])
    with_curves = curve(with_curves, "top1.agent", "untrained", [0.1, 0.9])
    with_curves = curve(with_curves, "top1.goal", "none", [0.2, 0.7])
    figure = learning_curves(probed(with_curves)[0], with_curves)
    assert figure is not None
    agent, goal = figure.spec["vconcat"]  # type: ignore[misc]
    assert agent["title"]["text"] == "Agent found"  # type: ignore[index,call-overload]
    assert rows(agent) == [
        (4, "model", 0.4),
        (8, "model", 1.0),
        (4, "random weights", 0.1),
        (8, "random weights", 0.9),
    ]
    assert rows(goal) == [(4, "model", 0.2), (8, "model", 0.7)]
    assert "random weights" in svg(figure)


def test_every_control_has_a_colour_of_its_own(result: Result) -> None:
    """Else a curve would have that of another."""
    names = {control: name for control, (name, _) in CONTROLS.items()}
    assert COLORS.keys() == {MODEL, *names.values()}
    assert len({*COLORS.values()}) == len(COLORS)

    found = curve(result, "top1.agent", "none", [0.4, 1.0])
    for control in names:
        found = curve(found, "top1.agent", control, [0.1, 0.2])
    figure = learning_curves(probed(found)[0], found)
    assert figure is not None
    (panel,) = figure.spec["vconcat"]  # type: ignore[misc]
    scale = panel["encoding"]["color"]["scale"]  # type: ignore[index,call-overload]
    drawn = {name for _, name, _ in rows(panel)}
    assert {*scale["domain"]} == drawn == {MODEL, *names.values()}
    assert scale["range"] == [COLORS[name] for name in scale["domain"]]
