"""Runs as a dataset for Hugging Face's hub, or for any other place.

`runs/` holds the run folders, `turns/` a Parquet table of each, `README.md` the card and
`checksums.json` the SHA-256 of every other file.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import Any

from gde.errors import ConfigError, RunFolderError
from gde.files import CONTEST, is_plain, new_folder
from gde.runs.verifying import verify
from gde.store.folder import RunFolder
from gde.studies.study import STUDY_TABLES
from gde_plugins.exchange.exports import export_file
from gde_plugins.pages.library import RunState, library
from gde_plugins.pages.templates import template

CARD = "README.md"
CHECKSUMS = "checksums.json"
RUNS = "runs"
TURNS = "turns"
HERE = "gde_plugins.exchange.site"
INDEX = "index.html"
DATASET = "dataset"
TAKEN = (INDEX, DATASET)
"""What lies beside the folders of the runs."""
UNFIT = re.compile(r'[<>:"|?*\\\n]')
"""Characters that the hub, Markdown tables or other systems refuse in a name."""
MARKS = (CONTEST, STUDY_TABLES)
AGAIN = "get it again from where it is published"
LIMIT = 2**24
"""Bytes of a list of checksums, at most."""


def collected(sources: Sequence[Path]) -> dict[str, Path]:
    """The runs in some folders by their future names, sorted.

    Raises:
        ConfigError: two runs would have one name, or one the name of a file of the site.
        RunFolderError: a folder holds no run, or one that is not finished.
    """
    found: dict[str, Path] = {}
    for source in sources:
        base = source.resolve().name
        if base.casefold() in TAKEN or UNFIT.search(base):
            raise ConfigError(
                f"{source}: rename the folder, {base!r} cannot be published"
            )
        runs = library(source)
        if not runs:
            raise RunFolderError(f"{source} is no run folder and holds none")
        for below, path in runs.items():
            name = base if path == source else f"{base}/{below}"
            if _config_name(name) in {_config_name(each) for each in found}:
                raise ConfigError(
                    f"two runs are called {name}: rename the folder of one of them"
                )
            RunFolder.open(path).read_result()
            found[name] = path
    return dict(sorted(found.items()))


def _config_name(name: str) -> str:
    """The name of a run's table on Hugging Face's hub, which has no slashes."""
    return name.replace("/", ".")


def copy_marks(sources: Sequence[Path], folder: Path) -> None:
    """Copy the files that make a contest or a study of several runs."""
    for source in sources:
        _copy_below(source, folder / source.resolve().name)


def _copy_below(source: Path, folder: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.name in MARKS and path.is_file() and not path.is_symlink():
            copy = folder / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def write_dataset(
    runs: Mapping[str, Path], folder: Path, states: Sequence[RunState], licence: str
) -> None:
    """Write tables, card and checksums of the runs that `folder` holds.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    for name, path in runs.items():
        table = folder / TURNS / f"{name}.parquet"
        table.parent.mkdir(parents=True, exist_ok=True)
        export_file(path, "parquet", table)

    configs = {_config_name(name): f"{TURNS}/{name}.parquet" for name in runs}
    card = template("card.md.j2", HERE).render(
        licence=licence, configs=configs, states=states
    )
    (folder / CARD).write_text(card, encoding="utf-8")
    sums = {name: _sha256(folder / name) for name in sorted(_files(folder))}
    text = json.dumps(sums, indent=1)
    (folder / CHECKSUMS).write_text(f"{text}\n", encoding="utf-8")


def import_dataset(dataset: Path, out: Path) -> dict[str, Path]:
    """Copy the runs of a dataset to a new folder, after everything was checked.

    Returns:
        The new run folders by name.

    Raises:
        RunFolderError: `out` exists.
        ConfigError: the dataset is not as it was published.
    """
    check(dataset)
    runs = library(dataset / RUNS)
    if not runs:
        raise ConfigError(f"{dataset} has no runs in {RUNS}/")
    for path in runs.values():
        for fault in verify(path):
            raise ConfigError(f"{path}: {fault}; {AGAIN}")

    with new_folder(out) as unfinished:
        for name, path in sorted(runs.items()):
            RunFolder.open(path).copy_record(unfinished / name)
        _copy_below(dataset / RUNS, unfinished)
    return {name: out / name for name in sorted(runs)}


def check(dataset: Path) -> None:
    """Refuse a dataset that is not made of exactly the listed files.

    Raises:
        ConfigError: a file is missing, added, altered or no plain file.
    """
    wanted = _listed(dataset / CHECKSUMS)
    found = {*_files(dataset)} - {CHECKSUMS}
    for name in sorted(found ^ wanted.keys()):
        what = "is not listed" if name in found else "is missing"
        raise ConfigError(f"{dataset / name} {what} in {CHECKSUMS}: {AGAIN}")
    for name, digest in wanted.items():
        if _sha256(dataset / name) != digest:
            raise ConfigError(f"{dataset / name} was altered: {AGAIN}")


def _listed(path: Path) -> Mapping[str, str]:
    wanted = f"{path}: wanted a list of files with their SHA-256"
    try:
        if path.is_symlink() or path.stat().st_size > LIMIT:
            raise ConfigError(f"{wanted} in a plain file")
        listed: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{wanted}, got {error}") from None
    if not isinstance(listed, dict) or not listed:
        raise ConfigError(wanted)
    for name, digest in listed.items():
        place = PurePosixPath(name)
        is_below = not place.is_absolute() and ".." not in place.parts
        if not is_below or str(place) != name or not isinstance(digest, str):
            raise ConfigError(f"{wanted}, got {name!r}")
    return listed


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of all files below a folder.

    Raises:
        ConfigError: a link or a special file.
    """
    for path in folder.rglob("*"):
        if not is_plain(path):
            raise ConfigError(f"{path}: wanted plain files and folders alone")
        if path.is_file():
            yield path.relative_to(folder).as_posix()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
