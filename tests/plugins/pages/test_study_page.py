"""The page of a reproduced study."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

from gde.data.figure import Figure
from gde.data.model_use import ModelUse, Usage
from gde.data.result import Failure, Measurement, Result
from gde.parts.reproduction import Comparison
from gde.studies.study import Study
from gde.testing.samples import sample_result
from gde_plugins.pages.study_page import comparison_tables, study_page

HOSTILE = "<script>alert(1)</script>"


def row(
    quantity: str,
    paper: float | None,
    value: float | None,
    table: str = "T",
    **others: float,
) -> Comparison:
    reason = "" if value is not None else "not converged"
    ours = Measurement(name="m", value=value, unit="nats", n=4, reason=reason)
    rules = {
        rule: Measurement(name="m", value=other, unit="nats", n=4)
        for rule, other in others.items()
    }
    return Comparison(
        quantity=quantity,
        paper=paper,
        ours=ours,
        source="Table 2",
        table=table,
        others=rules,
    )


def test_rows_stand_under_their_table_with_a_column_for_every_rule() -> None:
    rows = [
        row("k=1", 37.8, 40.2025, compatible=37.84),
        row("eps", 0.003, 0.00307, "U"),
        row("k=2", None, None),
    ]
    tables = dict(comparison_tables(rows, {}))
    assert [*tables] == ["T", "U"]
    assert tables["T"].columns == ("paper", "ours", "difference", "compatible", "n")
    first, second = (
        [cell.text for cell in line.cells] for line in tables["T"].groups[0].rows
    )
    assert first == ["37.80", "40.20", "+2.40", "37.84", "4"]
    assert second == ["\u2013", "\u2013", "\u2013", "\u2013", "4"]
    assert tables["T"].groups[0].rows[1].cells[1].reason == "not converged"
    assert [cell.text for cell in tables["U"].groups[0].rows[0].cells] == [
        "0.003",
        "0.00307",
        "+7e-05",
        "4",
    ]


def test_a_small_probability_is_not_shown_as_zero_or_with_digits_nobody_needs() -> None:
    p = Measurement(name="p", value=4e-5, unit="probability", n=4)
    rows = [Comparison(quantity="p", paper=None, ours=p, source="T", table="T")]
    ((_, shown),) = comparison_tables(rows, {})
    assert shown.groups[0].rows[0].cells[0].text == "< 0.001"


def test_p_values_have_no_difference() -> None:
    ours = Measurement(name="p", value=0.2, unit="probability", n=4)
    assert (
        Comparison(quantity="p", paper=0.5, ours=ours, source="Table 3").difference
        is None
    )
    assert row("k", 1.0, 3.0).difference == 2.0


def page(**fields: Any) -> str:
    """The page of a study with these fields."""
    empty = {"rows": (), "figures": (), "figures_missing": "", "results": {}}
    study = Study(name="telos", scale=0.1, folder=Path("runs"), **{**empty, **fields})
    return study_page(study)


def result(**fields: Any) -> Result:
    return replace(sample_result(), **fields)


def test_the_page_shows_tables_figures_and_notices_and_escapes_all() -> None:
    spec = {
        "data": {"values": [{"a": 3}]},
        "mark": "point",
        "encoding": {"x": {"field": "a", "type": "quantitative"}},
    }
    figure = Figure(title="Occupancy", caption=HOSTILE, spec=spec)  # type: ignore[arg-type]
    run = result(provenance={"notice": f"nano {HOSTILE}"})
    rows = (row(HOSTILE, 1.0, 2.0),)
    text = page(rows=rows, figures=(figure,), results={"grid": run})
    assert "<svg" in text
    assert text.index("About the model") < text.index("<table>")
    # The page's own sorts its tables.
    assert text.count("<script") == 1 and "alert(1)" in text


def test_a_browser_fetches_and_runs_nothing_of_a_figure() -> None:
    """A study may come from anyone, and a picture may name one of elsewhere."""
    image = {
        "data": {"values": [{"of": "http://127.0.0.1:9/seen.png"}]},
        "mark": "image",
        "encoding": {"url": {"field": "of", "type": "nominal"}},
    }
    figure = Figure(title="Theirs", caption="", spec=image)  # type: ignore[arg-type]
    text = page(rows=(row("k", 1.0, 2.0),), figures=(figure,))
    assert "http://127.0.0.1:9/seen.png" in text
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    hashed = b64encode(sha256(style.encode()).digest()).decode()
    (policy,) = re.findall(
        r'http-equiv="Content-Security-Policy" content="([^"]*)"', unescape(text)
    )
    rules = policy.split("; ")
    assert "default-src 'none'" in rules and f"style-src 'sha256-{hashed}'" in rules
    assert not [rule for rule in rules if rule.startswith("img-src")]


def test_a_page_without_figures_says_why() -> None:
    assert "figures need altair" in page(figures_missing="figures need altair")


def test_the_page_names_the_models_that_answered() -> None:
    use = ModelUse(
        name=f"big{HOSTILE}",
        model=f"big{HOSTILE}",
        kind="agent",
        part="gpt-oss",
        days=("2026-11-23", "2026-11-23"),
        usage=Usage(calls=640, prompt_tokens=9, answer_tokens=1, cost=0.84),
    )
    text = page(results={"grid": result(models=(use,))})
    assert "gpt-oss with big&lt;script" in text and HOSTILE not in text
    assert "640 calls, 10 tokens (9 in, 1 out), cost 0.84" in text


def test_the_page_names_agents_and_size() -> None:
    found = page(results={"grid": result(), "keys": result()})
    assert "telos &middot; " in found or "telos \u00b7 " in found
    assert "episodes in 2 runs" in found and "10\u00a0% of the published size" in found


def test_the_page_counts_failures_with_their_reasons() -> None:
    failure = Failure(stage="rollout", subject="0", reason=f"server {HOSTILE}")
    subject = replace(sample_result().subject, failed=2)
    failed = result(failures=(failure, failure), subject=subject)
    text = page(results={"grid": failed, "keys": result(failures=())})
    assert "grid: 2 of" in text and "2 x server &lt;script" in text
    assert "keys: " not in text and text.count("<script") == 1
