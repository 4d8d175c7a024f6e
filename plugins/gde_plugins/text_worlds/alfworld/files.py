"""ALFWorld's official games in a folder."""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from gde.errors import GdeError
from gde.foreign import Account, ForeignFile
from gde_plugins.text_worlds.config import AlfworldConfig
from gde_plugins.text_worlds.environment import Listed

RELEASE = "json_2.1.1"
DATA, FILE = "traj_data.json", "game.tw-pddl"
"""The files of a trial."""
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
    files = list(Path(data).rglob(FILE))
    return [f"{len(files)} official games in {data}"]


class _Trial(BaseModel):
    task_type: str = ""


class _Game(BaseModel):
    solvable: bool = False


TRIAL, GAME = TypeAdapter(_Trial), TypeAdapter(_Game)


def games(folder: Path, task_type: str | None) -> Listed:
    """Find the solvable games under a folder, in the order of names.

    A game's name has a digest of its content, so that a changed game is another world.
    Trials without one are counted, and those with the game of another.

    Raises:
        GdeError: there is none, or a file is no game.
    """
    found: dict[str, Mapping[str, Any]] = {}
    left_out: list[tuple[str, str]] = []
    digests: set[str] = set()
    alike: list[str] = []
    # A trial has both files, or one of them.
    trials = {file.parent for name in (DATA, FILE) for file in folder.rglob(name)}
    for trial in sorted(trials):
        name = trial.relative_to(folder).as_posix()
        record, game = (ForeignFile("env.data", trial / each) for each in (DATA, FILE))
        if not record.path.is_file():
            left_out.append((f"without {DATA}", name))
            continue
        if task_type not in (None, record.valid(TRIAL, record.json()).task_type):
            continue
        if not game.path.is_file():
            left_out.append(("without a game file", name))
        elif not game.valid(GAME, game.json()).solvable:
            left_out.append(("unsolvable", name))
        else:
            digest = sha256(game.path.read_bytes()).hexdigest()[:8]
            found[f"{name} {digest}"] = {"file": str(game.path), "id": name}
            if digest in digests:
                alike.append(name)
            digests.add(digest)

    told = [*Account(len(found), left_out).told(f"{folder.name}, trials")]
    if alike:
        n = len(alike)
        told.append(f"{folder.name}, trials with the game of another: {n} ({alike[0]})")
    if not found:
        wanted = "; ".join([task_type or "any type", *told])
        raise GdeError(
            f"alfworld: no solvable game in {folder}: wanted files TASK/TRIAL/{FILE} of {wanted}"
        )
    return Listed(found, tuple(told))
