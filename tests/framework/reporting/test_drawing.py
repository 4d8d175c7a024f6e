"""Figures as inline SVG: safe, alike for equal figures, and apart on one page."""

import re
import subprocess
import sys

import pytest

from gde.data.figure import Figure
from gde.errors import GdeError
from gde.reporting.drawing import svg


def test_a_figure_of_somebody_else_fetches_nothing() -> None:
    spec = {"data": {"url": "http://127.0.0.1:9/secret.csv"}, "mark": "point"}
    figure = Figure(title="Theirs", caption="", spec=spec)
    with pytest.raises(GdeError, match="External data url not allowed"):
        svg(figure)


def test_ids_of_two_pictures_on_a_page_differ() -> None:
    def clipped(title: str) -> str:
        spec = {
            "data": {"values": [{"a": 1}]},
            "mark": {"type": "point", "clip": True},
            "encoding": {"x": {"field": "a"}},
        }
        return svg(Figure(title=title, caption="c", spec=spec))  # type: ignore[arg-type]

    first, second = (
        set(re.findall(r'id="([^"]+)"', clipped(title))) for title in ("One", "Two")
    )
    assert first and second and not first & second
    assert first == {"one-0"}
    assert "url(#one-0)" in clipped("One")


def test_what_is_no_vega_lite_is_refused() -> None:
    with pytest.raises(GdeError, match="Vega-Lite"):
        svg(Figure(title="t", caption="c", spec={"position": 3}))


ODD = """
from xml.etree import ElementTree
from gde.data.figure import Figure
from gde.reporting.drawing import svg

odd = [*range(32), *range(127, 160), 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xFFFE, 0xFFFF]
rows = [{f"field {chr(code)}": f"<{chr(code)}>", "value": code} for code in odd]
for code in (0, 0x1B, 0xD800, 0xFFFF):
    field = f"field {chr(code)}"
    encoding = {"x": {"field": field, "title": f"title {chr(code)}"}, "y": {"field": "value", "type": "quantitative"}}
    every = [{field: row[next(iter(row))], "value": row["value"]} for row in rows]
    spec = {"data": {"values": every}, "mark": "bar", "title": [f"{chr(code)} a", "b"], "encoding": encoding}
    drawn = svg(Figure(title=f"{chr(code)}", caption="", spec=spec))
    ElementTree.fromstring(drawn)
    assert "\u241b" in drawn and drawn.count("aria-roledescription='bar'".replace("'", '"')) == len(odd), code
"""


def test_no_character_of_a_label_ends_the_process() -> None:
    """What draws aborts on characters that XML cannot hold: in a process of its own, so
    that only this test fails.
    """
    done = subprocess.run(
        [sys.executable, "-c", ODD], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
