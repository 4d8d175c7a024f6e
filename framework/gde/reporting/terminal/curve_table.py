"""Learning curves in characters: a table of scores by worlds."""

from collections.abc import Sequence

from gde.data.result import Measurement, Result
from gde.reporting.curves import MODEL, Curve, curves
from gde.reporting.findings import Probed, early_of, probed
from gde.reporting.terminal.plot import cut
from gde.reporting.wording import number, symbol
from gde.stages.learning import EARLY

WIDTH = 160
"""The least width of a screen that has the table beside its figure."""
GAP = 3
"""Columns between the figure and the table."""
NAME = 18
"""Columns of the name of a curve."""
POINTS = 6
"""The most sizes, the largest ones."""
CELL = 5
"""Columns of a number."""
COLUMNS = NAME + POINTS * CELL
"""Of the table."""


def curve_table(result: Result) -> list[str]:
    """The curves of the first probe: the model's and its strongest control's.

    Empty without curves. No line is longer than `COLUMNS`.
    """
    for probe in probed(result):
        drawn = curves(probe, result)
        if drawn:
            return _lines(probe, drawn)
    return []


def _lines(probe: Probed, drawn: Sequence[Curve]) -> list[str]:
    sizes = _sizes(drawn)
    unit = symbol(drawn[0].measure.unit)
    heads = "".join(f"{size:>{CELL}}" for size in sizes)
    lines = [
        f"Learning curves, {unit}".rstrip(", "),
        f"{'fitted worlds':<{NAME}}{heads}",
    ]
    for one in drawn:
        lines.append(cut(one.measure.title, COLUMNS))
        for name in (MODEL, _strongest(one, probe)):
            if name in one.lines:
                texts = _texts(one.lines[name], sizes)
                lines.append(f"{cut('  ' + name, NAME):<{NAME}}{texts}")
    return lines


def _sizes(drawn: Sequence[Curve]) -> list[int]:
    points = (one for curve in drawn for line in curve.lines.values() for one in line)
    return sorted({int(str(one.where["worlds"])) for one in points})[-POINTS:]


def _texts(line: Sequence[Measurement], sizes: Sequence[int]) -> str:
    scores = {
        one.where["worlds"]: number(one.value, one.unit, 0)
        for one in line
        if one.value is not None
    }
    texts = (scores.get(size, "") for size in sizes)
    return "".join(f"{text:>{CELL}}" for text in texts)


def _strongest(curve: Curve, probe: Probed) -> str:
    """The control that stands beside the score of an early reader; else empty."""
    name = probe.fit.probe
    score = curve.measure.name.removeprefix(f"{name}.")
    for one in early_of(probe):
        if one.measure.name == f"{name}.{EARLY}.{score}":
            return one.control
    return ""
