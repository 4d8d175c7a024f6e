"""Observations of Gymnasium as text that can be read."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
PAINTED = re.compile(r"\x1b\[(?P<codes>[\d;]*)m(?P<text>.*?)\x1b\[0?m", re.DOTALL)
CODE = re.compile(r"\x1b\[[\d;]*[A-Za-z]")


def readable(observation: Any) -> str:
    """An element of any space as text.

    Numbers and texts stay as they are. Arrays have one row a line, with commas in a
    cell of several values. Members of a Dict or Tuple stand one below the other, under
    their names or places.
    """
    match observation:
        case str():
            return observation
        case Mapping():
            return "\n".join(
                _member(str(name), each) for name, each in observation.items()
            )
        case tuple() | list():
            return "\n".join(
                _member(str(place), each) for place, each in enumerate(observation)
            )
        case np.ndarray():
            return _array(observation)
        case float() | np.floating():
            return f"{observation:.4g}"
        case _:
            return str(observation)


def unpainted(drawing: str) -> str:
    """A drawing for terminals without its colours.

    Text with a background is `[in brackets]`; coloured text names its colour, as `<blue
    R>`.
    """
    plain = PAINTED.sub(
        lambda found: _unpainted(found["codes"], found["text"]), drawing
    )
    return CODE.sub("", plain).strip("\n")


def _array(values: NDArray[Any]) -> str:
    """One line a row; of more than three dimensions one block a slice."""
    if values.ndim <= 1:
        return " ".join(map(readable, values.ravel()))
    if values.ndim == 2:
        return "\n".join(map(_array, values))
    if values.ndim > 3:
        return "\n\n".join(map(_array, values))

    lines = []
    for row in values:
        cells = [",".join(map(readable, cell)) for cell in row]
        lines.append(" ".join(cells))
    return "\n".join(lines)


def _member(name: str, value: Any) -> str:
    text = readable(value)
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def _unpainted(codes: str, text: str) -> str:
    """Replace colour codes: 30 to 37 colour the text, 40 to 47 its background."""
    numbers = [int(code) for code in codes.split(";") if code]
    if any(40 <= number < 48 for number in numbers):
        return f"[{text}]"
    for number in numbers:
        if 30 <= number < 38:
            return f"<{COLOURS[number - 30]} {text}>"
    return text
