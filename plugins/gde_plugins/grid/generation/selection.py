"""Selection of a file's grids by their labels."""

import json
from collections.abc import Sequence
from contextlib import suppress

from gde.data.json import Labels
from gde.errors import ConfigError, UnknownName
from gde_plugins.grid.grid import Origin


def read_selection(text: str) -> Labels:
    """`"size=7 transform=none"` as {"size": 7, "transform": "none"}.

    Raises:
        ValueError: what was wanted.
    """
    pairs = [pair.partition("=") for pair in text.split()]
    if not pairs or "," in text or not all(name and value for name, _, value in pairs):
        raise ValueError("LABEL=VALUE, several separated by spaces, e.g. size=7 density=0.5")
    return {name: _value(value) for name, _, value in pairs}


def select(origins: Sequence[Origin], wanted: Labels, path: str) -> tuple[Origin, ...]:
    """The grids that have all these labels; `path` is the file that they are from.

    Raises:
        UnknownName: a label that no grid has.
        ConfigError: no grid has all of them.
    """
    known = {label for origin in origins for label in origin.labels}
    for name in wanted:
        if name not in known:
            raise UnknownName(f"label of env.where in {path}", name, known)
    chosen = tuple(origin for origin in origins if wanted.items() <= origin.labels.items())
    if not chosen:
        text = " ".join(f"{name}={value}" for name, value in wanted.items())
        raise ConfigError(f"env.where: wanted labels that a grid of {path} has, got {text}, which none has")
    return chosen


def _value(text: str) -> str | int | float | bool:
    with suppress(json.JSONDecodeError):
        if isinstance(value := json.loads(text), int | float):
            return value
    return text
