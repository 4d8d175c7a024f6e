"""Figures as pictures, and the figures that a result asks for: curves and heat maps of its breakdowns."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.result import Measurement
from gde.reporters.wording import symbol, title

STYLE: Mapping[str, Json] = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {"labelColor": "#7a838b", "titleColor": "#7a838b", "gridColor": "#8888", "gridOpacity": 0.35},
    "legend": {"labelColor": "#7a838b", "titleColor": "#7a838b"},
    "header": {"labelColor": "#7a838b", "titleColor": "#7a838b"},
    "title": {"color": "#7a838b"},
}
"""Greys that can be read on light and on dark paper."""
BLUE = "#2b7fc4"
WIDTH, HEIGHT = 320, 200
LEGIBLE: Mapping[str, Json] = {"fill": "#fff", "stroke": "#000", "strokeWidth": 0.4}
"""Text on any colour."""
FEWEST = 3
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


def breakdowns(measurements: Sequence[Measurement], strata: frozenset[str]) -> tuple[Figure, ...]:
    """A curve for what is broken down by one numeric label, a heat map for what is broken down by two.

    Args:
        measurements: of the whole run.
        strata: names of the swept labels. Where the same measurement is given for the whole run, its values by
            stratum are left to the tables.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[Measurement]] = {}
    whole = {one.name for one in measurements if not one.where}
    for one in measurements:
        told = one.name in whole and strata.issuperset(one.where)
        if one.value is not None and not told and 1 <= len(one.where) <= 2 and all(map(_numeric, one.where.values())):
            groups.setdefault((one.name, tuple(one.where)), []).append(one)
    shown = {place: found for place, found in groups.items() if len(found) >= FEWEST}
    return tuple((_curve if len(keys) == 1 else _heat_map)(name, keys, found) for (name, keys), found in shown.items())


def _numeric(value: str | int | float | bool) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _config(spec: Mapping[str, Json]) -> Mapping[str, Json]:
    config = spec.get("config", {})
    return config if isinstance(config, Mapping) else {}


def _rows(found: Sequence[Measurement]) -> list[dict[str, Any]]:
    return [
        {**one.where, "value": one.value, "n": one.n, "low": low, "high": high}
        for one in found
        for low, high in [one.interval or (one.value, one.value)]
    ]


def _curve(name: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    (key,), unit = keys, found[0].unit
    x = {"field": key, "type": "quantitative", "title": key, "scale": {"zero": False}}
    y = {"field": "value", "type": "quantitative", "title": _axis(name, unit), **_scale(unit)}
    band = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers = [
        {"mark": {"type": "area", "opacity": 0.2, "color": BLUE}, "encoding": band},
        {"mark": {"type": "line", "color": BLUE, "point": {"color": BLUE}}, "encoding": {"y": y}},
    ]
    spec: dict[str, Any] = {
        "data": {"values": _rows(found)},
        "encoding": {"x": x},
        "layer": layers,
        "width": WIDTH,
        "height": HEIGHT,
    }
    caption = "The band is the 95 % interval over worlds, point by point."
    return Figure(title=f"{title(name)} by {key}", caption=caption, spec=spec)


def _heat_map(name: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    (row, column), unit = keys, found[0].unit
    place = {
        "x": {"field": column, "type": "ordinal", "title": column, "axis": {"labelAngle": 0}},
        "y": {"field": row, "type": "ordinal", "title": row, "sort": "descending"},
    }
    share = {"scale": {"scheme": "viridis", "domain": [0, 1]}, "legend": {"format": ".0%"}}
    style = share if unit == "share" else {"scale": {"scheme": "viridis"}}
    colour = {"field": "value", "type": "quantitative", "title": _axis(name, unit), **style}
    text = {"field": "value", "type": "quantitative", "format": ".0%" if unit == "share" else ".2f"}
    layers = [
        {"mark": "rect", "encoding": {"color": colour}},
        {"mark": {"type": "text", "fontSize": 10, **LEGIBLE}, "encoding": {"text": text}},
    ]
    spec: dict[str, Any] = {
        "data": {"values": _rows(found)},
        "encoding": place,
        "layer": layers,
        "width": WIDTH,
        "height": HEIGHT,
    }
    caption = "Empty places hold no observation. Intervals are in result.json."
    return Figure(title=f"{title(name)} by {row} and {column}", caption=caption, spec=spec)


def _axis(name: str, unit: str) -> str:
    return title(name) if unit == "share" or not symbol(unit) else f"{title(name)}, {symbol(unit)}"


def _scale(unit: str) -> dict[str, Any]:
    return {"scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}} if unit == "share" else {}
