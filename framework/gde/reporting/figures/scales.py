"""Numbers as dots with their intervals on a common line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import escape

from gde.data.result import Measurement

WIDTH = 100
"""Length of the line in its own units."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A tick on the line: the number of a baseline."""

    title: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The line that several numbers share: 0 to 1 for shares, else from zero to the outermost bounds."""

    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, numbers: Iterable[Measurement]) -> "Scale":
        """Make a scale that holds all numbers and their intervals."""
        found = [one for one in numbers if one.value is not None]
        values = []
        for one in found:
            values.append(one.value or 0.0)
            values.extend(one.interval or ())
        low = min(values, default=0.0)
        high = max(values, default=1.0)

        if low >= 0 and high <= 1 and all(one.unit in {"share", "probability"} for one in found):
            return cls()
        low = min(0.0, low)
        high = max(0.0, high)
        return cls(low=low, high=high if high > low else low + 1)

    def picture(self, one: Measurement, marks: Sequence[Mark] = ()) -> str:
        """Inline SVG: the interval as a bar, the value as a dot, each mark as a tick; empty without a value."""
        if one.value is None:
            return ""

        zero = self._place(0.0)
        parts = [f'<path class="axis" d="M0 6H{WIDTH}M{zero} 2v8M{WIDTH} 4v4M0 4v4"/>']
        if one.interval:
            low, high = map(self._place, one.interval)
            parts.append(f'<path class="bar" d="M{low} 6H{high}"/>')
        for index, mark in enumerate(marks):
            # Two colours in turn tell the first two baselines apart.
            tick = f'<path class="tick tick{index % 2}" d="M{self._place(mark.value)} 0v12">'
            parts.append(f"{tick}<title>{escape(mark.title)}</title></path>")
        parts.append(f'<circle cx="{self._place(one.value)}" cy="6" r="2.6"/>')

        drawing = "".join(parts)
        return f'<svg class="whisker" viewBox="-3 0 106 12" aria-hidden="true">{drawing}</svg>'

    def _place(self, value: float) -> float:
        """Distance from the left end; values beyond the line are drawn at its ends."""
        share = (value - self.low) / (self.high - self.low)
        return round(WIDTH * min(max(share, 0.0), 1.0), 1)
