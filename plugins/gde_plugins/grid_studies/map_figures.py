"""Pictures of decoded maps beside the true ones (Arghal et al. 2026, fig. 5)."""

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


def map_figure(evidence: Evidence, probe: str, variant: str, mark: str) -> Figure | None:
    """The first held-out first turn of each size, as it is and as a probe decodes it; None where it decoded none."""
    reports = [
        one
        for one in evidence.probe_reports
        if (one.arm.probe, one.arm.variant, one.arm.mark, one.arm.control) == (probe, variant, mark, "none")
    ]
    if not reports or reports[0].decoded.ndim != 4:
        return None
    report = reports[0]
    rows = [cell for one, decoded in _shown(evidence, report) for cell in _cells(one, decoded, report.classes)]
    kinds = [kind for kind in report.classes if kind != PAD]
    return Figure(
        title="Decoded maps",
        caption=(
            f"Of each size the first held-out grid in its first turn: the true map, and of each of its cells the"
            f" likeliest kind according to the probe ({variant}, layer {report.arm.layer}), padding not chosen."
            " What stands beside the agent and the goal in the tables says how much of it is right."
        ),
        spec=_panels(rows, kinds),
    )


def _shown(evidence: Evidence, report: ProbeReport) -> Iterator[tuple[Trajectory, NDArray[np.float32]]]:
    """One episode of each size, and its first turn as decoded."""
    first = {episode: place for place, (episode, turn) in enumerate(report.rows) if turn == 0}
    sizes = set[object]()
    for one in evidence.trajectories:
        if str(one.key) in first and one.turns[0].state is not None and one.labels.get("size") not in sizes:
            sizes.add(one.labels.get("size"))
            yield one, report.decoded[first[str(one.key)]]


def _cells(one: Trajectory, decoded: NDArray[np.float32], classes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row of data for every cell of the true map and of the decoded one."""
    state = one.turns[0].state
    assert state is not None
    shown, known = CellMap.from_record(one.world, state), [code for code, kind in enumerate(classes) if kind != PAD]
    grid = f"{shown.height} x {shown.width}"
    for row, column in np.ndindex(shown.codes.shape):
        likeliest = classes[known[int(decoded[row, column, known].argmax())]]
        for which, kind in ((TRUE, shown.kinds[shown.codes[row, column]]), (DECODED, likeliest)):
            yield {"grid": grid, "which": which, "row": row, "column": column, "kind": kind}


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
