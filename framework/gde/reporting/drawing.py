"""What figures have in common: their style, the fields of their rows, and how they become pictures."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.result import Measurement
from gde.reporting.wording import symbol

STYLE: Mapping[str, Json] = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelLimit": 260,
        "labelColor": "#7a838b",
        "titleColor": "#7a838b",
        "gridColor": "#8888",
        "gridOpacity": 0.35,
    },
    "legend": {"labelColor": "#7a838b", "titleColor": "#7a838b"},
    "header": {"labelColor": "#7a838b", "titleColor": "#7a838b"},
    "title": {"color": "#7a838b"},
}
"""Greys that can be read on light and on dark paper."""
BLUE = "#2b7fc4"
NARROW = 430
"""Pixels that stand beside others in a row."""
PICTURES_OF_CONTROLS = 0x2400
"""Where Unicode has a visible sign for each of the first 32 characters, e.g. ␛ for escape."""
NO_XML = {
    **{code: PICTURES_OF_CONTROLS + code for code in range(32) if chr(code) not in "\t\n\r"},
    **dict.fromkeys([*range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD),
}
"""A visible stand-in for every character that XML 1.0 forbids: given one, the library that draws ends the process."""
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
    """The figure, drawn.

    Raises:
        ValueError: the specification is no Vega-Lite that can be drawn.
    """
    return Picture(figure=figure, svg=svg(figure))


def svg(figure: Figure) -> str:
    """The figure as inline SVG. Equal figures give equal text.

    Raises:
        ValueError: the specification is no Vega-Lite that can be drawn.
    """
    import vl_convert

    spec = {**figure.spec, "config": {**STYLE, **_config(figure.spec)}}
    drawn: str = vl_convert.vegalite_to_svg(json.dumps(_drawable(spec)))
    drawn = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawn)  # of no use within a page
    # Ids are counted on from picture to picture: they get names that are the figure's own.
    names = {name: index for index, name in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', drawn)))}
    prefix = re.sub(r"\W+", "-", figure.title.lower())
    return re.sub(
        r'(\bid="|url\(#|href="#)([^")]+)',
        lambda found: f"{found[1]}{prefix}-{names[found[2]]}" if found[2] in names else found[0],
        drawn,
    )


def numbers(one: Measurement) -> dict[str, Any]:
    """Value and interval as the fields of a row; without an interval its bounds are null, which is not drawn."""
    low, high = one.interval or (None, None)
    return {"value": one.value, "low": low, "high": high}


def unit_title(unit: str) -> str | None:
    """The title of an axis; per cent is at its numbers."""
    return None if unit == "share" else symbol(unit) or None


def _drawable(value: Json) -> Json:
    """The same with texts, names of fields included, that XML can hold."""
    if isinstance(value, str):
        return value.translate(NO_XML)
    if isinstance(value, Mapping):
        return {name.translate(NO_XML): _drawable(each) for name, each in value.items()}
    return [*map(_drawable, value)] if isinstance(value, Sequence) else value


def _config(spec: Mapping[str, Json]) -> Mapping[str, Json]:
    config = spec.get("config", {})
    return config if isinstance(config, Mapping) else {}
