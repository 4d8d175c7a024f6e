"""Curves and heat maps from what a result is broken down by, as pictures that stand
alone.
"""

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from gde.data.figure import Figure
from gde.data.measure import Measure, Measures
from gde.data.result import Measurement
from gde.reporting.figures.breakdowns import breakdowns
from gde.reporting.figures.drawing import svg
from gde.reporting.page.templates import source

SIZES = (7, 9, 11)
NAMED = Measures((Measure(name="by", title="Success"),))


def measured(
    name: str, value: float | None, unit: str = "share", **where: str | float
) -> Measurement:
    interval = None if value is None else (value - 0.1, value + 0.1)
    reason = "" if value is not None else "nothing there"
    return Measurement(
        name=name,
        value=value,
        unit=unit,
        n=5,
        interval=interval,
        where=where,
        reason=reason,
    )


def test_a_figure_of_somebody_else_fetches_nothing() -> None:
    spec = {"data": {"url": "http://127.0.0.1:9/secret.csv"}, "mark": "point"}
    figure = Figure(title="Theirs", caption="", spec=spec)
    with pytest.raises(ValueError, match="External data url not allowed"):
        svg(figure)


def test_one_numeric_label_gives_a_curve_and_two_give_a_map() -> None:
    curve = [measured("by", 0.5, distance=d) for d in (1, 2, 3)]
    cells = [measured("by", 0.5, size=s, density=d) for s in SIZES for d in (0.0, 0.5)]
    found = breakdowns([*curve, *cells], frozenset(), NAMED)
    assert [figure.title for figure in found] == [
        "Success by distance",
        "Success by size and density",
    ]
    line, heat = (
        json.loads(json.dumps(figure.spec))["data"]["values"] for figure in found
    )
    assert [(row["distance"], row["low"], row["high"]) for row in line] == [
        (d, 0.4, 0.6) for d in (1, 2, 3)
    ]
    assert len(heat) == 6


@pytest.mark.parametrize(
    "measurements",
    [
        [measured("by", 0.5, distance=1)],
        [measured("by", 0.5, kind=kind) for kind in "abc"],
        [measured("by", None, distance=d) for d in (1, 2, 3)],
        [measured("by", 0.5, a=1, b=2, c=i, d=4) for i in range(9)],
        [measured("by", 0.5), *(measured("by", 0.5, size=size) for size in SIZES)],
    ],
    ids=["a point", "words", "no numbers", "four labels", "conditions of a whole"],
)
def test_what_is_no_curve_and_no_map_is_left_to_the_tables(
    measurements: list[Measurement],
) -> None:
    assert breakdowns(measurements, frozenset({"size"}), NAMED) == ()


def test_a_picture_holds_its_numbers_and_reaches_for_nothing_outside() -> None:
    made = breakdowns(
        [measured("by", 0.1 * i, "bits", size=s, d=i) for i in range(4) for s in SIZES],
        frozenset(),
        NAMED,
    )
    (picture,) = map(svg, made)
    ElementTree.fromstring(picture)
    assert "0.30" in picture
    assert not re.search(r"https?:|@import|<script", picture)
    assert [picture] == [svg(figure) for figure in made]


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


def test_three_labels_give_a_heat_map_for_every_value_of_the_third() -> None:
    cells = [
        measured("by", 0.5, size=s, density=d, distance=5 * i)
        for s in SIZES
        for d in (0.0, 0.5)
        for i in (1, 2)
    ]
    (figure,) = breakdowns(cells, frozenset(), NAMED)
    shown = re.findall(r">(\d+)</text>", svg(figure))
    assert {"5", "10"} <= set(shown)


def test_no_style_of_the_page_is_meant_for_a_class_of_a_drawing() -> None:
    """The panels of Vega are of the class `cell`: filled like the cells of a map they
    hid the lines in them.
    """
    cells = [
        measured("by", 0.5, size=s, density=d, distance=i)
        for s in SIZES
        for d in (0.0, 0.5)
        for i in (1, 2)
    ]
    (figure,) = breakdowns(cells, frozenset(), NAMED)
    drawn = {
        name
        for names in re.findall(r'class="([^"]*)"', svg(figure))
        for name in names.split()
    }
    sheet = source("style.css")
    selectors = [
        each.strip()
        for rule in re.findall(r"([^{}]+)\{", sheet)
        for each in rule.split(",")
    ]
    styled = {
        found[1]
        for each in selectors
        if (found := re.fullmatch(r"\.([\w-]+)(?:[:\[].*)?", each))
    }
    assert "cell" in drawn and "ring" in styled
    assert not drawn & styled


def test_what_is_no_vega_lite_is_refused() -> None:
    with pytest.raises(ValueError, match="Vega-Lite"):
        svg(Figure(title="t", caption="c", spec={"position": 3}))


ODD = """
from xml.etree import ElementTree
from gde.data.figure import Figure
from gde.reporting.figures.drawing import svg

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
