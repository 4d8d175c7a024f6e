"""ALFWorld's official games in a folder."""

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from gde.errors import GdeError
from gde_plugins.text_worlds.config import AlfworldConfig

RELEASE = "json_2.1.1"
MADE = "made"
"""The default split without official games."""
OFFICIAL = "valid_seen"
"""The default split with official games."""


def split_folder(config: AlfworldConfig) -> Path | None:
    """Return the folder of the split; None for generated games.

    Raises:
        GdeError: there is no such folder.
    """
    data = config.data or os.environ.get("ALFWORLD_DATA")
    has_nothing_official = config.split is None and data is None
    if config.split == MADE or has_nothing_official:
        return None

    split = config.split or OFFICIAL
    if data is None:
        raise GdeError(
            f"alfworld: env.split={split} needs the official games: set env.data or ALFWORLD_DATA to their folder, or "
            f"play generated games with env.split={MADE}"
        )

    # `data` may also be the folder of the release itself.
    folder = Path(data) / RELEASE / split
    for place in (folder, Path(data) / split):
        if place.is_dir():
            return place
    raise GdeError(
        f"alfworld: wanted the games of {split} in {folder}, which does not exist: set env.data or env.split"
    )


def at_hand() -> list[str]:
    """Describe the official games on this machine, or their absence."""
    data = os.environ.get("ALFWORLD_DATA")
    if not data:
        return ["No official games in ALFWORLD_DATA; alfworld generates games."]
    files = list(Path(data).rglob("game.tw-pddl"))
    return [f"{len(files)} official games in {data}"]


def games(folder: Path, task_type: str | None) -> dict[str, Mapping[str, Any]]:
    """Find the solvable games under a folder, in the order of names.

    A game's name has a digest of its content, so that a changed game is another world.

    Raises:
        GdeError: there is none, or a file is no game.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for file in sorted(folder.rglob("game.tw-pddl")):
        task = _read(file.with_name("traj_data.json"))
        if task_type is not None and task.get("task_type") != task_type:
            continue
        if _read(file).get("solvable"):
            name = str(file.parent.relative_to(folder))
            digest = sha256(file.read_bytes()).hexdigest()[:8]
            found[f"{name} {digest}"] = {"file": str(file), "id": name}

    if not found:
        wanted = task_type or "any type"
        raise GdeError(
            f"alfworld: no solvable game of {wanted} in {folder}: wanted files TASK/TRIAL/game.tw-pddl"
        )
    return found


def _read(file: Path) -> dict[str, Any]:
    try:
        parsed = json.loads(file.read_bytes())
    except OSError as error:
        raise GdeError(
            f"alfworld: {file}: {error.strerror}; a game needs its traj_data.json beside it"
        ) from error
    except ValueError as error:
        raise GdeError(f"alfworld: {file}: wanted JSON, got {error}") from error
    if not isinstance(parsed, dict):
        raise GdeError(
            f"alfworld: {file}: wanted a JSON object, got {type(parsed).__name__}"
        )
    return parsed
