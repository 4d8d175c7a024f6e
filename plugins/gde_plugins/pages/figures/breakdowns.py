"""Curves and heat maps of numbers that are broken down by numeric labels."""

from collections.abc import Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.json import Json, is_number
from gde.data.measure import Measures
from gde.data.result import Measurement
from gde.reporting.drawing import BLUE, numbers
from gde_plugins.pages.figures.curves import curve
from gde_plugins.pages.figures.maps import heat_map

SIZE: Mapping[str, Json] = {"width": 270, "height": 180}
FEW_POINTS = 12
"""Most places on an axis that are each labelled."""
MOST = 3
"""Most labels of a number that is drawn."""
FEWEST = 2
"""Fewest points of a curve and cells of a map."""


def breakdowns(
    measurements: Sequence[Measurement],
    conditions: frozenset[str],
    meanings: Measures,
) -> tuple[Figure, ...]:
    """Draw a curve for one numeric label, a heat map for two, several for three.

    Args:
        measurements: of the whole run.
        conditions: names of the swept labels. A measurement that also has a value for
            the whole run is not drawn by these: the tables show it.
        meanings: the titles of the measurements.
    """
    whole = {one.name for one in measurements if not one.where}
    groups: dict[tuple[str, tuple[str, ...]], list[Measurement]] = {}
    for one in measurements:
        in_tables = one.name in whole and one.where.keys() <= conditions
        if one.value is None or in_tables or len(one.where) not in range(1, MOST + 1):
            continue
        if all(map(is_number, one.where.values())):
            groups.setdefault((one.name, tuple(one.where)), []).append(one)

    figures = []
    for (name, keys), found in groups.items():
        # A single point is no curve.
        if len(found) >= FEWEST:
            title, _ = meanings[name].titled({})
            draw = _curve if len(keys) == 1 else heat_map
            figures.append(draw(title, keys, found))
    return tuple(figures)


def _curve(title: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    (key,) = keys
    x: dict[str, Any] = {
        "field": key,
        "type": "quantitative",
        "title": key,
        "scale": {"zero": False},
    }
    # Few places get a tick each; Vega-Lite would put its ticks between them.
    places = sorted({one.where[key] for one in found}, key=float)
    if len(places) <= FEW_POINTS:
        x["axis"] = {"values": places, "format": "~g"}

    unit = found[0].unit
    y: dict[str, Any] = {}
    if unit == "share":
        y = {"scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}}
    line = {"type": "line", "color": BLUE, "point": {"color": BLUE}}
    band = {"type": "area", "opacity": 0.2, "color": BLUE}

    rows = []
    for one in found:
        row: dict[str, Any] = {**one.where, "n": one.n, "clusters": one.clusters}
        row |= numbers(one)
        rows.append(row)

    spec: dict[str, Any] = {
        "data": {"values": rows},
        "encoding": {"x": x},
        "layer": curve(unit, line, band, **y),
        **SIZE,
    }
    return Figure(
        title=f"{title} by {key}",
        caption="Band: pointwise 95 % interval, where there are enough worlds.",
        spec=spec,
    )
