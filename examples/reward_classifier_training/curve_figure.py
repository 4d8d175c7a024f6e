"""The figure of a learning curve: held-out accuracy by pairs to train on."""

from collections.abc import Sequence

from gde.data.figure import Figure
from gde.data.json import Json
from gde.reporting.drawing import BLUE
from reward_classifier_training.held_out import HeldOut


def curve_figure(points: Sequence[tuple[int, Sequence[HeldOut]]]) -> Figure:
    """A panel for each domain, beside the best baseline that reads nothing.

    Args:
        points: numbers of pairs, each with its held-out table.
    """
    rows: list[Json] = []
    for n_pairs, table in points:
        for one in table:
            low, high = one.interval or (None, None)
            row: dict[str, Json] = {
                "domain": one.domain,
                "pairs": n_pairs,
                "accuracy": one.accuracy,
                "low": low,
                "high": high,
                "best": one.best,
            }
            rows.append(row)
    return Figure(
        title="Learning curve",
        caption="Share of held-out pairs ranked correctly, with 95 % intervals over tasks; "
        "dashed: the best baseline that reads nothing.",
        spec=_curves(rows),
    )


def _curves(rows: list[Json]) -> dict[str, Json]:
    x: Json = {
        "field": "pairs",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
    }
    share: Json = {"zero": False}
    y: Json = {"field": "accuracy", "type": "quantitative", "scale": share}
    band: Json = {
        "mark": {"type": "rule", "color": BLUE},
        "encoding": {
            "x": x,
            "y": {"field": "low", "type": "quantitative", "title": "accuracy"},
            "y2": {"field": "high"},
        },
    }
    line: Json = {
        "mark": {"type": "line", "point": True, "color": BLUE},
        "encoding": {"x": x, "y": y},
    }
    best: Json = {
        "mark": {"type": "line", "color": "#777", "strokeDash": [4, 3]},
        "encoding": {"x": x, "y": {"field": "best", "type": "quantitative"}},
    }
    return {
        "data": {"values": rows},
        "facet": {"column": {"field": "domain", "type": "nominal", "title": None}},
        "spec": {"width": 220, "height": 180, "layer": [best, band, line]},
    }
