"""Selection of a file's grids by their labels."""

import json
from collections.abc import Sequence

from gde.data.json import Labels
from gde.errors import ConfigError, UnknownName
from gde_plugins.grid.grid import Origin


def read_selection(text: str) -> Labels:
    """Read "size=7 transform=none" as {"size": 7, "transform": "none"}.

    Raises:
        ValueError: the expected format.
    """
    selection: dict[str, str | int | float | bool] = {}
    is_complete = True
    for pair in text.split():
        name, _, value = pair.partition("=")
        is_complete = is_complete and bool(name and value)
        selection[name] = _value(value)
    # A comma would separate two values of the setting.
    if not selection or not is_complete or "," in text:
        raise ValueError(
            "LABEL=VALUE, several separated by spaces, e.g. size=7 density=0.5"
        )
    return selection


def select(origins: Sequence[Origin], wanted: Labels, path: str) -> tuple[Origin, ...]:
    """Return the grids that have all these labels; `path` is their file.

    Raises:
        UnknownName: a label that no grid has.
        ConfigError: no grid has all of them.
    """
    known: set[str] = set()
    for origin in origins:
        known.update(origin.labels)
    for name in wanted:
        if name not in known:
            raise UnknownName(f"label of env.where in {path}", name, known)
    chosen = tuple(
        origin for origin in origins if wanted.items() <= origin.labels.items()
    )
    if not chosen:
        text = " ".join(f"{name}={value}" for name, value in wanted.items())
        raise ConfigError(
            f"env.where: wanted labels that a grid of {path} has, got {text}, which none has"
        )
    return chosen


def _value(text: str) -> str | int | float | bool:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, int | float) else text
