"""Numbers as dots with their intervals on a common line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import escape

from gde.data.result import Measurement
from gde.reporting.wording import number

WIDTH = 100
"""Length of the line in its own units."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A tick on the line: the number of a baseline."""

    title: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A common line for several numbers.

    It runs from 0 to 1 for shares, else from zero to the outermost bounds.
    """

    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, numbers: Iterable[Measurement]) -> "Scale":
        """Make a scale that holds all numbers and their intervals."""
        values: list[float] = []
        units = set()
        for one in numbers:
            if one.value is None:
                continue
            values.append(one.value)
            values.extend(one.interval or ())
            units.add(one.unit)
        low = min(values, default=0.0)
        high = max(values, default=1.0)

        # All shares have the same line, so that cards can be compared.
        if low >= 0 and high <= 1 and units <= {"share", "probability"}:
            return cls()

        low = min(0.0, low)
        high = max(0.0, high)
        # If all numbers are zero, the line needs a length nevertheless.
        if high <= low:
            high = low + 1
        return cls(low=low, high=high)

    def picture(
        self, one: Measurement, marks: Sequence[Mark] = (), labelled: bool = False
    ) -> str:
        """Inline SVG: interval as a bar, value as a dot, marks as ticks, and the
        numbers at the ends of a labelled line.

        Empty without a value.
        """
        if one.value is None:
            return ""

        zero = self._place(0.0)
        axis = f"M0 6H{WIDTH}M{zero} 2v8M{WIDTH} 4v4M0 4v4"
        parts = [f'<path class="axis" d="{axis}"/>']
        if one.interval:
            low, high = map(self._place, one.interval)
            parts.append(f'<path class="bar" d="M{low} 6H{high}"/>')

        for index, mark in enumerate(marks):
            # Two colours in turn tell the first two baselines apart.
            place = self._place(mark.value)
            tick = f'<path class="tick tick{index % 2}" d="M{place} 0v12">'
            title = f"<title>{escape(mark.title)}</title>"
            parts.append(f"{tick}{title}</path>")

        if labelled:
            low_end, high_end = _end(self.low, one.unit), _end(self.high, one.unit)
            parts.append(f'<text class="end left" x="-5" y="8.5">{low_end}</text>')
            parts.append(f'<text class="end" x="{WIDTH + 5}" y="8.5">{high_end}</text>')

        # The dot comes last: it covers ticks at its place.
        center = self._place(one.value)
        parts.append(f'<circle cx="{center}" cy="6" r="2.6"/>')

        drawing = "".join(parts)
        return f'<svg class="whisker" viewBox="-3 0 106 12" aria-hidden="true">{drawing}</svg>'

    def _place(self, value: float) -> float:
        """Distance from the left end; values beyond the line are drawn at its ends."""
        share = (value - self.low) / (self.high - self.low)
        inside = min(max(share, 0.0), 1.0)
        return round(WIDTH * inside, 1)


def _end(value: float, unit: str) -> str:
    return number(value, unit, 0) if value else "0"
