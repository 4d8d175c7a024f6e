"""Learning in a report: the figure of curves, and what the opening says of codes."""

from dataclasses import replace
from typing import Any

from gde.data.json import Labels
from gde.data.result import Measurement, Result
from gde.data.verdict import Outcome, Verdict
from gde.reporting.claim import claim
from gde.reporting.drawing import svg
from gde.reporting.findings import probed
from gde.stages.learning import MEASURES
from gde_plugins.pages.figures.learning import learning_curves


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
    agent, goal = figure.spec["hconcat"]  # type: ignore[misc]
    assert agent["title"]["text"] == "Agent top-1"  # type: ignore[index,call-overload]
    assert rows(agent) == [
        (4, "model", 0.4),
        (8, "model", 1.0),
        (4, "random weights", 0.1),
        (8, "random weights", 0.9),
    ]
    assert rows(goal) == [(4, "model", 0.2), (8, "model", 0.7)]
    assert "random weights" in svg(figure)


def code(result: Result, outcome: Outcome) -> Result:
    """With a code length that is three bits below that of random weights."""
    verdict = Verdict(
        control="untrained",
        difference=-3.0,
        interval=(-4.0, -2.0),
        p=0.001 if outcome == "better" else 0.4,
        detectable=5.0,
        outcome=outcome,
        worlds=20,
        initialisations=3,
    )
    found = [
        Measurement(
            name="cogmap.code.agent",
            value=value,
            unit="bits",
            n=9,
            where=of_fit(result, control),
            source="cogmap",
            verdict=verdict,
        )
        for control, value in (("none", 1.0), ("untrained", 4.0))
    ]
    measures = tuple(measure.under("cogmap") for measure in MEASURES)
    return replace(
        result,
        measurements=(*result.measurements, *found),
        measures=(*measures, *result.measures),
    )


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_a_code_is_told_first_and_then_what_all_worlds_give(result: Result) -> None:
    told = plain(claim(code(result, "better")).belief)
    first, second, *_ = told.split(". Fitted to all worlds, it ")
    assert first.endswith(
        "codes the agent in 1.00 bits (better than random weights by 3.00 bits [2.00, 4.00], p 0.001)"
    )
    assert second.startswith("decodes the agent at a mean distance of ")

    told = plain(claim(code(result, "none")).belief)
    assert "no difference from random weights shown; detectable: 5.00 bits" in told
