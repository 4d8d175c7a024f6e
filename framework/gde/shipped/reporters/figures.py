"""Figures as pictures, and the figures that a result asks for: curves and heat maps of its breakdowns."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.json import Json, is_number
from gde.data.measure import Measures
from gde.data.result import Measurement
from gde.shipped.reporters.wording import symbol

STYLE: Mapping[str, Json] = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelLimit": 260,
        "labelColor": "#7a838b",
        "titleColor": "#7a838b",
        "gridColor": "#8888",
        "gridOpacity": 0.35,
    },
    "legend": {"labelColor": "#7a838b", "titleColor": "#7a838b"},
    "header": {"labelColor": "#7a838b", "titleColor": "#7a838b"},
    "title": {"color": "#7a838b"},
}
"""Greys that can be read on light and on dark paper."""
BLUE = "#2b7fc4"
WIDE: Mapping[str, Json] = {"width": 320, "height": 200}
NARROW: Mapping[str, Json] = {"width": 190, "height": 130}
PANELS = 3
"""In a row."""
MAP_CAPTION = "Empty places: not measured, too few worlds or none. Intervals are in result.json."
Breakdown = tuple[str, tuple[str, ...]]
"""The name of measurements and the labels that they are broken down by."""
FEWEST = 2
"""Points that make a curve, or cells that make a map."""


def svg(figure: Figure) -> str:
    """The figure as inline SVG. Equal figures give equal text.

    Raises:
        ValueError: the specification is no Vega-Lite that can be drawn.
    """
    import vl_convert

    spec = {**figure.spec, "config": {**STYLE, **_config(figure.spec)}}
    drawn: str = vl_convert.vegalite_to_svg(json.dumps(spec))
    drawn = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawn)  # of no use within a page
    # Ids are counted on from picture to picture: they get names that are the figure's own.
    names = {name: index for index, name in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', drawn)))}
    prefix = re.sub(r"\W+", "-", figure.title.lower())
    return re.sub(
        r'(\bid="|url\(#|href="#)([^")]+)',
        lambda found: f"{found[1]}{prefix}-{names[found[2]]}" if found[2] in names else found[0],
        drawn,
    )


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


def _config(spec: Mapping[str, Json]) -> Mapping[str, Json]:
    config = spec.get("config", {})
    return config if isinstance(config, Mapping) else {}


def numbers(one: Measurement) -> dict[str, Any]:
    """Value and interval as the fields of a row; without an interval its bounds are null, which is not drawn."""
    low, high = one.interval or (None, None)
    return {"value": one.value, "low": low, "high": high}


def _rows(found: Sequence[Measurement]) -> list[dict[str, Any]]:
    return [{**one.where, "n": one.n, **numbers(one)} for one in found]


def _curve(title: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    (key,), unit = keys, found[0].unit
    x = {"field": key, "type": "quantitative", "title": key, "scale": {"zero": False}}
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
        **WIDE,
    }
    caption = "The band is the 95 % interval over worlds, point by point."
    return Figure(title=f"{title} by {key}", caption=caption, spec=spec)


def _heat_map(title: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    spec: dict[str, Any] = {"data": {"values": _rows(found)}, **_map(keys, found), **WIDE}
    return Figure(title=f"{title} by {keys[0]} and {keys[1]}", caption=MAP_CAPTION, spec=spec)


def _panels(title: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    """One heat map for every value of the third label."""
    row, column, panel = keys
    facet = {"field": panel, "type": "ordinal", "title": panel}
    inner = {**_map(keys, found), **NARROW}
    spec: dict[str, Any] = {"data": {"values": _rows(found)}, "facet": facet, "columns": PANELS, "spec": inner}
    return Figure(title=f"{title} by {row}, {column} and {panel}", caption=MAP_CAPTION, spec=spec)


def _map(keys: Sequence[str], found: Sequence[Measurement]) -> dict[str, Any]:
    (row, column, *_), unit = keys, found[0].unit
    place = {
        "x": {"field": column, "type": "ordinal", "title": column, "axis": {"labelAngle": 0}},
        "y": {"field": row, "type": "ordinal", "title": row, "sort": "descending"},
    }
    values = [one.value or 0.0 for one in found]
    low, high = (0.0, 1.0) if unit == "share" else (min(values), max(values))
    scale = {"scheme": "viridis", "domain": [low, high]}
    form = ".0%" if unit == "share" else ".2f"
    legend = {"title": None, "format": form}
    # Viridis is dark at its low end.
    ink = {"condition": {"test": f"datum.value > {low + 0.6 * (high - low)}", "value": "#111"}, "value": "#fff"}
    number = {"field": "value", "type": "quantitative"}
    layers = [
        {"mark": "rect", "encoding": {"color": {**number, "scale": scale, "legend": legend}}},
        {"mark": {"type": "text", "fontSize": 10}, "encoding": {"text": {**number, "format": form}, "color": ink}},
    ]
    return {"encoding": place, "layer": layers}


def unit_title(unit: str) -> str | None:
    """The title of an axis; per cent is at its numbers."""
    return None if unit == "share" else symbol(unit) or None


def _scale(unit: str) -> dict[str, Any]:
    return {"scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}} if unit == "share" else {}


SHAPES: Mapping[int, Callable[[str, Sequence[str], Sequence[Measurement]], Figure]] = {
    1: _curve,
    2: _heat_map,
    3: _panels,
}
"""By the number of labels."""
