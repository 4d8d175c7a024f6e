"""The figures that a result asks for: curves and heat maps of its breakdowns and of its sweep."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.json import Json, is_number
from gde.data.measure import Measures
from gde.data.result import Measurement
from gde.reporting.drawing import BLUE, numbers, unit_title
from gde.reporting.maps import heat_map, panels

SIZE: Mapping[str, Json] = {"width": 270, "height": 180}
FEW_POINTS = 12
"""Places on an axis that are each told."""
Breakdown = tuple[str, tuple[str, ...]]
"""The name of measurements and the labels that they are broken down by."""
FEWEST = 2
"""Points that make a curve, or cells that make a map."""


def breakdowns(measurements: Sequence[Measurement], strata: frozenset[str], meanings: Measures) -> tuple[Figure, ...]:
    """A curve for what is broken down by one numeric label, a heat map by two, a row of heat maps by three.

    Args:
        measurements: of the whole run.
        strata: names of the swept labels. Where the same measurement is given for the whole run, its values by
            stratum are left to the tables.
        meanings: what they are called.
    """
    shown = drawn(measurements, strata)
    return tuple(SHAPES[len(keys)](meanings[name].titled({})[0], keys, found) for (name, keys), found in shown.items())


def drawn(measurements: Sequence[Measurement], strata: frozenset[str]) -> dict[Breakdown, list[Measurement]]:
    """What `breakdowns` draws of them, by name and labels."""
    groups: dict[Breakdown, list[Measurement]] = {}
    whole = {one.name for one in measurements if not one.where}
    for one in measurements:
        told = one.name in whole and one.where.keys() <= strata
        if one.value is not None and not told and len(one.where) in SHAPES and all(map(is_number, one.where.values())):
            groups.setdefault((one.name, tuple(one.where)), []).append(one)
    return {place: found for place, found in groups.items() if len(found) >= FEWEST}


def _rows(found: Sequence[Measurement]) -> list[dict[str, Any]]:
    return [{**one.where, "n": one.n, **numbers(one)} for one in found]


def _curve(title: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    (key,), unit = keys, found[0].unit
    places = sorted({one.where[key] for one in found}, key=float)
    axis = {"axis": {"values": places, "format": "~g"}} if len(places) <= FEW_POINTS else {}
    x = {"field": key, "type": "quantitative", "title": key, "scale": {"zero": False}, **axis}
    y = {"field": "value", "type": "quantitative", "title": unit_title(unit), **_scale(unit)}
    band = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers = [
        {"mark": {"type": "area", "opacity": 0.2, "color": BLUE}, "encoding": band},
        {"mark": {"type": "line", "color": BLUE, "point": {"color": BLUE}}, "encoding": {"y": y}},
    ]
    spec: dict[str, Any] = {
        "data": {"values": _rows(found)},
        "encoding": {"x": x},
        "layer": layers,
        **SIZE,
    }
    caption = "Band: 95 % interval, point by point."
    return Figure(title=f"{title} by {key}", caption=caption, spec=spec)


def _scale(unit: str) -> dict[str, Any]:
    return {"scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}} if unit == "share" else {}


SHAPES: Mapping[int, Callable[[str, Sequence[str], Sequence[Measurement]], Figure]] = {
    1: _curve,
    2: heat_map,
    3: panels,
}
"""By the number of labels."""
