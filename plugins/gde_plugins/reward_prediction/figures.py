"""Figures of the study: a leaderboard for each domain."""

from collections.abc import Iterator, Sequence

from gde.data.figure import Figure
from gde.data.json import Json
from gde.numerics.leaderboard import Standing
from gde_plugins.reward_prediction.domains import DOMAINS


def leaderboards(board: Sequence[Standing]) -> Iterator[Figure]:
    """A figure for each domain: distances with intervals, baselines in grey."""
    for domain in DOMAINS.values():
        rows: list[Json] = []
        for one in board:
            if one.condition == domain.name:
                low, high = one.interval or (one.value, one.value)
                row: dict[str, Json] = {
                    "reward model": one.contender,
                    "EPIC distance": one.value,
                    "low": low,
                    "high": high,
                    "kind": "reads nothing" if one.baseline else "reward model",
                }
                rows.append(row)
        if rows:
            yield Figure(
                title=f"EPIC distance, {domain.title}",
                caption="Mean over tasks with 95 % intervals; less is better.",
                spec=_distances(rows),
            )


def _distances(rows: list[Json]) -> dict[str, Json]:
    order: Json = {"field": "EPIC distance", "order": "ascending"}
    y: Json = {"field": "reward model", "type": "nominal", "sort": order}
    return {
        "data": {"values": rows},
        "encoding": {"y": y},
        "layer": [
            {
                "mark": "rule",
                "encoding": {
                    "x": {"field": "low", "type": "quantitative"},
                    "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60},
                "encoding": {
                    "x": {"field": "EPIC distance", "type": "quantitative"},
                    "color": {"field": "kind", "type": "nominal"},
                },
            },
        ],
    }
