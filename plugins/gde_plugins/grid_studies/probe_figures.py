"""Figures of decoded maps (Arghal et al. 2026, figs. 5 to 8) and of plans by length
(fig. 9).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import KINDS, PAD, CellMap
from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.probe import CONTROLS, ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.reporting.drawing import numbers
from gde_plugins.grid_studies.config import InputForm
from gde_plugins.grid_studies.lookup import find
from gde_plugins.grid_studies.rows.plans import GUESSES, HORIZON, POSITIONS, PREFIXES

COLOURS: Mapping[str, str] = {
    "empty": "#f4f4f4",
    "wall": "#444444",
    "agent": "#2a6fdb",
    "goal": "#2e9e4f",
}
OTHERS = ("#b26f00", "#8e44ad", "#c0392b", "#7f8c8d")
TRUE, DECODED = "true map", "decoded map"


def map_figure(
    evidence: Evidence, probe: str, variant: str, position: str, form: InputForm
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
            f" likeliest kind according to the probe ({variant}, layer {report.fit.layer}, {form} inputs), padding not"
            " chosen."
            " What stands beside the agent and the goal in the tables says how much of it is right."
        ),
        spec=_map_panels(rows, kinds),
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


def _map_panels(
    rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]
) -> dict[str, Any]:
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


PROBE, RANDOM, PRINTED = "probe", "random weights", "published"
RECALLS = {f"maps.recall.{kind}": f"{kind} recall" for kind in KINDS}
SCORES: Mapping[str, str] = {"maps.accuracy": "accuracy", **RECALLS}
READERS = (PROBE, PRINTED, *GUESSES, *CONTROLS)
DASHES = {"domain": [PROBE, RANDOM], "range": [[1, 0], [4, 3]]}
DASHED: Mapping[str, Any] = {
    "field": "reader",
    "type": "nominal",
    "scale": DASHES,
    "legend": None,
}
"""Without a legend, which would show dashes in no colour: the caption explains them."""


def size_figure(measurements: Sequence[Measurement], form: InputForm) -> Figure | None:
    """Draw scores of decoded maps by size, before and after reasoning; None where none
    was measured.

    Args:
        measurements: without layers.
        form: form of the inputs of the probe.
    """
    rows = [*_of_sizes(measurements)]
    if not rows:
        return None
    encoding = {
        "x": _place("size"),
        "color": _kind("position", [*POSITIONS.values()]),
        "strokeDash": DASHED,
    }
    return Figure(
        title="Decoded maps by size",
        caption=(
            f"Of the general MLP probe on {form} inputs in held-out first turns; bands: 95 % intervals, point by"
            " point. Dashed: the same of a model with random weights."
        ),
        spec=_panels(rows, "score", [*SCORES.values()], encoding),
    )


def prefix_figure(measurements: Sequence[Measurement]) -> Figure | None:
    """Draw prefix accuracy by the number of actions, beside guesses and controls; None
    where none was measured.

    Args:
        measurements: without layers.
    """
    rows = [*_prefixes(measurements)]
    if not rows:
        return None
    encoding = {"x": _place("actions"), "color": _kind("reader", READERS)}
    return Figure(
        title="Plans by length",
        caption=(
            "Share of plans whose first actions are all decoded, by how many these are: of the probe, with a band for"
            " its 95 % intervals, of guesses, of controls, and as far as it is printed."
        ),
        spec=_panels(rows, "position", [*POSITIONS.values()], encoding),
    )


def _of_sizes(measurements: Sequence[Measurement]) -> Iterator[dict[str, Any]]:
    """A row of data for every score of every size."""
    known = [
        one for one in measurements if one.name in SCORES and one.value is not None
    ]
    readers = {"none": PROBE, "untrained": RANDOM}
    for position, fit in product(POSITIONS, readers):
        where = {"variant": "mlp", "position": position, "fit": fit}
        for one in known:
            # Of a size, and of nothing else: not of a density.
            size = one.where.get("size")
            if one.where == {**where, "size": size}:
                yield {
                    "score": SCORES[one.name],
                    "position": POSITIONS[position],
                    "reader": readers[fit],
                    "size": size,
                    **numbers(one),
                }


def _prefixes(measurements: Sequence[Measurement]) -> Iterator[dict[str, Any]]:
    """A row of data for every reader and number of actions."""
    # Reader to the name of its measurement, and the control that it is of.
    readers: dict[str, tuple[str, str]] = {PROBE: ("prefix", "none")}
    for guess in GUESSES:
        readers[guess] = (guess, "none")
    for control in CONTROLS:
        readers[control] = ("prefix", control)

    for position, n in product(POSITIONS, range(1, HORIZON + 1)):
        labels = {"position": POSITIONS[position], "actions": n}
        for reader, (name, fitted) in readers.items():
            one = find(
                measurements,
                f"plan.{name}.{n}",
                variant="oneshot",
                position=position,
                control=fitted,
            )
            if one.value is not None:
                yield {**labels, "reader": reader, **numbers(one)}

        printed = PREFIXES[position]
        if n in printed:
            yield {**labels, "reader": PRINTED, "value": printed[n]}


def _place(field: str) -> dict[str, Any]:
    """A horizontal axis with upright labels."""
    return {
        "field": field,
        "type": "ordinal",
        "title": field,
        "axis": {"labelAngle": 0},
    }


def _kind(field: str, values: Sequence[str]) -> dict[str, Any]:
    """Colours of the values of a field, the same where some of them have no data."""
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": [*values]},
        "legend": {"symbolType": "stroke", "symbolOpacity": 1},
    }


def _panels(
    rows: Sequence[Mapping[str, Any]],
    field: str,
    values: Sequence[str],
    encoding: Mapping[str, Any],
) -> dict[str, Any]:
    """Lines of shares, one panel for each value of a field; the probe's with a band for
    its interval.
    """
    share = {
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%"},
    }
    # Bands of all readers would hide each other.
    band = {
        "transform": [{"filter": f"datum.reader === '{PROBE}'"}],
        "mark": {"type": "area", "opacity": 0.15},
        "encoding": {"y": {**share, "field": "low"}, "y2": {"field": "high"}},
    }
    line = {
        "mark": {"type": "line", "point": True},
        "encoding": {"y": {**share, "field": "value"}},
    }
    panel = {
        "encoding": dict(encoding),
        "layer": [band, line],
        "width": 200,
        "height": 150,
    }
    return {
        "data": {"values": [dict(row) for row in rows]},
        "facet": {"field": field, "type": "nominal", "title": None, "sort": [*values]},
        "columns": 3,
        "spec": panel,
    }
