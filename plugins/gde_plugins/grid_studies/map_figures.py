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

COLOURS: Mapping[str, str] = {
    "empty": "#f4f4f4",
    "wall": "#444444",
    "agent": "#2a6fdb",
    "goal": "#2e9e4f",
}
OTHERS = ("#b26f00", "#8e44ad", "#c0392b", "#7f8c8d")
TRUE, DECODED = "true map", "decoded map"


def map_figure(
    evidence: Evidence, probe: str, variant: str, position: str
) -> Figure | None:
    """Draw the first held-out first turn of each size, true and decoded; None where the
    probe decoded no map.
    """
    report = _report(evidence, probe, variant, position)
    if report is None or report.decoded.ndim != 4:
        return None

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


def _report(
    evidence: Evidence, probe: str, variant: str, position: str
) -> ProbeReport | None:
    """The report of a trained fit, of the first layer that was read; None where there
    is none.
    """
    wanted = (probe, variant, position, "none")
    for report in evidence.probe_reports:
        fit = report.fit
        if (fit.probe, fit.variant, fit.position, fit.control) == wanted:
            return report
    return None


def _shown(
    evidence: Evidence, report: ProbeReport
) -> Iterator[tuple[Trajectory, NDArray[np.float32]]]:
    """One episode of each size, and its first turn as decoded."""
    row_of = {}
    for row, (episode, turn) in enumerate(report.rows):
        if turn == 0:
            row_of[episode] = row

    seen = set[object]()
    for trajectory in evidence.trajectories:
        key = str(trajectory.key)
        size = trajectory.labels.get("size")
        if size in seen or key not in row_of:
            continue
        if trajectory.turns[0].state is not None:
            seen.add(size)
            yield trajectory, report.decoded[row_of[key]]


def _cells(
    one: Trajectory, decoded: NDArray[np.float32], classes: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """A row of data for every cell of the true map and of the decoded one."""
    state = one.turns[0].state
    assert state is not None
    shown = CellMap.from_record(one.world, state)
    on_map = [code for code, kind in enumerate(classes) if kind != PAD]
    grid = f"{shown.height} x {shown.width}"

    for row, column in np.ndindex(shown.codes.shape):
        code = shown.codes[row, column]
        # Padding is left out of the choice: the map is known to reach this cell.
        probabilities = decoded[row, column, on_map]
        likeliest = on_map[int(probabilities.argmax())]
        cell = {"grid": grid, "row": row, "column": column}
        yield {**cell, "which": TRUE, "kind": shown.kinds[code]}
        yield {**cell, "which": DECODED, "kind": classes[likeliest]}


def _panels(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> dict[str, Any]:
    """A row of panels a grid: the true map and the decoded one."""
    # Kinds without a colour of their own take the spare ones in turn, and share the
    # last.
    spare = iter(OTHERS)
    colours = []
    for kind in kinds:
        colour = COLOURS.get(kind) or next(spare, OTHERS[-1])
        colours.append(colour)

    place = {"type": "ordinal", "axis": None}
    colour_of_kind = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": [*kinds], "range": colours},
    }
    cell = {
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.5},
        "width": {"step": 12},
        "height": {"step": 12},
        "encoding": {
            "x": {"field": "column", **place},
            "y": {"field": "row", **place},
            "color": colour_of_kind,
        },
    }
    # Axes are independent because the grids differ in size.
    facet = {
        "row": {"field": "grid", "type": "nominal", "title": None, "sort": None},
        "column": {
            "field": "which",
            "type": "nominal",
            "title": None,
            "sort": [TRUE, DECODED],
        },
    }
    return {
        "data": {"values": [dict(row) for row in rows]},
        "facet": facet,
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
        "spec": cell,
    }
