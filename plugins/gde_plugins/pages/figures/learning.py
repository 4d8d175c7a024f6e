"""Learning curves: what a probe and its controls read after ever more worlds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gde.data.figure import Figure
from gde.data.measure import Measure
from gde.data.probe import Fit
from gde.data.result import Measurement, Result
from gde.reporting.drawing import BLUE, numbers
from gde.reporting.findings import Probed
from gde.reporting.wording import CONTROLS
from gde.stages.learning import CURVE
from gde_plugins.pages.figures.curves import curve

SIZE = {"width": 190, "height": 140}
SHOWN = 2
"""Panels, at most."""
LEAST = -1
"""The lowest end of an axis: an explained variance may be far below zero."""
MODEL = "model"
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
    points = _points(probe.fit, result)
    names = list(dict.fromkeys(one.name for _, one in points))
    shown = _shown(names, result)
    if not shown:
        return None

    panels = []
    for name in shown:
        of_panel = [(fit, one) for fit, one in points if one.name == name]
        panels.append(_panel(_scored(name, result).title, of_panel))
    spec: dict[str, Any] = {"vconcat": panels}
    return Figure(
        title=f"Learning curves, {probe.fit.probe} ({probe.fit.variant})",
        caption="Scores in the held-out worlds after fits to ever more worlds. Bands are 95 % intervals.",
        spec=spec,
    )


def _points(main: Fit, result: Result) -> list[tuple[Fit, Measurement]]:
    """The points of the curves of a fit and of its controls."""
    prefix = f"{main.probe}.{CURVE}."
    points = []
    for one in result.measurements:
        is_point = one.name.startswith(prefix) and "worlds" in one.where
        if is_point and one.value is not None:
            fit = Fit.of(one)
            if fit is not None and replace(fit, control="none") == main:
                points.append((fit, one))
    return points


def _shown(names: Sequence[str], result: Result) -> Sequence[str]:
    """The curves that are shown: shares where there are any, else the first ones."""
    shares = [name for name in names if _scored(name, result).unit == "share"]
    return (shares or names)[:SHOWN]


def _scored(name: str, result: Result) -> Measure:
    """The meaning of the score that a curve is of."""
    scored = name.replace(f".{CURVE}.", ".", 1)
    return result.meanings[scored]


def _panel(title: str, points: Sequence[tuple[Fit, Measurement]]) -> dict[str, Any]:
    rows = []
    for fit, one in points:
        of = MODEL if fit.control == "none" else CONTROLS[fit.control][0]
        rows.append({"worlds": one.where["worlds"], "of": of, **numbers(one)})
    drawn = {row["of"] for row in rows}
    domain = [name for name in COLORS if name in drawn]
    lows = [row["value"] for row in rows]
    sizes = sorted({row["worlds"] for row in rows})

    x = {
        "field": "worlds",
        "type": "quantitative",
        "title": "fitted worlds",
        "scale": {"type": "log", "base": 2},
        "axis": {"values": sizes},
    }
    unit = points[0][1].unit
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
        "title": {"text": title, "fontSize": 11},
        "data": {"values": rows},
        "encoding": {"x": x, "color": color},
        "layer": curve(unit, line, band, scale=scale),
        **SIZE,
    }
