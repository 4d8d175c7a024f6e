"""The figure of a profile: every share with its interval, and the anchors' points."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from gde.data.figure import Figure
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde.reporting.drawing import BLUE, TOLD, numbers
from gde.reporting.wording import quantity
from gde_plugins.profile.published import COLUMNS

AS_PUBLISHED = "published model"
DRAWN = ("share", "distance")
"""Units from 0 to 1; EPIC is such a distance."""
SHAPES = {
    "random": "diamond",
    "noisy": "cross",
    "optimal": "triangle",
    "expert": "wedge",
    "by chance": "square",
    "random weights": "M0,-1L0,1",
    "shuffled labels": "M0,-1L0,1M-1,0L1,0",
    "reads nothing": "arrow",
    "control": "stroke",
    "whole prompt": "M0,-1L0,1M-1,-.5L1,.5M-1,.5L1,-.5",
    "through the reasoning": "M-1,-1L0,1L1,-1",
    AS_PUBLISHED: "M-1,-1L1,1M-1,1L1,-1",
}
"""Column to the shape of its points; the paths are a bar, a plus, a star, a V and an x."""
MODELS = ("circle", "triangle-down", "triangle-right", "triangle-left")


def figure(rows: Sequence[Comparison], models: Sequence[str]) -> Figure:
    """Draw the shares in the order of the tables.

    What the agent could not be asked has the points of others alone.
    """
    order: list[str] = []
    own: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for row in rows:
        label = f"{row.table}: {row.quantity}"
        if _is_drawn(row.ours):
            own.append({"row": label, **numbers(row.ours)})

        drawn = {name: one for name, one in row.others.items() if _is_drawn(one)}
        for name, one in drawn.items():
            agent = AS_PUBLISHED if name in COLUMNS else name
            assert one.value is not None
            told = f"{name}: {quantity(one.value, one.unit)}"
            point = {"row": label, "agent": agent, "value": one.value, "told": told}
            others.append(point)
        if drawn or _is_drawn(row.ours):
            order.append(label)

    # Layers with data of their own would each begin an order of their own.
    axis = {"labelLimit": 320}
    y = {
        "field": "row",
        "type": "nominal",
        "scale": {"domain": order},
        "title": None,
        "axis": axis,
    }
    x = {"field": "value", "type": "quantitative", "title": "share, or distance"}
    shapes = {**SHAPES, **dict(zip(models, cycle(MODELS), strict=False))}
    beside = {one["agent"] for one in others}
    shown = {name: shape for name, shape in shapes.items() if name in beside}
    scale = {"domain": [*shown], "range": [*shown.values()]}
    legend = {"orient": "bottom", "columns": 4, "title": "beside it"}
    shape = {"field": "agent", "type": "nominal", "scale": scale, "legend": legend}
    points = {"type": "point", "filled": True, "color": BLUE, "size": 60}
    whiskers = {"type": "rule", "color": BLUE}
    spec: dict[str, Any] = {
        "width": 420,
        "data": {"values": own},
        "layer": [
            {
                "mark": whiskers,
                "encoding": {
                    "y": y,
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                },
            },
            {"mark": points, "encoding": {"y": y, "x": x}},
            {
                "data": {"values": others},
                "mark": {
                    "type": "point",
                    "color": "#777",
                    "size": 45,
                    "ariaRoleDescription": TOLD,
                },
                "encoding": {
                    "y": y,
                    "x": x,
                    "shape": shape,
                    "description": {"field": "told"},
                },
            },
        ],
    }
    return Figure(
        title="One agent in all parts",
        caption="Shares and EPIC distances with 95 % intervals. Grey: other agents and "
        "models in the same worlds, what random actions would give, controls, causal "
        "tests of the whole prompt and through the reasoning, and models as published, "
        "in the worlds of their publications.",
        spec=spec,
    )


def _is_drawn(one: Measurement) -> bool:
    return one.value is not None and one.unit in DRAWN
