"""A curve of how well a probe reads each layer, beside its best control there."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gde.data.figure import Figure
from gde.data.probe import Fit
from gde.data.result import Measurement, Result
from gde.reporting.drawing import BLUE, numbers
from gde.reporting.findings import Probed, beside
from gde_plugins.pages.figures.curves import curve

GREY = "#8a929a"
SIZE = {"width": 300, "height": 130}
DECODED = "decoded"
CONTROL = "best control"


def layer_curve(probe: Probed, result: Result) -> Figure | None:
    """The first headline of a probe by layer; None for a single layer."""
    if not probe.numbers:
        return None
    headline = probe.numbers[0]
    measure = headline.measure
    fits = fits_of(result, measure.name)

    # The fits that differ from the main one in nothing but the layer.
    own = []
    for fit in fits:
        if replace(fit, layer=probe.fit.layer) == probe.fit:
            own.append(fit)
    if len(own) < 2:
        return None
    own.sort(key=lambda fit: fit.layer)

    rows: list[dict[str, Any]] = []
    for fit in own:
        rows.append({"layer": fit.layer, "of": DECODED, **numbers(fits[fit])})
        controls = {}
        for other, one in fits.items():
            if other != fit and replace(other, control="none") == fit:
                controls[other] = [one]
        compared = beside(measure, fits[fit], controls)
        if compared.rival is not None:
            rows.append({"layer": fit.layer, "of": CONTROL, **numbers(compared.rival)})

    x = {
        "field": "layer",
        "type": "ordinal",
        "title": "layer",
        "axis": {"labelAngle": 0},
    }
    color = {
        "field": "of",
        "type": "nominal",
        "title": None,
        "scale": {"domain": [DECODED, CONTROL], "range": [BLUE, GREY]},
        "legend": {"orient": "top"},
    }
    line = {"type": "line", "point": True}
    spec: dict[str, Any] = {
        "data": {"values": rows},
        "encoding": {"x": x, "color": color},
        "layer": curve(headline.ours.unit, line, "rule"),
        **SIZE,
    }
    return Figure(
        title=f"{measure.title} by layer, {probe.fit.probe}",
        caption="Bars are 95 % intervals.",
        spec=spec,
    )


def fits_of(result: Result, name: str) -> Mapping[Fit, Measurement]:
    """The number of this name of each fit, over all held-out worlds."""
    found: dict[Fit, Measurement] = {}
    for one in result.measurements:
        if one.name != name or one.value is None:
            continue
        fit = Fit.of(one)
        # More labels than those of the fit mean a number of a part of the worlds.
        if fit is not None and one.where.keys() == fit.where.keys():
            found[fit] = one
    return found
