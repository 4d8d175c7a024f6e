"""Figures of the study: a leaderboard for each domain, and rewards step by step."""

from collections.abc import Iterator, Sequence

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.grouping import grouped
from gde.data.json import Json
from gde.numerics.leaderboard import Standing
from gde_plugins.reward_prediction.domains import DOMAINS

CURVES = 2
"""Tasks of each domain whose rewards are drawn."""


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


def curves(evidence: Evidence, shown: Sequence[str]) -> Iterator[Figure]:
    """The true reward and those of some reward models, in the first tasks of a domain."""
    tasks = grouped(evidence.trajectories, lambda one: one.world.cluster)
    traces = {(one.model, one.episode): one for one in evidence.reward_traces}

    n_drawn = dict.fromkeys(DOMAINS, 0)
    for task, episodes in tasks.items():
        domain = str(episodes[0].world.facts.get("domain"))
        if len(episodes) < 2 or n_drawn.get(domain, CURVES) >= CURVES:
            continue
        n_drawn[domain] += 1
        rows: list[Json] = []
        for one in episodes:
            side = str(one.world.labels.get("side"))
            for turn in one.turns:
                fact = turn.state.facts.get("reward") if turn.state else None
                rows.append(_point(side, "truth", turn.index, fact))
            for name in shown:
                trace = traces.get((name, str(one.key)))
                for index, value in enumerate(trace.values if trace else ()):
                    rows.append(_point(side, name, index, float(value)))
        yield Figure(
            title=f"Rewards of {task}",
            caption="Step by step, of the success and the failure at one task.",
            spec=_steps(rows),
        )


def _point(side: str, whose: str, step: int, value: Json) -> Json:
    return {"side": side, "reward of": whose, "step": step, "reward": value}


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


def _steps(rows: list[Json]) -> dict[str, Json]:
    return {
        "data": {"values": rows},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "step", "type": "quantitative"},
            "y": {"field": "reward", "type": "quantitative"},
            "color": {"field": "reward of", "type": "nominal"},
            "column": {"field": "side", "type": "nominal"},
        },
    }
