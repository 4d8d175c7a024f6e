"""Curves and heat maps from what a result is broken down by, as pictures that stand
alone.
"""

import json
import re
from xml.etree import ElementTree

import pytest

from gde.data.measure import Measure, Measures
from gde.data.result import Measurement
from gde.reporting.drawing import svg
from gde_plugins.pages.figures.breakdowns import breakdowns
from gde_plugins.pages.templates import source

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
