"""The forest plot as a figure, for papers and read-mes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.plan import Plan
from gde.data.result import Measurement, Result
from gde.files import write_whole
from gde.reporting.drawing import BLUE, svg_file
from gde.reporting.finding import opening
from gde.reporting.forest import Group, forest

NAME = "figure.svg"
WORSE = "#b3261e"
GREY = "#7a838b"
WIDTH = 320
ROW = 22
"""Height of a row."""
COLUMNS = {"shown": 12, "control": 110, "verdict": 280}
"""Texts right of the axis, by their distance from it."""


class FigureReporter:
    """Writes the forest plot of a run. Implements `gde.parts.reporter.Reporter`."""

    def render(
        self,
        plan: Plan,  # noqa: ARG002  # the protocol's
        result: Result,
        evidence: Evidence,  # noqa: ARG002
        folder: Path,
    ) -> Path:
        write_whole(folder / NAME, svg_file(forest_figure(result)))
        return folder / NAME


def forest_figure(result: Result) -> Figure:
    """The headlines of a run, each beside its strongest control."""
    told = opening(result)
    panels = [_panel(group) for group in forest(result)]
    spec: dict[str, Any] = {
        "vconcat": panels or [{"mark": "text", "data": {"values": []}}],
        "spacing": 14,
    }
    return Figure(title=told.subject, caption=told.finding, spec=spec)


def _panel(group: Group) -> dict[str, Any]:
    rows = []
    for row in group.rows:
        beside = row.beside
        shown = f"{row.value} {row.interval}"
        verdict = f"{row.mark} {row.word}"
        texts = {"shown": shown, "control": row.control, "verdict": verdict}
        color = WORSE if row.word == "worse" else BLUE
        shape = "square" if row.word == "worse" else "circle"
        ours = _numbers(beside.ours, "")
        rival = _numbers(beside.rival, "control_") if beside.rival else {}
        rows.append(
            {
                "title": row.title,
                "color": color,
                "shape": shape,
                **texts,
                **ours,
                **rival,
            }
        )

    places = [group.low, group.high]
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": {"domain": places, "nice": False},
        "title": None,
    }
    if group.unit == "share":
        x["axis"] = {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}
    control: dict[str, Json] = {"color": GREY, "opacity": 1}
    layers = [
        _bar(x, "control_", {"strokeWidth": 1.5, **control}),
        _point(x, "control_", {"filled": False, "size": 55, **control}),
        _bar(x, "", {"strokeWidth": 3}, color=True),
        _point(x, "", {"filled": True, "size": 75, "opacity": 1}, color=True),
    ]
    for name, distance in COLUMNS.items():
        mark = {"type": "text", "align": "left", "color": GREY, "fontSize": 11}
        encoding = {"x": {"value": WIDTH + distance}, "text": {"field": name}}
        layers.append({"mark": mark, "encoding": encoding})
    y = {
        "field": "title",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"ticks": False, "domain": False},
    }
    return {
        "title": {"text": group.title, "anchor": "start", "fontSize": 12},
        "data": {"values": rows},
        "width": WIDTH,
        "height": {"step": ROW},
        "encoding": {"y": y},
        "layer": layers,
    }


def _numbers(one: Measurement, prefix: str) -> Mapping[str, Json]:
    low, high = one.interval or (one.value, one.value)
    return {f"{prefix}value": one.value, f"{prefix}low": low, f"{prefix}high": high}


def _bar(
    x: Mapping[str, Any], of: str, mark: Mapping[str, Json], color: bool = False
) -> dict[str, Any]:
    encoding: dict[str, Any] = {"x": {**x, "field": f"{of}low"}}
    encoding["x2"] = {"field": f"{of}high"}
    return {"mark": {"type": "rule", **mark}, "encoding": _colored(encoding, color)}


def _point(
    x: Mapping[str, Any], of: str, mark: Mapping[str, Json], color: bool = False
) -> dict[str, Any]:
    encoding = _colored({"x": {**x, "field": f"{of}value"}}, color)
    if color:
        encoding["shape"] = {"field": "shape", "type": "nominal", "scale": None}
    return {"mark": {"type": "point", **mark}, "encoding": encoding}


def _colored(encoding: dict[str, Any], color: bool) -> dict[str, Any]:
    if color:
        encoding["color"] = {"field": "color", "type": "nominal", "scale": None}
    return encoding
