"""A row of the forest plot as SVG: where its points lie, and what they say."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from gde.data.evidence import Evidence
from gde.data.measure import Measure
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement, Result
from gde.data.verdict import Verdict
from gde.reporting.findings import Beside
from gde.reporting.forest import on_axes, row_of
from gde_plugins.pages.figures.forest import FigureReporter, figure
from gde_plugins.pages.figures.track import track

PLAN = Plan(environment=Choice(name="grid"), agent=Choice(name="random"), episodes=2)

MEASURE = Measure("mine", "Mine", "share", "more")


def share(value: float | None, **fields: object) -> Measurement:
    reason = "" if value is not None else "none"
    return Measurement(name="mine", value=value, unit="share", n=9, reason=reason, **fields)  # type: ignore[arg-type]  # fmt: skip


def drawn(beside: Beside) -> str:
    (group,) = on_axes("did", "What it did", [row_of("Mine", beside)])
    return track(group, group.rows[0])


def test_points_lie_at_their_values_and_a_control_is_named() -> None:
    ours, rival = share(0.5, interval=(0.25, 0.75)), share(0.125)
    text = drawn(Beside(measure=MEASURE, ours=ours, control="<chance>", rival=rival))
    assert 'class="point" cx="50.0"' in text and "M25.0 6H75.0" in text
    assert 'class="control" cx="12.5"' in text and "<title>&lt;chance&gt;</title>" in text  # fmt: skip


def test_worse_is_a_square_and_a_bound_a_tick() -> None:
    verdict = Verdict(control="chance", difference=-0.1, worlds=9, outcome="worse")
    ours = share(0.5, verdict=verdict)
    bounds = (("an oracle", share(1.0)),)
    text = drawn(Beside(measure=MEASURE, ours=ours, bounds=bounds))
    assert "<circle" not in text and '<path class="point"' in text
    assert '<path class="tick" d="M100.0 0v12"><title>an oracle</title>' in text


def test_without_a_value_nothing_is_drawn() -> None:
    assert drawn(Beside(measure=MEASURE, ours=share(None))) == ""


def test_the_figure_of_a_run_is_an_svg_file_with_every_row(
    result: Result, evidence: Evidence, tmp_path: Path
) -> None:
    path = FigureReporter().render(PLAN, result, evidence, tmp_path)
    text = path.read_text()
    ElementTree.fromstring(text)
    for title in ("Success rate", "Agent found, 8 worlds", "random weights 15"):
        assert title in text

    odd = replace(result.subject, agent="a <b>\x1b")
    nothing = figure(replace(result, subject=odd, measurements=()))
    ElementTree.fromstring(nothing)
    assert "a &lt;b&gt;\u241b" in nothing
