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
    """An element of any space: numbers and texts as they are, arrays row by row with commas in a cell of several
    values, members of a Dict or Tuple one below the other under their names or places."""
    match observation:
        case str():
            return observation
        case Mapping():
            return "\n".join(_member(str(name), each) for name, each in observation.items())
        case tuple() | list():
            return "\n".join(_member(str(place), each) for place, each in enumerate(observation))
        case np.ndarray():
            return _array(observation)
        case float() | np.floating():
            return f"{observation:.4g}"
        case _:
            return str(observation)


def unpainted(drawing: str) -> str:
    """A drawing for terminals without its colours: what has a background is `[in brackets]`, what has a colour of its
    own says which, as `<blue R>`."""
    plain = PAINTED.sub(lambda found: _told(found["codes"], found["text"]), drawing)
    return CODE.sub("", plain).strip("\n")


def _array(values: NDArray[Any]) -> str:
    """One line a row; of more than three dimensions one block a slice."""
    if values.ndim <= 1:
        return " ".join(map(readable, values.ravel()))
    if values.ndim == 3:
        return "\n".join(" ".join(",".join(map(readable, cell)) for cell in row) for row in values)
    return ("\n" if values.ndim == 2 else "\n\n").join(map(_array, values))


def _member(name: str, value: Any) -> str:
    text = readable(value)
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def _told(codes: str, text: str) -> str:
    numbers = [int(code) for code in codes.split(";") if code]
    if any(40 <= number < 48 for number in numbers):
        return f"[{text}]"
    colours = [COLOURS[number - 30] for number in numbers if 30 <= number < 38]
    return f"<{colours[0]} {text}>" if colours else text
