"""The style that all figures share, and their drawing as inline SVG."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.reporting.wording import symbol

STYLE: Mapping[str, Json] = {
    "background": None,
    # What vl_convert measures text with: in a wider font labels would be cut off.
    "font": "Arial, Helvetica, Liberation Sans, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelLimit": 260,
        "labelFlush": False,
        "labelColor": "#7a838b",
        "titleColor": "#7a838b",
        "gridColor": "#8888",
        "gridOpacity": 0.35,
    },
    "legend": {"labelColor": "#7a838b", "titleColor": "#7a838b"},
    "header": {"labelColor": "#7a838b", "titleColor": "#7a838b"},
    "title": {"color": "#7a838b"},
}
"""Greys that are legible on light and on dark backgrounds."""
BLUE = "#2b7fc4"
NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 forbids: vl_convert ends the process when it gets one."""


def svg(figure: Figure) -> str:
    """Draw a figure as inline SVG. Equal figures give equal text.

    Raises:
        GdeError: the specification is no valid Vega-Lite, or fetches something.
    """
    import vl_convert

    # A figure's own style comes last and wins.
    style = dict(STYLE)
    own_style = figure.spec.get("config", {})
    if isinstance(own_style, Mapping):
        style |= own_style
    spec = {**figure.spec, "config": style}
    text = json.dumps(_without_forbidden_characters(spec))
    # A folder from elsewhere may have written the figure: it fetches nothing.
    try:
        drawn: str = vl_convert.vegalite_to_svg(text, allowed_base_urls=[])
    except ValueError as error:
        said = " ".join(str(error).split())
        raise GdeError(f"figure {figure.title!r} cannot be drawn: {said}") from error

    # Inline SVG needs no namespaces.
    drawn = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawn)

    # The library numbers its ids through the whole process. New ids make the text
    # depend on the figure alone.
    prefix = re.sub(r"\W+", "-", figure.title.lower())
    new_ids: dict[str, str] = {}
    for name in re.findall(r'\bid="([^"]+)"', drawn):
        new_ids.setdefault(name, f"{prefix}-{len(new_ids)}")

    def renamed(found: re.Match[str]) -> str:
        before, name = found.groups()
        return before + new_ids.get(name, name)

    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)', renamed, drawn)


def svg_file(figure: Figure) -> str:
    """Draw a figure as the content of an SVG file.

    Raises:
        ValueError: as `svg`.
    """
    namespace = '<svg xmlns="http://www.w3.org/2000/svg" '
    return svg(figure).replace("<svg ", namespace, 1) + "\n"


def numbers(one: Measurement) -> dict[str, Any]:
    """Value and interval as fields of a row.

    Without an interval its bounds are null, and nothing is drawn.
    """
    low, high = one.interval or (None, None)
    return {"value": one.value, "low": low, "high": high}


def unit_title(unit: str) -> str | None:
    """The title of an axis; None for a share, whose numbers have the per cent sign."""
    if unit == "share":
        return None
    return symbol(unit) or None


def xml_text(text: str) -> str:
    """The text with a visible sign for each character that XML forbids."""
    return NO_XML.sub(_visible, text)


def _without_forbidden_characters(value: Json) -> Json:
    """Replace the characters that XML forbids, also in names of fields."""
    if isinstance(value, str):
        return xml_text(value)
    if isinstance(value, Mapping):
        cleaned = {}
        for name, each in value.items():
            cleaned[xml_text(name)] = _without_forbidden_characters(each)
        return cleaned
    if isinstance(value, Sequence):
        return [_without_forbidden_characters(each) for each in value]
    return value


def _visible(found: re.Match[str]) -> str:
    """A visible sign for a character, e.g. \u241b for escape."""
    code = ord(found[0])
    return chr(0x2400 + code) if code < 32 else "\ufffd"
