"""The figures of the behavioural study (Arghal et al. 2026, figs. 4, 5 and 13)."""

from collections.abc import Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.result import Measurement, Result
from gde.reporting.drawing import BLUE, numbers
from gde.reporting.pages import figures

SHOWN = ("difficulty.accuracy", "difficulty.jsd")
METRICS: Mapping[str, str] = {"success": "goal success rate", "accuracy": "accuracy"}


def breakdown_figures(result: Result) -> Sequence[Figure]:
    """Draw accuracy and divergence by distance, size and density (figure 4 and appendix
    C).
    """
    shown = [one for one in result.measurements if one.name in SHOWN]
    return figures(shown, result.meanings)


def transform_figure(pairs: Sequence[Measurement]) -> Figure | None:
    """Draw the difference that each transform makes (figure 13); None where nothing was
    paired.
    """
    titles = {f"pairs.{metric}.difference": title for metric, title in METRICS.items()}
    rows = []
    for one in pairs:
        is_known = one.value is not None
        if is_known and one.name in titles and "transform" in one.where:
            row = {
                "metric": titles[one.name],
                "transform": one.where["transform"],
                **numbers(one),
            }
            rows.append(row)
    if not rows:
        return None
    return Figure(
        title="What a transform changes",
        caption="Transformed grid minus its base grid, mean over base grids with 95 % intervals; 0 is no change.",
        spec=_whiskers(rows, "transform", "difference in share"),
    )


def key_figure(worlds: Mapping[str, Sequence[Measurement]]) -> Figure | None:
    """Draw success and accuracy with the useless key and without; None where neither
    was measured.
    """
    rows = []
    for name, measurements in worlds.items():
        for one in measurements:
            # Of the artefact and of nothing else, so no breakdown within it.
            is_whole = [*one.where] == ["artefact"]
            if is_whole and one.name in METRICS and one.value is not None:
                artefact = str(one.where["artefact"])
                if artefact == "none":
                    artefact = "no key"
                row = {
                    "metric": METRICS[one.name],
                    "world": f"{name}, {artefact}",
                    **numbers(one),
                }
                rows.append(row)
    if not rows:
        return None
    return Figure(
        title="With a useless key and without",
        caption="Worlds that differ in the key alone; means with 95 % intervals over worlds.",
        spec=_whiskers(rows, "world", "share"),
    )


def _whiskers(
    rows: Sequence[Mapping[str, Any]], label: str, title: str
) -> dict[str, Any]:
    """Dots with intervals, one panel a metric."""
    # A sort of null keeps the order of the rows.
    y = {"field": label, "type": "nominal", "sort": None, "title": None}
    x = {"type": "quantitative", "title": title}
    interval = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
    }
    dot = {
        "mark": {"type": "point", "filled": True, "opacity": 1},
        "encoding": {"x": {**x, "field": "value"}},
    }
    panel = {
        "encoding": {"y": y, "color": {"value": BLUE}},
        "layer": [interval, dot],
        "width": 240,
        "height": {"step": 26},
    }
    return {
        "data": {"values": [dict(row) for row in rows]},
        "facet": {"field": "metric", "type": "nominal", "title": None},
        "columns": 2,
        "spec": panel,
    }
