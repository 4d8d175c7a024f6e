"""ALFWorld's official games, as they lie in a folder."""

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from gde.errors import GdeError
from gde_plugins.text_worlds.config import AlfworldConfig

RELEASE = "json_2.1.1"
MADE, OFFICIAL = "made", "valid_seen"
"""The splits that are taken where none is named."""


def split_folder(config: AlfworldConfig) -> Path | None:
    """The folder of the split that is asked for; None where games are to be made.

    Raises:
        GdeError: there is no such folder.
    """
    data = config.data or os.environ.get("ALFWORLD_DATA")
    if config.split == MADE or (config.split is None and data is None):
        return None
    split = config.split or OFFICIAL
    if data is None:
        raise GdeError(
            f"alfworld: env.split={split} is one of the official games, and neither env.data nor ALFWORLD_DATA says "
            f"where they are; env.split={MADE} plays games that are made"
        )
    places = [Path(data) / RELEASE / split, Path(data) / split]
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise GdeError(
            f"alfworld: wanted the games of {split} in {places[0]}, which is no folder: set env.data or env.split"
        )
    return found


def at_hand() -> list[str]:
    """Whether the official games are on this machine."""
    data = os.environ.get("ALFWORLD_DATA")
    if not data:
        return ["ALFWORLD_DATA names no official games: games are made, which needs none"]
    return [f"{sum(1 for _ in Path(data).rglob('game.tw-pddl'))} official games in {data}"]


def games(folder: Path, task_type: str | None) -> dict[str, Mapping[str, Any]]:
    """The solvable games under a folder by name, in the order of names: path and digest of the content.

    Raises:
        GdeError: there is none, or a file is no game.
    """
    found = dict(_games(folder, task_type))
    if not found:
        wanted = task_type or "any type"
        raise GdeError(f"alfworld: no solvable game of {wanted} in {folder}: wanted TASK/TRIAL/game.tw-pddl in it")
    return found


def _games(folder: Path, task_type: str | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file in sorted(folder.rglob("game.tw-pddl")):
        content = file.read_bytes()
        task = _read(file.with_name("traj_data.json"))
        if task_type in (None, task.get("task_type")) and _parsed(content, file).get("solvable"):
            name = str(file.parent.relative_to(folder))
            yield f"{name} {sha256(content).hexdigest()[:8]}", {"file": str(file), "id": name}


def _read(file: Path) -> dict[str, Any]:
    try:
        return _parsed(file.read_bytes(), file)
    except OSError as error:
        raise GdeError(f"alfworld: {file}: {error.strerror}; a game needs its traj_data.json beside it") from error


def _parsed(content: bytes, file: Path) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except ValueError as error:
        raise GdeError(f"alfworld: {file}: wanted JSON, got what breaks off or is something else ({error})") from error
    if not isinstance(parsed, dict):
        raise GdeError(f"alfworld: {file}: wanted a JSON object, got {type(parsed).__name__}")
    return parsed
