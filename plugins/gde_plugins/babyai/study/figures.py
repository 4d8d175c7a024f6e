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
SHARE = {"type": "quantitative", "title": "share", "scale": {"domain": [0, 1]}}
Row = dict[str, Any]
"""One row of a figure's data, by field."""
OURS = "this agent"
"""The name of the evaluated agent beside others."""
Tasks = Mapping[str, Sequence[Measurement]]
"""The measurements of one agent by task."""


def drawn(found: Mapping[str, Tasks]) -> list[Figure]:
    """Draw the figures that have numbers, with all agents in each.

    Args:
        found: the measurements by agent and task; the evaluated agent has no name.
    """
    by_size: list[Row] = []
    overall: list[Row] = []
    by_cell: list[Row] = []
    by_class: list[Row] = []
    curve: list[Row] = []
    for name, tasks in found.items():
        agent = {"agent": name or OURS}
        plan, decompose = tasks.get("plan", ()), tasks.get("decompose", ())
        by_size += _rows(plan, {"plan.success": ""}, ["size"], agent)
        overall += _rows(plan, OVERALL, [], agent)
        by_cell += _cells(plan, agent)
        by_class += _rows(decompose, RATES, ["added"], agent)
        curve += _curve(decompose, agent)
    names = [name or OURS for name in found]
    candidates = [
        ("Plan: success by size of the world", "1", by_size, _bars("size")),
        ("Plan: success and efficiency", "10", overall, _bars("rate")),
        ("Plan: success by size and distractors", "11", by_cell, _heat_map(names)),
        ("Decompose by subgoals added", "2", by_class, _grouped(names)),
        ("Decompose: assistance curve", "9", curve, _line()),
    ]

    figures = []
    for title, number, rows, spec in candidates:
        if rows:
            caption = (
                f"As figure {number} of Choukrani et al. (2025), for the agents of this study; "
                "an answer that cannot be used counts as 0."
            )
            whole = {"data": {"values": rows}, **spec}
            figures.append(Figure(title=title, caption=caption, spec=whole))
    return figures


def _rows(
    measurements: Sequence[Measurement],
    rates: Mapping[str, str],
    by: list[str],
    agent: Row,
) -> list[Row]:
    """Rows of the measurements of some names that have exactly these labels."""
    rows: list[Row] = []
    for name, rate in rates.items():
        for one in measurements:
            if one.name == name and [*one.where] == by and one.value is not None:
                labels = {label: str(value) for label, value in one.where.items()}
                named = {"rate": rate} if rate else {}
                rows.append({**agent, **labels, "value": one.value, **named})
    return rows


def _curve(measurements: Sequence[Measurement], agent: Row) -> list[Row]:
    """The share of missions fulfilled with at most so many added subgoals."""
    rows: list[Row] = []
    for one in measurements:
        most = one.name.removeprefix(WITHIN)
        if most != one.name and not one.where and one.value is not None:
            low, high = one.interval or (one.value, one.value)
            limits = {"low": low, "high": high}
            rows.append({**agent, "most": int(most), "value": one.value, **limits})
    return rows


def _line() -> dict[str, Any]:
    """A curve over its 95 % interval for each agent."""
    x = {"field": "most", "type": "quantitative", "title": "added subgoals, at most"}
    agent = {"color": _in_given_order("agent")}
    line = {"x": x, "y": {"field": "value", **SHARE}, **agent}
    band = {"x": x, "y": {"field": "low", **SHARE}, "y2": {"field": "high"}, **agent}
    layers = [
        {"mark": {"type": "area", "opacity": 0.25}, "encoding": band},
        {"mark": {"type": "line", "point": True}, "encoding": line},
    ]
    return {"layer": layers, "width": 240, "height": 160}


def _cells(measurements: Sequence[Measurement], agent: Row) -> list[Row]:
    rows: list[Row] = []
    for row in _rows(measurements, {"plan.success": ""}, ["level"], agent):
        _, n_distractors = PLAN_WORLDS.get(row["level"], (0, 0))
        for size, (_, choices) in SIZES.items():
            # Sizes have different numbers of distractors, so columns are counted: the
            # fewest of each size is the first.
            if f"-{size}-" in row["level"]:
                place = choices.index(n_distractors) + 1
                column = f"{place}. of {len(choices)}"
                cell = {"size": size, "distractors": column, "value": row["value"]}
                rows.append({**agent, **cell})
    return rows


def _bars(kind: str) -> dict[str, Any]:
    """Bars of a kind, one for each agent."""
    agent = _in_given_order("agent")
    x = {**_in_given_order(kind), "axis": {"labelAngle": 0}}
    y = {"field": "value", **SHARE}
    encoding = {"x": x, "y": y, "xOffset": agent, "color": agent}
    return {"mark": "bar", "encoding": encoding, "width": 240, "height": 160}


def _grouped(agents: Sequence[str]) -> dict[str, Any]:
    """Bars of all rates by the number of added subgoals, agents below one another."""
    bars = _bars("added")
    rate = _in_given_order("rate")
    # At the side, the legend would not fit on a telephone.
    color = {**rate, "legend": {"orient": "bottom", "columns": 2}}
    encoding = {"xOffset": rate, "color": color, "row": _below(agents)}
    bars["encoding"] |= encoding
    return {**bars, "height": 90}


def _heat_map(agents: Sequence[str]) -> dict[str, Any]:
    encoding = {
        "x": {**_in_given_order("distractors"), "axis": {"labelAngle": 0}},
        "y": _in_given_order("size"),
        "color": {"field": "value", **SHARE},
        "row": _below(agents),
    }
    return {"mark": "rect", "encoding": encoding, "width": 240, "height": 110}


def _below(agents: Sequence[str]) -> dict[str, Any]:
    """Agents below one another; Vega-Lite has facets in order of a list alone."""
    return {"field": "agent", "type": "nominal", "title": None, "sort": [*agents]}


def _in_given_order(field: str) -> dict[str, Any]:
    """An axis in the order of the rows; Vega-Lite would sort it by name."""
    return {"field": field, "type": "nominal", "sort": None}
