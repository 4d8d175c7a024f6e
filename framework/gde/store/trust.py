"""The user's list of trusted runs: those whose plan.toml gde may obey.

An entry is a file of its own, named by the digest of the plan.toml, which holds the
run's id. So a run stays trusted when its folder is moved or copied, and no longer when
its plan is edited. It also keeps how its user ran it last, which no folder says.
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from os.path import getmtime
from pathlib import Path
from tempfile import mkstemp
from typing import Any
from warnings import warn

import tomli_w

from gde.data.how import How
from gde.errors import ConfigError, RunFolderError
from gde.files import PLAN
from gde.request.howfile import how_of, how_tables, read_settings
from gde.request.settings import read_toml

STATE = "GDE_STATE"
"""The environment variable that names another place for the list."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A trusted run."""

    plan: str
    """The text of its plan.toml."""
    path: str
    """Where its folder was last."""
    day: str
    """When it was played or trusted."""
    how: How
    """How its user ran it last."""


def is_trusted(folder: Path) -> bool:
    """Whether the user trusts a run folder with the plan.toml that is in it."""
    try:
        if _place(folder).is_file():
            return True
    except OSError:
        return False
    here = folder.resolve()
    folders = read_settings().trusted_folders
    return any(here.is_relative_to(one.resolve()) for one in folders)


def check_trusted(folder: Path) -> None:
    """Refuse to obey the plan of a run that the user does not trust.

    Raises:
        RunFolderError: he does not.
    """
    if not is_trusted(folder):
        raise RunFolderError(
            f"{folder} was not played here by you, or its plan was edited: look at it and trust it with"
            f" `gde trust {folder}`, then run this again"
        )


def trust(folder: Path, plan: bytes, how: How) -> None:
    """Trust a run folder with this plan.toml, which need not be in it yet.

    Raises:
        RunFolderError: the list cannot be written.
    """
    place = _list() / f"{sha256(plan).hexdigest()}.toml"
    tables: dict[str, Any] = {
        "path": str(folder.resolve()),
        "day": datetime.now(UTC).date().isoformat(),
        # For a difference to be shown; whether it can be read is said by who reads it.
        "plan": plan.decode("utf-8", errors="replace"),
        "how": how_tables(how),
    }
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Readable by the user alone, as mkstemp makes it: limits and servers are his.
        handle, name = mkstemp(dir=place.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(tomli_w.dumps(tables))
        Path(name).replace(place)
    except OSError as error:
        raise RunFolderError(
            f"cannot keep the list of trusted runs in {place.parent}: {error.strerror}; name another place in {STATE}"
        ) from error


def trust_new(folder: Path, plan: bytes, how: How) -> None:
    """Trust a run that is about to be played here; warn where that cannot be kept.

    Before its plan.toml is written: else a process that is killed in between makes its
    user's own run a stranger's.
    """
    try:
        trust(folder, plan, how)
    except RunFolderError as error:
        warn(f"{error}; later commands will not trust this run", stacklevel=2)


def entry_of(folder: Path) -> Entry | None:
    """The entry of a run folder with the plan.toml that is in it, if there is one.

    Raises:
        ConfigError: it is damaged.
    """
    place = _place(folder)
    return _read(place) if place.is_file() else None


def earlier_entry(identity: str) -> Entry | None:
    """The latest entry of a run whose plan.toml may have been edited since."""
    for place in sorted(_list().glob("*.toml"), key=getmtime, reverse=True):
        entry = _read(place)
        if f'id = "{identity}"' in entry.plan:
            return entry
    return None


def _read(place: Path) -> Entry:
    tables = read_toml(place, "entry")
    try:
        path, day, plan = tables["path"], tables["day"], tables["plan"]
        how = how_of(tables["how"], str(place))
    except KeyError as error:
        raise ConfigError(f"{place} has no {error}: delete it") from error
    return Entry(plan=str(plan), path=str(path), day=str(day), how=how)


def _place(folder: Path) -> Path:
    """The file of the entry of a folder, whether or not it is there."""
    return _list() / f"{digest_of(folder)}.toml"


def digest_of(folder: Path) -> str:
    """The SHA-256 of a run's plan.toml, in hexadecimal digits."""
    return sha256((folder / PLAN).read_bytes()).hexdigest()


def _list() -> Path:
    if named := os.environ.get(STATE):
        return Path(named) / "trusted"
    # Imported when needed, for the start of every command would wait for it.
    from platformdirs import user_state_path

    return user_state_path("gde") / "trusted"
