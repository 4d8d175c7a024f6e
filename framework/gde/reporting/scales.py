"""Numbers as dots with their intervals on a common line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import escape

from gde.data.result import Measurement

WIDTH = 100
"""Of the line, in its own units."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Where somebody else would stand."""

    title: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The line that several numbers share: 0 to 1 for shares, else from zero to the farthest bound either way."""

    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, numbers: Iterable[Measurement]) -> "Scale":
        """One that has room for all of them."""
        found = [one for one in numbers if one.value is not None]
        values = [value for one in found for value in (one.value or 0.0, *(one.interval or ()))]
        low, high = min(values, default=0.0), max(values, default=1.0)
        if low >= 0 and high <= 1 and all(one.unit in {"share", "probability"} for one in found):
            return cls()
        low, high = min(0.0, low), max(0.0, high)
        return cls(low=low, high=high if high > low else low + 1)

    def picture(self, one: Measurement, marks: Sequence[Mark] = ()) -> str:
        """Inline SVG: the interval as a bar, the value as a dot, a tick for each mark; empty without a value."""
        if one.value is None:
            return ""
        zero = self._place(0.0)
        axis = f'<path class="axis" d="M0 6H{WIDTH}M{zero} 2v8M{WIDTH} 4v4M0 4v4"/>'
        low, high = map(self._place, one.interval or (one.value, one.value))
        bar = f'<path class="bar" d="M{low} 6H{high}"/>' if one.interval else ""
        ticks = "".join(
            f'<path class="tick tick{place % 2}" d="M{self._place(mark.value)} 0v12">'
            f"<title>{escape(mark.title)}</title></path>"
            for place, mark in enumerate(marks)
        )
        dot = f'<circle cx="{self._place(one.value)}" cy="6" r="2.6"/>'
        return f'<svg class="whisker" viewBox="-3 0 106 12" aria-hidden="true">{axis}{bar}{ticks}{dot}</svg>'

    def _place(self, value: float) -> float:
        """From the left end, on the line."""
        share = (value - self.low) / (self.high - self.low)
        return round(WIDTH * min(max(share, 0.0), 1.0), 1)
