"""Heat maps: a number in each cell, with interval and sample size."""

from collections.abc import Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.json import is_number
from gde.data.result import Measurement
from gde.reporting.drawing import numbers, unit_title
from gde.reporting.wording import bounds, counted, number

HEIGHT = 46
"""Height in pixels of a cell."""
LETTER = 5.6
"""Width in pixels of a letter of an interval."""
BOLD = 8.8
"""Width in pixels of a letter of the number."""
MARGIN = 10
"""Pixels left and right of an interval."""
AXIS = 60
"""Width in pixels of an axis."""
PAGE = 1000
"""Pixels for panels side by side."""
LINES = (
    ("text", 12, -11),
    ("interval", 9.5, 4),
    ("told", 9.5, 16),
)
"""The lines of a cell: field, font size, and pixels below the middle."""
FIELDS = ("row", "column", "panel")
"""Neutral names for the labels: a label's own name may clash with a field or hold
dots.
"""


def heat_map(title: str, keys: Sequence[str], found: Sequence[Measurement]) -> Figure:
    """A heat map of two labels, rows and columns; for every value of a third, if given."""
    rows = _rows(keys, found)
    spec = _map(keys, found, rows)
    for panel in keys[2:]:
        # As many panels side by side as the page has room for.
        n_columns = len(_ordered(keys[1], found))
        panel_width = spec["width"]["step"] * n_columns + AXIS
        facet = {
            "field": "panel",
            "type": "ordinal",
            "title": panel,
            "sort": _ordered(panel, found),
        }
        n_beside = max(1, int(PAGE // panel_width))
        spec = {"facet": facet, "columns": n_beside, "spec": spec}

    *first, last = keys
    return Figure(
        title=f"{title} by {', '.join(first)} and {last}",
        caption=_caption(keys, found),
        spec={"data": {"values": rows}, **spec},
    )


def _rows(keys: Sequence[str], found: Sequence[Measurement]) -> list[dict[str, Any]]:
    """One row of data for each number."""
    rows = []
    for one in found:
        labels = [one.where[key] for key in keys]
        # A map without panels has two labels for three fields.
        row: dict[str, Any] = dict(zip(FIELDS, labels, strict=False))
        row |= numbers(one)
        row["n"] = one.n
        row["clusters"] = one.clusters

        text = number(one.value or 0.0, one.unit, 0)
        row["text"] = f"{text}%" if one.unit == "share" else text
        row["interval"] = bounds(one.interval, one.unit, 0)
        row["told"] = f"n {counted(one.n, one.clusters)}"
        rows.append(row)
    return rows


def _map(
    keys: Sequence[str], found: Sequence[Measurement], data: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The Vega-Lite specification of one panel, without its data."""
    row, column, *_ = keys
    x = {
        "field": "column",
        "type": "ordinal",
        "title": column,
        "sort": _ordered(column, found),
        "axis": {"labelAngle": 0},
    }

    # Numbers rise upwards; words are read downwards.
    rows = _ordered(row, found)
    if all(is_number(value) for value in rows):
        rows.reverse()
    y = {
        "field": "row",
        "type": "ordinal",
        "title": row,
        "sort": rows,
    }

    # Shares have the same colours in all maps, so that maps can be compared.
    low = 0.0
    high = 1.0
    if found[0].unit != "share":
        values = [one.value or 0.0 for one in found]
        low = min(values)
        high = max(values)
    color = {
        "field": "value",
        "type": "quantitative",
        "scale": {"scheme": "viridis", "domain": [low, high]},
        "legend": None,
    }
    layers: list[dict[str, Any]] = [{"mark": "rect", "encoding": {"color": color}}]

    # Viridis is dark at its low end, so the text is white there and black above.
    bright = low + 0.6 * (high - low)
    ink = {
        "condition": {"test": f"datum.value > {bright}", "value": "#111"},
        "value": "#fff",
    }
    for field, size, down in LINES:
        mark = {
            "type": "text",
            "fontSize": size,
            "dy": down,
            "fontWeight": 600 if field == "text" else 400,
        }
        text = {"field": field, "type": "nominal"}
        layers.append({"mark": mark, "encoding": {"text": text, "color": ink}})

    widths = []
    for one in data:
        told = max(len(one["interval"]), len(one["told"]))
        widths.append(max(LETTER * told, BOLD * len(one["text"])))
    return {
        "encoding": {"x": x, "y": y},
        "layer": layers,
        "width": {"step": round(max(widths)) + 2 * MARGIN},
        "height": {"step": HEIGHT},
    }


def _ordered(key: str, found: Sequence[Measurement]) -> list[Any]:
    """The values of a label: numbers by size, words in the order of the plan."""
    # A dict drops repeated values and keeps the order of the first ones.
    values: list[Any] = list(dict.fromkeys(one.where[key] for one in found))
    if all(is_number(value) for value in values):
        values.sort()
    return values


def _caption(keys: Sequence[str], found: Sequence[Measurement]) -> str:
    unit = unit_title(found[0].unit)
    value = f"Value in {unit}" if unit else "Value"
    caption = f"{value}, 95 % interval where there are enough worlds, n."

    n_cells = 1
    for key in keys:
        n_cells *= len(_ordered(key, found))
    if len(found) < n_cells:
        caption += " Empty cells: not measured, or too few worlds."
    return caption
