"""A row of the forest plot: a number and its control as points on the group's axis."""

from collections.abc import Iterator

from markupsafe import Markup, escape

from gde.data.result import Measurement
from gde.reporting.forest import Group, Row
from gde.reporting.wording import number

WIDTH = 100
"""Length of the axis in its own units."""


def track(group: Group, row: Row) -> Markup:
    """Inline SVG: bars are intervals, the dot or square is the agent, the ring its
    strongest control, ticks are bounds. Empty without a value.
    """
    beside = row.beside
    if beside.ours.value is None:
        return Markup()
    zero = _place(group, 0.0)
    parts = [f'<path class="axis" d="M0 6H{WIDTH}M0 3v6M{WIDTH} 3v6M{zero} 2v8"/>']
    for title, bound in beside.bounds:
        x = _place(group, bound.value or 0.0)
        parts.append(
            f'<path class="tick" d="M{x} 0v12"><title>{escape(title)}</title></path>'
        )
    if beside.rival is not None and beside.rival.value is not None:
        parts += _bar(group, beside.rival, "control")
        x = _place(group, beside.rival.value)
        title = f"<title>{escape(beside.control)}</title>"
        parts.append(
            f'<circle class="control" cx="{x}" cy="6" r="2.2">{title}</circle>'
        )
    parts += _bar(group, beside.ours, "bar")
    # Worse is a square: no meaning by colour alone.
    x = _place(group, beside.ours.value)
    if row.word == "worse":
        parts.append(f'<path class="point" d="M{x - 2.4} 3.6h4.8v4.8h-4.8z"/>')
    else:
        parts.append(f'<circle class="point" cx="{x}" cy="6" r="2.6"/>')
    low, high = (number(end, group.unit, 0) for end in (group.low, group.high))
    parts.append(f'<text class="end left" x="-5" y="8.5">{low}</text>')
    parts.append(f'<text class="end" x="{WIDTH + 5}" y="8.5">{high}</text>')
    drawing = "".join(parts)
    return Markup(  # all text in it is escaped
        f'<svg class="whisker" viewBox="-3 0 106 12" aria-hidden="true">{drawing}</svg>'
    )


def _bar(group: Group, one: Measurement, kind: str) -> Iterator[str]:
    if one.interval:
        low, high = (_place(group, bound) for bound in one.interval)
        yield f'<path class="{kind}" d="M{low} 6H{high}"/>'


def _place(group: Group, value: float) -> float:
    return round(WIDTH * group.place(value), 1)
