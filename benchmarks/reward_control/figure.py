"""The figure of the control study: EPIC distance against regret."""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.figure import Figure
from gde.data.json import Json


@dataclass(frozen=True, kw_only=True)
class Point:
    """A reward model in one domain, under one kind of control."""

    reward: str
    domain: str
    control: str
    epic: float
    regret: float
    interval: tuple[float, float]
    """95 %, of the regret."""
    kind: str
    """Whether it reads nothing, reads, or is the truth."""


def figure(points: Sequence[Point]) -> Figure:
    """Every reward model is a point, in a panel for each domain and control."""
    rows: list[Json] = []
    for one in points:
        low, high = one.interval
        row: dict[str, Json] = {
            "reward model": one.reward,
            "domain": one.domain,
            "control": one.control,
            "EPIC distance": one.epic,
            "regret": one.regret,
            "low": low,
            "high": high,
            "kind": one.kind,
        }
        rows.append(row)
    return Figure(
        title="EPIC distance against regret",
        caption="Every point is a reward model, with the 95 % interval of its regret over worlds.",
        spec=_scatter(rows),
    )


def _scatter(rows: list[Json]) -> dict[str, Json]:
    kind: Json = {"field": "kind", "type": "nominal"}
    x: Json = {
        "field": "EPIC distance",
        "type": "quantitative",
        "scale": {"zero": False},
    }
    y: Json = {"field": "regret", "type": "quantitative"}
    rule: Json = {
        "mark": "rule",
        "encoding": {
            "x": x,
            "y": {"field": "low", "type": "quantitative", "title": "regret"},
            "y2": {"field": "high"},
            "color": kind,
        },
    }
    point: Json = {
        "mark": {"type": "point", "filled": True, "size": 60, "tooltip": True},
        "encoding": {"x": x, "y": y, "color": kind},
    }
    name: Json = {
        "mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 9},
        "encoding": {
            "x": x,
            "y": y,
            "text": {"field": "reward model", "type": "nominal"},
        },
    }
    return {
        "data": {"values": rows},
        "facet": {
            "column": {"field": "control", "type": "nominal", "sort": None},
            "row": {"field": "domain", "type": "nominal"},
        },
        "spec": {"width": 260, "height": 220, "layer": [rule, point, name]},
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
    }
