"""Curves: a line through values, and their intervals."""

from typing import Any

from gde.reporting.drawing import unit_title


def curve(unit: str, line: Any, interval: Any, **axis: Any) -> list[dict[str, Any]]:
    """The layers of a curve whose rows have the fields of `gde.reporting.drawing.numbers`.

    Args:
        unit: of the values.
        line: the mark of the values.
        interval: the mark of the intervals, which lies beneath.
        axis: what else Vega-Lite shall know of the vertical axis.
    """
    y = {"field": "value", "type": "quantitative", "title": unit_title(unit), **axis}
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    return [
        {"mark": interval, "encoding": ends},
        {"mark": line, "encoding": {"y": y}},
    ]
