"""Figures as a page shows them: narrow ones share a row."""

import re
from dataclasses import dataclass

from gde.data.figure import Figure
from gde.reporting.drawing import svg

NARROW = 430
"""Greatest width in pixels of a figure that shares a row."""
WIDTH = re.compile(r'<svg[^>]*\bwidth="([\d.]+)"')


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure as the page shows it."""

    figure: Figure
    svg: str

    @property
    def wide(self) -> bool:
        """Whether it needs a row for itself."""
        found = WIDTH.match(self.svg)
        return found is not None and float(found[1]) > NARROW


def picture(figure: Figure) -> Picture:
    """Draw a figure.

    Raises:
        ValueError: the specification is no valid Vega-Lite.
    """
    return Picture(figure=figure, svg=svg(figure))
