"""Devices and pipes that a plan names.

A part that reads its files would wait for ever, or take all memory.
"""

from collections.abc import Iterator
from pathlib import Path

from gde.data.json import Json
from gde.errors import GdeError


def refuse_special_files(label: str, config: Json) -> None:
    """Refuse a configuration that names one.

    Args:
        label: of the part.
        config: its values.

    Raises:
        GdeError: it does.
    """
    for text in _texts(config):
        # Models are named with their kind, e.g. hf:PATH.
        path = Path(text.rpartition(":")[2])
        try:
            is_special = path.exists() and not (path.is_file() or path.is_dir())
        except (OSError, ValueError):
            continue
        if is_special:
            raise GdeError(
                f"{label}: the run was made elsewhere and names {path}, which is no plain file: do not resume it"
            )


def _texts(value: Json) -> Iterator[str]:
    """The texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
