"""Draws the causal effects of a run: `python docs/effects.py RUN FILE.svg`.

The run is that of docs/nano.md, "Causal tests". The figure shows the effects on the
agent's place by layer, in total and split by the reasoning, beside their controls.
"""

import sys
from pathlib import Path
from typing import Any

from gde import Figure
from gde.reporting.drawing import BLUE, numbers, svg_file
from gde.store.folder import RunFolder

CHANGES = ("patching agent", "steering agent", "steering agent by means")
CONTROLS = {"none": "change", "another grid": "control"}
CONTROLS["another pair's direction"] = "control"
EFFECTS = {
    "causes.effect": "total",
    "causes.direct": "direct, reasoning fixed",
    "causes.indirect": "indirect, through the reasoning",
}
REASON = "the same in all answers"
"""The end of the reason why a last layer has no effect."""
NOTE = ["reaches one token,", REASON]
DOSE = 1.0
GREY = "#8a929a"


def main(run: Path, file: Path) -> None:
    """Write the figure of a run."""
    file.write_text(svg_file(figure(run)), encoding="utf-8")


def figure(run: Path) -> Figure:
    """One panel for each change and kind of effect."""
    rows: list[dict[str, Any]] = []
    for one in RunFolder.open(run).read_result().measurements:
        where = one.where
        is_drawn = where.get("change") in CHANGES and where.get("dose") == DOSE
        if one.name in EFFECTS and is_drawn and where["control"] in CONTROLS:
            rows.append(
                {
                    "change": where["change"],
                    "layer": where["layer"],
                    "of": CONTROLS[str(where["control"])],
                    "effect": EFFECTS[one.name],
                    "impossible": one.reason.endswith(REASON),
                    **numbers(one),
                }
            )

    y = {"field": "value", "type": "quantitative", "title": None}
    whisker = {
        "mark": "rule",
        "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    points = {"mark": {"type": "line", "point": True}, "encoding": {"y": y}}
    # The reason stands in the place of the numbers, once for change and control.
    note = {
        "transform": [{"filter": "datum.impossible && datum.of == 'change'"}],
        "mark": {"type": "text", "angle": 270, "fontSize": 8, "text": NOTE},
        "encoding": {"y": {"value": 55}, "color": {"value": GREY}},
    }
    colors = {"domain": ["change", "control"], "range": [BLUE, GREY]}
    panel: dict[str, Any] = {
        "layer": [whisker, points, note],
        "encoding": {
            "x": {"field": "layer", "type": "ordinal", "axis": {"labelAngle": 0}},
            "xOffset": {"field": "of", "type": "nominal"},
            "color": {
                "field": "of",
                "type": "nominal",
                "title": None,
                "scale": colors,
                "legend": {"orient": "top"},
            },
        },
        "width": 190,
        "height": 110,
    }
    spec: dict[str, Any] = {
        "data": {"values": rows},
        "facet": {
            "row": {"field": "change", "sort": [*CHANGES], "title": None},
            "column": {"field": "effect", "sort": [*EFFECTS.values()], "title": None},
        },
        "spec": panel,
    }
    return Figure(
        title="Effects by layer",
        caption="Bars are 95 % intervals.",
        spec=spec,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
