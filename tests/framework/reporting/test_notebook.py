"""Results in notebooks: HTML."""

from dataclasses import replace

from gde import Measure, Measurement, Result, summary
from gde.data.result import Subject

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


def test_a_notebook_shows_claim_headlines_and_notice_with_all_text_escaped() -> None:
    shown = replace(result(number(0.25)), provenance={"notice": "A <small> model."})
    html = summary(shown)._repr_html_()
    assert "was right in 25" in html
    assert "of &lt;steps&gt;" in html
    assert "<td>Accuracy &lt;b&gt;</td><td>25" in html
    assert "<p><small>A &lt;small&gt; model." in html
    assert "runs/a&lt;b" in html


def test_a_number_without_a_value_shows_its_reason() -> None:
    assert "no &lt;turns&gt;" in summary(result(number(None)))
