"""A map of layers and positions: what a probe reads where, and whether it beats its
controls there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import Any

from gde.data.figure import Figure
from gde.data.measure import Measure
from gde.data.probe import FIT, Fit
from gde.data.result import Measurement, Result
from gde.data.verdict import Verdict
from gde.reporting.drawing import TOLD
from gde.reporting.findings import Probed, swept
from gde.reporting.wording import (
    POSITIONS,
    difference_text,
    estimate,
    heading,
    labels_text,
    number,
    verdict_text,
)

WIDTH, HEIGHT = 92, 24
"""Size of a cell in pixels."""
PAGE = 1000
"""Pixels for panels side by side."""
AXIS = 50
"""Pixels beside the cells of a panel."""
LETTER = 6.5
"""Pixels of a letter of a title."""
COLORS = ("#b35806", "#f4f1ea", "#1c5d94")
"""From worse than the strongest control to better; told apart by colour-blind readers."""
GREY = "#7a838b"
"""Legible on light and on dark backgrounds."""
INK, PALE_INK = "#20262c", "white"
DARK = 0.78
"""The share of the largest lead from which a cell needs pale ink."""
UNTESTED = "not tested"
ALL = "all worlds"
MARKS = {
    "better": "triangle-up",
    "worse": "triangle-down",
    "different": "diamond",
    "no difference shown": "M-1-.6H1V-.15H-1ZM-1,.15H1V.6H-1Z",
    UNTESTED: "M-.4,0A.4,.4,0,1,1,.4,0A.4,.4,0,1,1-.4,0Z",
}
"""Outcome of the paired test to the shape of its mark, in the order of the legend: an
equals sign and a dot are no shapes of Vega's own.
"""
CAPTION = (
    "Numbers and, as colours, their lead over the strongest control in the same worlds: blue is better, orange worse."
    " A colour is full at the largest lead of a number, or at the smallest detectable difference if that is larger."
    " Marks are the outcomes of the paired tests. Dashed cells are not measured. Cells tell more under the mouse."
)
Numbers = Mapping[tuple[Fit, str, str], Measurement]
"""The numbers of a probe by fit, name and condition in words: empty for all worlds."""


def layer_map(probe: Probed, result: Result) -> Figure | None:
    """The headlines of a probe by layer and position, of all worlds and of each
    condition.

    None for a single layer and position, or without numbers.
    """
    places = _Places(main=probe.fit, numbers=_numbers(probe.fit, result), result=result)
    if len(places.layers) * len(places.positions) < 2:
        return None

    names = places.headlines
    if not names:
        return None

    blocks = []
    for condition in places.conditions:
        panels = []
        for name in names:
            if places.measured(name, condition):
                panels.append(places.panel(name, condition))
        if panels:
            title = condition or (ALL if len(places.conditions) > 1 else "")
            blocks.append(_block(title, panels))
    return Figure(
        title=f"Layers and positions, {probe.fit.probe} ({probe.fit.variant})",
        caption=CAPTION,
        spec={"vconcat": blocks, "resolve": {"scale": {"shape": "shared"}}},
    )


def _numbers(main: Fit, result: Result) -> Numbers:
    """The numbers of the fits that differ from the main one in nothing but layer and
    position.
    """
    settings = set(swept(result))
    found = {}
    for one in result.measurements:
        fit = Fit.of(one)
        if fit is None:
            continue
        is_here = replace(fit, layer=main.layer, position=main.position) == main
        labels = {key: value for key, value in one.where.items() if key not in FIT}
        # Other labels are the probe's own, such as the worlds of a learning curve.
        if is_here and labels.keys() in (set(), settings):
            found[fit, one.name, labels_text(labels)] = one
    return found


def _block(title: str, panels: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The panels of a condition, as many side by side as the page has room for."""
    width = panels[0]["width"] + AXIS
    block: dict[str, Any] = {
        "concat": panels,
        "columns": max(1, PAGE // width),
        "resolve": {"scale": {"color": "independent", "shape": "shared"}},
    }
    if title:
        block["title"] = {"text": title, "anchor": "start", "fontSize": 13}
    return block


@dataclass(frozen=True, kw_only=True)
class _Places:
    """The layers and positions of a probe's main variant, and its numbers there."""

    main: Fit
    numbers: Numbers
    result: Result

    @cached_property
    def layers(self) -> list[int]:
        """The first layer last: a model is read upwards."""
        return sorted({fit.layer for fit, _, _ in self.numbers}, reverse=True)

    @cached_property
    def positions(self) -> list[str]:
        """In the order of the plan."""
        return list(dict.fromkeys(fit.position for fit, _, _ in self.numbers))

    @property
    def conditions(self) -> list[str]:
        """All worlds first."""
        return list(dict.fromkeys(["", *(labels for _, _, labels in self.numbers)]))

    @property
    def headlines(self) -> list[str]:
        """The headlines that are tested at any place; without tests, all."""
        meanings = self.result.meanings
        known = [name for _, name, _ in self.numbers if meanings[name].headline]
        names = [name for name in meanings.ordered(known) if self.measured(name)]
        tested = [name for name in names if self._verdicts(name)]
        return tested or names

    def measured(self, name: str, condition: str | None = None) -> list[Measurement]:
        """The values of a number at all places, in one condition or in all."""
        found = []
        for (_, known, labels), one in self.numbers.items():
            is_asked = known == name and condition in (None, labels)
            if is_asked and one.value is not None:
                found.append(one)
        return found

    def _verdicts(self, name: str) -> list[Verdict]:
        return [one.verdict for one in self.measured(name) if one.verdict is not None]

    def panel(self, name: str, condition: str) -> dict[str, Any]:
        """The map of one number in one condition."""
        measure = self.result.meanings[name]
        rows = []
        for layer in self.layers:
            for position in self.positions:
                fit = replace(self.main, layer=layer, position=position)
                rows.append(self._row(fit, measure, condition))

        titles = [POSITIONS.get(position, position) for position in self.positions]
        unit = self.measured(name)[0].unit
        width = WIDTH * len(titles)
        lines = wrap(heading(measure.title, unit), int((width + AXIS) // LETTER))
        largest = self._largest_lead(name, unit)
        # All conditions have the same colours, so one legend will do.
        legend = None if condition else _gradient(largest, width, unit)
        return {
            "title": {"text": lines, "fontSize": 11},
            "data": {"values": rows},
            "encoding": _axes(titles, self.layers),
            "width": width,
            "height": HEIGHT * len(self.layers),
            "layer": _cells(rows, largest, self._marks, legend),
        }

    def _row(self, fit: Fit, measure: Measure, condition: str) -> dict[str, Any]:
        """The data of a cell."""
        position = POSITIONS.get(fit.position, fit.position)
        place = f"layer {fit.layer}, {position}"
        row: dict[str, Any] = {"layer": fit.layer, "position": position}
        one = self.numbers.get((fit, measure.name, condition))
        if one is None or one.value is None:
            reason = self._reason(fit, one, condition)
            return row | {"text": "\u2013", "told": f"{place}: not measured ({reason})"}

        row["text"] = number(one.value, one.unit, 0)
        row["mark"] = _mark(one.verdict)
        row["lead"] = 0.0
        lines = [place, f"{measure.title} {estimate(one)}"]
        if one.verdict is not None:
            row["lead"] = _lead(one.verdict, measure)
            lines.append(verdict_text(one.verdict, one.unit))
            # The words for "better" and "worse" have these numbers already.
            if one.verdict.outcome in ("none", "untested"):
                lines.append(difference_text(one.verdict, one.unit))
        row["told"] = "\n".join(lines)
        return row

    def _reason(self, fit: Fit, one: Measurement | None, condition: str) -> str:
        """Why a place has no number: its own reason, that of the condition, or of the
        fit.
        """
        of_condition = self.numbers.get((fit, f"{fit.probe}.all", condition))
        found = one or of_condition or self.numbers.get((fit, fit.probe, ""))
        return found.reason if found is not None else "the probe gave no number"

    @cached_property
    def _marks(self) -> list[str]:
        """The marks that any headline has."""
        found: set[str] = set()
        for name in self.headlines:
            found.update(_mark(one.verdict) for one in self.measured(name))
        return [mark for mark in MARKS if mark in found]

    def _largest_lead(self, name: str, unit: str) -> float:
        """The lead that has the full colour in all conditions."""
        verdicts = self._verdicts(name)
        detectable = [each.detectable or 0.0 for each in verdicts]

        # Where no lead could have been found, all of them stay pale.
        least = min(detectable, default=0.0)
        largest = max([least, *(abs(each.difference) for each in verdicts)]) or 1.0
        return min(largest, 1.0) if unit == "share" else largest


def _lead(verdict: Verdict, measure: Measure) -> float:
    """How far a probe is ahead of its control, whichever direction is better."""
    return -verdict.difference if measure.better == "less" else verdict.difference


def _mark(verdict: Verdict | None) -> str:
    if verdict is None or verdict.p is None:
        return UNTESTED
    if verdict.outcome == "none":
        return "no difference shown"
    return verdict.outcome


def _axes(positions: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    x = {
        "field": "position",
        "type": "nominal",
        "sort": list(positions),
        "title": None,
        "axis": {"labelAngle": 0, "labelLimit": WIDTH},
    }
    y = {"field": "layer", "type": "ordinal", "sort": list(layers), "title": "layer"}
    return {"x": x, "y": y}


def _cells(
    rows: Sequence[dict[str, Any]],
    largest: float,
    marks: Sequence[str],
    legend: dict[str, Any] | None,
) -> list[dict[str, Any]]:
    """The layers of a panel: colours, dashes, numbers, marks, and what cells tell."""
    measured = [{"filter": "isValid(datum.lead)"}]
    # The grey is for dashed cells and for the legend.
    ink = {
        "condition": [
            {"test": f"abs(datum.lead) > {DARK * largest}", "value": PALE_INK},
            {"test": "isValid(datum.lead)", "value": INK},
        ],
        "value": GREY,
    }
    color = {
        "field": "lead",
        "type": "quantitative",
        "scale": {
            "domain": [-largest, 0, largest],
            "range": COLORS,
            "interpolate": "rgb",
        },
        "legend": legend,
    }
    shape = {
        "field": "mark",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(marks), "range": [MARKS[mark] for mark in marks]},
        "legend": {"orient": "top", "columns": len(MARKS), "columnPadding": 24},
    }
    dashes = {
        "transform": [{"filter": "!isValid(datum.lead)"}],
        "mark": {
            "type": "rect",
            "filled": False,
            "stroke": GREY,
            "strokeDash": [3, 3],
            "aria": False,
        },
    }
    is_missing = any("lead" not in row for row in rows)
    return [
        {
            "transform": measured,
            "mark": {"type": "rect", "stroke": "white", "aria": False},
            "encoding": {"color": color},
        },
        *([dashes] if is_missing else []),
        {
            "mark": {"type": "text", "fontSize": 11, "xOffset": -9, "aria": False},
            "encoding": {"text": {"field": "text"}, "color": ink},
        },
        {
            "transform": measured,
            "mark": {
                "type": "point",
                "filled": True,
                "size": 55,
                "xOffset": 24,
                "opacity": 1,
                "aria": False,
            },
            "encoding": {"shape": shape, "color": ink},
        },
        # Above all others, so that a cell tells the same wherever the mouse is.
        {
            "mark": {"type": "rect", "opacity": 0, "ariaRoleDescription": TOLD},
            "encoding": {"description": {"field": "told"}},
        },
    ]


def _gradient(largest: float, width: int, unit: str) -> dict[str, Any]:
    """The legend of the colours, as wide as the cells."""
    label = "format(datum.value, '.2f')"
    if unit == "share":
        label = "format(100 * datum.value, '.0f')"
    return {
        "orient": "bottom",
        "title": heading("lead", unit),
        "titleFontWeight": "normal",
        "gradientLength": width,
        "gradientThickness": 6,
        "values": [-largest, 0, largest],
        "labelExpr": label,
    }
