"""The figures of Choukrani et al. (2025) that are drawn from a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.result import Measurement
from gde_plugins.babyai.worlds.levels import PLAN_WORLDS, SIZES

RATES = {
    "decompose.comprehension": "comprehension",
    "decompose.precision": "precision",
    "decompose.aci": "assistance curve integral",
}
OVERALL = {"plan.success": "success", "plan.efficiency_successful": "efficiency"}
SHARE = {"type": "quantitative", "scale": {"domain": [0, 1]}}


def drawn(plan: Sequence[Measurement], decompose: Sequence[Measurement]) -> list[Figure]:
    """Those for which there are numbers."""
    found = (
        ("Plan: success by size of the world", "As figure 1", [*_by(plan, "plan.success", "size")], _bars("size")),
        ("Plan: success and efficiency", "As figure 10", [*_overall(plan)], _bars("rate")),
        ("Plan: success by size and distractors", "As figure 11", [*_cells(plan)], _heat_map()),
        ("Decompose by subgoals added", "As figure 2", [*_rates(decompose)], _grouped()),
    )
    return [_figure(*each) for each in found if each[2]]


def _figure(title: str, which: str, rows: list[dict[str, Any]], spec: Mapping[str, Any]) -> Figure:
    caption = (
        f"{which} of Choukrani et al. (2025), for the agent of this run; an answer that cannot be used counts as 0."
    )
    return Figure(title=title, caption=caption, spec={"data": {"values": rows}, **spec})


def _by(measurements: Sequence[Measurement], name: str, kind: str) -> Iterator[dict[str, Any]]:
    for one in measurements:
        if one.name == name and [*one.where] == [kind] and one.value is not None:
            yield {kind: str(one.where[kind]), "value": one.value}


def _overall(measurements: Sequence[Measurement]) -> Iterator[dict[str, Any]]:
    for one in measurements:
        if one.name in OVERALL and not one.where and one.value is not None:
            yield {"rate": OVERALL[one.name], "value": one.value}


def _cells(measurements: Sequence[Measurement]) -> Iterator[dict[str, Any]]:
    for row in _by(measurements, "plan.success", "level"):
        if row["level"] in PLAN_WORLDS:
            size = next(size for size in SIZES if f"-{size}-" in row["level"])
            numbers = SIZES[size][1]
            place = numbers.index(PLAN_WORLDS[row["level"]][1]) + 1
            yield {"size": size, "distractors": f"{place}. of {len(numbers)}", "value": row["value"]}


def _rates(measurements: Sequence[Measurement]) -> Iterator[dict[str, Any]]:
    for name, title in RATES.items():
        yield from ({**row, "rate": title} for row in _by(measurements, name, "added"))


def _bars(kind: str) -> dict[str, Any]:
    encoding = {"x": {"field": kind, "type": "nominal", "sort": None}, "y": {"field": "value", **SHARE}}
    return {"mark": "bar", "encoding": encoding, "width": 240, "height": 160}


def _grouped() -> dict[str, Any]:
    bars = _bars("added")
    rate = {"field": "rate", "type": "nominal", "sort": None}
    return {**bars, "encoding": {**bars["encoding"], "xOffset": rate, "color": rate}}


def _heat_map() -> dict[str, Any]:
    encoding = {
        "x": {"field": "distractors", "type": "nominal", "sort": None},
        "y": {"field": "size", "type": "nominal", "sort": None},
        "color": {"field": "value", **SHARE},
    }
    return {"mark": "rect", "encoding": encoding, "width": 240, "height": 160}
