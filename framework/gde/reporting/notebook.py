"""A result in a notebook: claim and headlines as HTML, and one number as a chart."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from gde.data.result import Measurement, Result
from gde.errors import GdeError, MissingExtra, UnknownName
from gde.reporting.claim import claim
from gde.reporting.findings import Finding, headlines, of_metrics
from gde.reporting.pages import figures
from gde.reporting.wording import bounds, counted, labels_text, quantity

if TYPE_CHECKING:
    import altair

HEADING = ("", "value", "95 % interval", "n")


class Html(str):
    """HTML that a notebook shows as such."""

    def _repr_html_(self) -> str:
        return self


def summary(result: Result) -> Html:
    """Show the claim, its cautions and a table of the headlines; all text is escaped."""
    opening = claim(result)
    parts = [f"<p>{escape(opening.behaviour)} {escape(opening.belief)}</p>"]

    found = headlines(result)
    if found:
        rows = [_row("th", HEADING)]
        rows += [_row("td", _headline(one)) for one in found]
        parts.append(f"<table>{''.join(rows)}</table>")

    small = [*opening.cautions, f"{result.status}: {result.run}"]
    notice = str(result.provenance.get("notice") or "")
    if notice:
        small.insert(0, notice)
    parts += [f"<p><small>{escape(text)}</small></p>" for text in small]
    return Html("".join(parts))


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
    try:
        import altair
    except ModuleNotFoundError:
        raise MissingExtra("plot", ["altair"], "report") from None

    numbers = [one for one in of_metrics(result) if one.name == name]
    if not numbers:
        known = {one.name for one in of_metrics(result)}
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
        labels = " or ".join(f"({each})" for each in sorted(sets)) or "none"
        raise GdeError(
            f"{name} by {', '.join(keys)}: wanted numeric labels of two or more of its values, of {labels}"
        )
    (figure,) = drawn
    spec = {"title": figure.title, **figure.spec}
    chart: altair.Chart = altair.Chart.from_dict(spec)
    return chart


def _headline(one: Finding) -> tuple[str, ...]:
    """Title, value, interval and n of the best number; the reason where it has none."""
    best: Measurement = one.numbers[0]
    title, rest = one.measure.titled(best.where)
    label = f"{title}: {labels_text(rest)}" if rest else title
    if best.value is None:
        return label, best.reason, "", ""
    value = quantity(best.value, best.unit)
    interval = bounds(best.interval, best.unit)
    return label, value, interval, counted(best.n, best.clusters)


def _row(tag: str, texts: Sequence[str]) -> str:
    cells = [f"<{tag}>{escape(text)}</{tag}>" for text in texts]
    return f"<tr>{''.join(cells)}</tr>"
