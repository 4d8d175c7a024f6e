"""Figures of scores by size (Arghal et al. 2026, figs. 6 and 8) and of plans by length
(fig. 9).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from gde.data.cell_map import KINDS
from gde.data.figure import Figure
from gde.data.probe import CONTROLS
from gde.data.result import Measurement
from gde.reporting.drawing import numbers
from gde_plugins.grid_studies.config import InputForm
from gde_plugins.grid_studies.lookup import find
from gde_plugins.grid_studies.rows.plans import GUESSES, HORIZON, POSITIONS, PREFIXES

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
