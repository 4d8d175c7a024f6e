"""The figure of a profile: every share with its interval, and the anchors' points."""

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

from gde.data.figure import Figure
from gde.parts.reproduction import Comparison
from gde.reporting.figures.drawing import BLUE, numbers

ORDER = ("random", "noisy", "optimal", "by chance")
SHAPES = ("diamond", "cross", "triangle", "square")
MODELS = ("circle", "triangle-down", "triangle-right", "triangle-left")


def figure(rows: Sequence[Comparison], models: Sequence[str]) -> Figure:
    """Draw the shares in the order of the tables."""
    own: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for row in rows:
        if row.ours.value is None or row.ours.unit != "share":
            continue
        label = f"{row.table}: {row.quantity}"
        own.append({"row": label, **numbers(row.ours)})
        for name, one in row.others.items():
            if one.value is not None:
                others.append({"row": label, "agent": name, "value": one.value})

    # Layers with data of their own would each begin an order of their own.
    order = [row["row"] for row in own]
    axis = {"labelLimit": 320}
    y = {"field": "row", "type": "nominal", "sort": order, "title": None, "axis": axis}
    x = {"field": "value", "type": "quantitative", "title": "share"}
    of_models = islice(cycle(MODELS), len(models))
    scale = {"domain": [*ORDER, *models], "range": [*SHAPES, *of_models]}
    shape = {"field": "agent", "type": "nominal", "scale": scale, "title": "beside it"}
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
                "mark": {"type": "point", "color": "#777", "size": 45},
                "encoding": {"y": y, "x": x, "shape": shape},
            },
        ],
    }
    return Figure(
        title="One agent in all parts",
        caption="Shares with 95 % intervals. Grey: other agents and models in the "
        "same worlds, and what random actions would give.",
        spec=spec,
    )
