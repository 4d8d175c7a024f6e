"""Heat maps: a number in each cell, with its interval and what it is an average of."""

from collections.abc import Sequence
from math import prod
from typing import Any

from gde.data.figure import Figure
from gde.data.json import is_number
from gde.data.result import Measurement
from gde.reporting.drawing import numbers, unit_title
from gde.reporting.wording import bounds, number

ROOMY = 8
"""Columns that have room for intervals."""
HEIGHT, SMALL_CELL = 46, (40, 24)
"""Of a cell in pixels, with an interval; and the size of one without."""
LETTER, MARGIN, AXIS = 5.6, 10, 60
"""Width in pixels of a letter of an interval, of what is left and right of it, and of an axis."""
PAGE = 1000
"""Pixels for panels side by side."""
LINES = (("text", 12, -11), ("interval", 9.5, 4), ("told", 9.5, 16))
"""Of a cell: field, size of the font and how far below the middle."""
ONE_LINE = (("text", 10, 0),)
FIELDS = ("row", "column", "panel")
"""Labels by what they are in a map: their names may be those of other fields, or hold dots."""


def heat_map(title: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    """One of two labels: rows and columns."""
    spec: dict[str, Any] = {"data": {"values": _rows(keys, found)}, **_map(keys, found)}
    return Figure(title=f"{title} by {keys[0]} and {keys[1]}", caption=_caption(keys, found), spec=spec)


def panels(title: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    """One heat map for every value of the third label."""
    row, column, panel = keys
    facet = {"field": "panel", "type": "ordinal", "title": panel, "sort": _ordered(panel, found)}
    data, inner = {"values": _rows(keys, found)}, _map(keys, found)
    wide = inner["width"]["step"] * len(_ordered(column, found)) + AXIS
    spec: dict[str, Any] = {"data": data, "facet": facet, "columns": max(1, int(PAGE // wide)), "spec": inner}
    return Figure(title=f"{title} by {row}, {column} and {panel}", caption=_caption(keys, found), spec=spec)


def _rows(keys: Sequence[str], found: Sequence[Measurement]) -> list[dict[str, Any]]:
    return [
        {field: one.where[key] for field, key in zip(FIELDS, keys, strict=False)}
        | {**numbers(one), "n": one.n, "text": _value(one), "interval": _interval(one), "told": f"n {one.n}"}
        for one in found
    ]


def _value(one: Measurement) -> str:
    return number(one.value or 0.0, one.unit, 0) + ("%" if one.unit == "share" else "")


def _interval(one: Measurement) -> str:
    return bounds(one.interval, one.unit, 0)


def _map(keys: Sequence[str], found: Sequence[Measurement]) -> dict[str, Any]:
    row, column, *_ = keys
    rows = _ordered(row, found)
    place: dict[str, dict[str, Any]] = {
        "x": {"field": "column", "title": column, "sort": _ordered(column, found), "axis": {"labelAngle": 0}},
        # Numbers rise upwards; words are read downwards.
        "y": {"field": "row", "title": row, "sort": rows[::-1] if all(map(is_number, rows)) else rows},
    }
    values = [one.value or 0.0 for one in found]
    low, high = (0.0, 1.0) if found[0].unit == "share" else (min(values), max(values))
    color = {"field": "value", "type": "quantitative", "scale": {"scheme": "viridis", "domain": [low, high]}}
    # Viridis is dark at its low end.
    ink = {"condition": {"test": f"datum.value > {low + 0.6 * (high - low)}", "value": "#111"}, "value": "#fff"}
    texts = [
        {
            "mark": {"type": "text", "fontSize": size, "dy": down, "fontWeight": 600 if field == "text" else 400},
            "encoding": {"text": {"field": field, "type": "nominal"}, "color": ink},
        }
        for field, size, down in (LINES if _is_roomy(keys, found) else ONE_LINE)
    ]
    cells = {"mark": "rect", "encoding": {"color": {**color, "legend": None}}}
    width, height = _cell(keys, found)
    return {
        "encoding": {axis: {"type": "ordinal", **encoded} for axis, encoded in place.items()},
        "layer": [cells, *texts],
        "width": {"step": width},
        "height": {"step": height},
    }


def _cell(keys: Sequence[str], found: Sequence[Measurement]) -> tuple[int, int]:
    """Width and height."""
    if not _is_roomy(keys, found):
        return SMALL_CELL
    return round(LETTER * max(len(_interval(one)) for one in found)) + 2 * MARGIN, HEIGHT


def _ordered(key: str, found: Sequence[Measurement]) -> list[Any]:
    """Numbers by their size; words as they come, which is the order of the plan."""
    values: list[Any] = list(dict.fromkeys(one.where[key] for one in found))
    return sorted(values) if all(map(is_number, values)) else values


def _is_roomy(keys: Sequence[str], found: Sequence[Measurement]) -> bool:
    return len(_ordered(keys[1], found)) <= ROOMY


def _caption(keys: Sequence[str], found: Sequence[Measurement]) -> str:
    unit = unit_title(found[0].unit)
    value = f"Value in {unit}" if unit else "Value"
    told = f"{value}, 95 % interval, n." if _is_roomy(keys, found) else f"{value}; intervals are in result.json."
    empty = len(found) < prod(len(_ordered(key, found)) for key in keys)
    return f"{told} Empty places: not measured, too few worlds or none." if empty else told
