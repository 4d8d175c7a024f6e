"""Figures of Choukrani et al. (2025) from a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.result import Measurement
from gde_plugins.babyai.worlds.levels import PLAN_WORLDS, SIZES

RATES = {
    "decompose.comprehension": "comprehension",
    "decompose.precision": "precision",
    "decompose.aci": "assistance curve integral",
}
WITHIN = "decompose.within."
"""The names of the assistance curve, before the number of added subgoals."""
OVERALL = {"plan.success": "success", "plan.efficiency_successful": "efficiency"}
SHARE = {"type": "quantitative", "scale": {"domain": [0, 1]}}
Row = dict[str, Any]
"""One row of a figure's data, by field."""


def drawn(
    plan: Sequence[Measurement], decompose: Sequence[Measurement]
) -> list[Figure]:
    """Draw the figures that have numbers."""
    by_size = _rows(plan, {"plan.success": ""}, ["size"])
    overall = _rows(plan, OVERALL, [])
    by_class = _rows(decompose, RATES, ["added"])
    candidates = [
        ("Plan: success by size of the world", "1", by_size, _bars("size")),
        ("Plan: success and efficiency", "10", overall, _bars("rate")),
        ("Plan: success by size and distractors", "11", _cells(plan), _heat_map()),
        ("Decompose by subgoals added", "2", by_class, _grouped()),
        ("Decompose: assistance curve", "9", _curve(decompose), _line()),
    ]

    figures = []
    for title, number, rows, spec in candidates:
        if rows:
            caption = (
                f"As figure {number} of Choukrani et al. (2025), for the agent of this run; "
                "an answer that cannot be used counts as 0."
            )
            whole = {"data": {"values": rows}, **spec}
            figures.append(Figure(title=title, caption=caption, spec=whole))
    return figures


def _rows(
    measurements: Sequence[Measurement], rates: Mapping[str, str], by: list[str]
) -> list[Row]:
    """Rows of the measurements of some names that have exactly these labels."""
    rows: list[Row] = []
    for name, rate in rates.items():
        for one in measurements:
            if one.name == name and [*one.where] == by and one.value is not None:
                labels = {label: str(value) for label, value in one.where.items()}
                named = {"rate": rate} if rate else {}
                rows.append({**labels, "value": one.value, **named})
    return rows


def _curve(measurements: Sequence[Measurement]) -> list[Row]:
    """The share of missions fulfilled with at most so many added subgoals."""
    rows: list[Row] = []
    for one in measurements:
        most = one.name.removeprefix(WITHIN)
        if most != one.name and not one.where and one.value is not None:
            low, high = one.interval or (one.value, one.value)
            rows.append(
                {"most": int(most), "value": one.value, "low": low, "high": high}
            )
    return rows


def _line() -> dict[str, Any]:
    """A curve over its 95 % interval."""
    x = {"field": "most", "type": "quantitative", "title": "added subgoals, at most"}
    line = {"x": x, "y": {"field": "value", **SHARE}}
    band = {"x": x, "y": {"field": "low", **SHARE}, "y2": {"field": "high"}}
    layers = [
        {"mark": {"type": "area", "opacity": 0.25}, "encoding": band},
        {"mark": {"type": "line", "point": True}, "encoding": line},
    ]
    return {"layer": layers, "width": 240, "height": 160}


def _cells(measurements: Sequence[Measurement]) -> list[Row]:
    rows: list[Row] = []
    for row in _rows(measurements, {"plan.success": ""}, ["level"]):
        _, n_distractors = PLAN_WORLDS.get(row["level"], (0, 0))
        for size, (_, choices) in SIZES.items():
            # Sizes have different numbers of distractors, so columns are counted: the
            # fewest of each size is the first.
            if f"-{size}-" in row["level"]:
                place = choices.index(n_distractors) + 1
                column = f"{place}. of {len(choices)}"
                rows.append(
                    {"size": size, "distractors": column, "value": row["value"]}
                )
    return rows


def _bars(kind: str) -> dict[str, Any]:
    x = _in_given_order(kind)
    y = {"field": "value", **SHARE}
    return {"mark": "bar", "encoding": {"x": x, "y": y}, "width": 240, "height": 160}


def _grouped() -> dict[str, Any]:
    bars = _bars("added")
    rate = _in_given_order("rate")
    bars["encoding"] |= {"xOffset": rate, "color": rate}
    return bars


def _heat_map() -> dict[str, Any]:
    encoding = {
        "x": _in_given_order("distractors"),
        "y": _in_given_order("size"),
        "color": {"field": "value", **SHARE},
    }
    return {"mark": "rect", "encoding": encoding, "width": 240, "height": 160}


def _in_given_order(field: str) -> dict[str, Any]:
    """An axis in the order of the rows; Vega-Lite would sort it by name."""
    return {"field": field, "type": "nominal", "sort": None}
