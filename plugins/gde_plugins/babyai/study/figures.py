"""The figures of Choukrani et al. (2025) that are drawn from a run."""

from collections.abc import Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.result import Measurement
from gde_plugins.babyai.worlds.levels import PLAN_WORLDS, SIZES

RATES = {
    "decompose.comprehension": "comprehension",
    "decompose.precision": "precision",
    "decompose.aci": "assistance curve integral",
}
OVERALL = {"plan.success": "success", "plan.efficiency_successful": "efficiency"}
SHARE = {"type": "quantitative", "scale": {"domain": [0, 1]}}
Row = dict[str, Any]
"""One mark of a figure, by field."""


def drawn(
    plan: Sequence[Measurement], decompose: Sequence[Measurement]
) -> list[Figure]:
    """Draw the figures for which there are numbers."""
    by_size = _by(plan, "plan.success", "size")
    candidates = [
        ("Plan: success by size of the world", "As figure 1", by_size, _bars("size")),
        ("Plan: success and efficiency", "As figure 10", _overall(plan), _bars("rate")),
        (
            "Plan: success by size and distractors",
            "As figure 11",
            _cells(plan),
            _heat_map(),
        ),
        ("Decompose by subgoals added", "As figure 2", _rates(decompose), _grouped()),
    ]

    figures = []
    for title, which, rows, spec in candidates:
        if not rows:
            continue
        whose = f"{which} of Choukrani et al. (2025), for the agent of this run"
        caption = f"{whose}; an answer that cannot be used counts as 0."
        data = {"values": rows}
        figures.append(
            Figure(title=title, caption=caption, spec={"data": data, **spec})
        )
    return figures


def _by(measurements: Sequence[Measurement], name: str, kind: str) -> list[Row]:
    """Rows of the measurements of a name that are broken down by one kind of label
    alone.
    """
    rows: list[Row] = []
    for one in measurements:
        if one.name != name or one.value is None:
            continue
        broken_down_by = list(one.where)
        if broken_down_by == [kind]:
            rows.append({kind: str(one.where[kind]), "value": one.value})
    return rows


def _overall(measurements: Sequence[Measurement]) -> list[Row]:
    rows: list[Row] = []
    for one in measurements:
        if one.name in OVERALL and not one.where and one.value is not None:
            rows.append({"rate": OVERALL[one.name], "value": one.value})
    return rows


def _cells(measurements: Sequence[Measurement]) -> list[Row]:
    rows: list[Row] = []
    for row in _by(measurements, "plan.success", "level"):
        level = row["level"]
        if level not in PLAN_WORLDS:
            continue
        size = next(size for size in SIZES if f"-{size}-" in level)

        # Sizes have different numbers of distractors, so columns are counted: the
        # fewest of each size is the first.
        _, n_distractors = PLAN_WORLDS[level]
        _, choices = SIZES[size]
        place = choices.index(n_distractors) + 1
        column = f"{place}. of {len(choices)}"
        rows.append({"size": size, "distractors": column, "value": row["value"]})
    return rows


def _rates(measurements: Sequence[Measurement]) -> list[Row]:
    rows = []
    for name, title in RATES.items():
        for row in _by(measurements, name, "added"):
            rows.append({**row, "rate": title})
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
