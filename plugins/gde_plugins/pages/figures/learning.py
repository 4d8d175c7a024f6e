"""Learning curves: what a probe and its controls read after ever more worlds."""

from typing import Any

from gde.data.figure import Figure
from gde.data.result import Result
from gde.reporting.curves import MODEL, Curve, curves
from gde.reporting.drawing import BLUE, numbers
from gde.reporting.findings import Probed
from gde_plugins.pages.figures.curves import curve

SIZE = {"width": 190, "height": 140}
LEAST = -1
"""The lowest end of an axis: an explained variance may be far below zero."""
COLORS = {
    MODEL: BLUE,
    "random weights": "#d1782f",
    "shuffled labels": "#8a929a",
    "no activations": "#6a9a4f",
    "prompt tokens": "#8a63b8",
    "condition only": "#b9a33c",
}


def learning_curves(probe: Probed, result: Result) -> Figure | None:
    """The scores of a probe's main fit and of its controls by fitted worlds; None
    without such numbers.
    """
    shown = curves(probe, result)
    if not shown:
        return None
    spec: dict[str, Any] = {"vconcat": [_panel(one) for one in shown]}
    return Figure(
        title=f"Learning curves, {probe.fit.probe} ({probe.fit.variant})",
        caption="Scores in the held-out worlds after fits to ever more worlds. Bands are 95 % intervals.",
        spec=spec,
    )


def _panel(drawn: Curve) -> dict[str, Any]:
    rows = [
        {"worlds": one.where["worlds"], "of": of, **numbers(one)}
        for of, line in drawn.lines.items()
        for one in line
    ]
    domain = [name for name in COLORS if name in drawn.lines]
    lows = [row["value"] for row in rows]
    sizes = sorted({row["worlds"] for row in rows})

    x = {
        "field": "worlds",
        "type": "quantitative",
        "title": "fitted worlds",
        "scale": {"type": "log", "base": 2},
        "axis": {"values": sizes},
    }
    unit = drawn.measure.unit
    scale = {"domainMin": max(LEAST, min(0, *lows))}
    if unit == "share":
        scale["domainMax"] = 1
    color = {
        "field": "of",
        "type": "nominal",
        "title": None,
        "scale": {"domain": domain, "range": [COLORS[name] for name in domain]},
        "legend": {"orient": "bottom", "columns": 2, "symbolOpacity": 1},
    }
    line = {"type": "line", "point": True, "clip": True}
    band = {"type": "area", "opacity": 0.15, "clip": True}
    return {
        "title": {"text": drawn.measure.title, "fontSize": 11},
        "data": {"values": rows},
        "encoding": {"x": x, "color": color},
        "layer": curve(unit, line, band, scale=scale),
        **SIZE,
    }
