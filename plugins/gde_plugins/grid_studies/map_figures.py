"""The figure of decoded maps beside the true ones (Arghal et al. 2026, fig. 5)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import PAD, CellMap
from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.probe import ProbeReport
from gde.data.trajectory import Trajectory

COLOURS: Mapping[str, str] = {"empty": "#f4f4f4", "wall": "#444444", "agent": "#2a6fdb", "goal": "#2e9e4f"}
OTHERS = ("#b26f00", "#8e44ad", "#c0392b", "#7f8c8d")
TRUE, DECODED = "true map", "decoded map"


def map_figure(evidence: Evidence, probe: str, variant: str, position: str) -> Figure | None:
    """Draw the first held-out first turn of each size, true and decoded; None where the probe decoded no map."""
    reports = []
    for each in evidence.probe_reports:
        fit = each.fit
        if (fit.probe, fit.variant, fit.position, fit.control) == (probe, variant, position, "none"):
            reports.append(each)
    if not reports or reports[0].decoded.ndim != 4:
        return None

    report = reports[0]
    rows: list[dict[str, Any]] = []
    for trajectory, decoded in _shown(evidence, report):
        rows += _cells(trajectory, decoded, report.classes)
    kinds = [kind for kind in report.classes if kind != PAD]
    return Figure(
        title="Decoded maps",
        caption=(
            f"Of each size the first held-out grid in its first turn: the true map, and of each of its cells the"
            f" likeliest kind according to the probe ({variant}, layer {report.fit.layer}), padding not chosen."
            " What stands beside the agent and the goal in the tables says how much of it is right."
        ),
        spec=_panels(rows, kinds),
    )


def _shown(evidence: Evidence, report: ProbeReport) -> Iterator[tuple[Trajectory, NDArray[np.float32]]]:
    """One episode of each size, and its first turn as decoded."""
    row_of = {episode: row for row, (episode, turn) in enumerate(report.rows) if turn == 0}
    seen = set[object]()
    for trajectory in evidence.trajectories:
        key = str(trajectory.key)
        size = trajectory.labels.get("size")
        if key in row_of and trajectory.turns[0].state is not None and size not in seen:
            seen.add(size)
            yield trajectory, report.decoded[row_of[key]]


def _cells(one: Trajectory, decoded: NDArray[np.float32], classes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row of data for every cell of the true map and of the decoded one."""
    state = one.turns[0].state
    assert state is not None
    shown = CellMap.from_record(one.world, state)
    on_map = [code for code, kind in enumerate(classes) if kind != PAD]
    grid = f"{shown.height} x {shown.width}"
    for row, column in np.ndindex(shown.codes.shape):
        true = shown.kinds[shown.codes[row, column]]
        likeliest = on_map[int(decoded[row, column, on_map].argmax())]
        cell = {"grid": grid, "row": row, "column": column}
        yield {**cell, "which": TRUE, "kind": true}
        yield {**cell, "which": DECODED, "kind": classes[likeliest]}


def _panels(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> dict[str, Any]:
    """A row of panels a grid: the true map and the decoded one."""
    spare = iter(OTHERS)
    colours = [COLOURS.get(kind) or next(spare, OTHERS[-1]) for kind in kinds]
    place = {"type": "ordinal", "axis": None}
    cell = {
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.5},
        "width": {"step": 12},
        "height": {"step": 12},
        "encoding": {
            "x": {"field": "column", **place},
            "y": {"field": "row", **place},
            "color": {"field": "kind", "type": "nominal", "scale": {"domain": [*kinds], "range": colours}},
        },
    }
    facet = {
        "row": {"field": "grid", "type": "nominal", "title": None, "sort": None},
        "column": {"field": "which", "type": "nominal", "title": None, "sort": [TRUE, DECODED]},
    }
    apart = {"scale": {"x": "independent", "y": "independent"}}
    return {"data": {"values": [dict(row) for row in rows]}, "facet": facet, "resolve": apart, "spec": cell}
