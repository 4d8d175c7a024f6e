"""One number of a sweep as a chart."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gde.data.result import Result
from gde.errors import GdeError, UnknownName, needing
from gde.reporting.findings import of_metrics
from gde.reporting.pages import figures

if TYPE_CHECKING:
    import altair


def plot(result: Result, name: str, by: str | Sequence[str]) -> "altair.Chart":
    """Draw a number by one, two or three numeric labels, as reports do.

    Args:
        result: the result.
        name: the number's name, e.g. "accuracy".
        by: labels. One makes a curve, two a heat map, three several. The other labels
            of a sweep are added.

    Raises:
        UnknownName: the result has no such number.
        GdeError: it has fewer than two values with these labels, or the plugin that
            draws is off.
        MissingExtra: Altair is not installed.
    """
    with needing("plot", "altair", "report"):
        import altair

    numbers = [one for one in of_metrics(result.measurements) if one.name == name]
    if not numbers:
        known = {one.name for one in of_metrics(result.measurements)}
        raise UnknownName("number", name, known)

    keys = (by,) if isinstance(by, str) else tuple(by)
    broken_down = [one for one in numbers if one.where.keys() >= {*keys}]
    fewest = min((len(one.where) for one in broken_down), default=0)
    chosen = []
    for one in broken_down:
        if len(one.where) == fewest:
            # The named labels come first, whatever else the run varied.
            where = {**{key: one.where[key] for key in keys}, **one.where}
            chosen.append(replace(one, where=where))
    drawn = figures(chosen, result.meanings)
    if not drawn:
        sets = {", ".join(sorted(one.where)) for one in numbers if one.where}
        has = f"it has values by {' or by '.join(sorted(sets))}" if sets else ""
        raise GdeError(
            f"{name} by {', '.join(keys)}: wanted a number with a value for each of two or more numeric labels;"
            f" {has or 'it has one value alone: sweep a setting, e.g. env.size=7,9'}"
        )
    (figure,) = drawn
    spec = {"title": figure.title, **figure.spec}
    chart: altair.Chart = altair.Chart.from_dict(spec)
    return chart
