"""Files that the plan of a run from elsewhere names: parts read those alone that the
caller names too.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gde.data.json import Json
from gde.errors import GdeError


def named_files(config: Json) -> Iterator[Path]:
    """The files and folders of this machine that a configuration names."""
    for text in _texts(config):
        # Models are named with their kind, e.g. hf:PATH.
        pieces = text.split(":")
        for first in range(len(pieces)):
            name = ":".join(pieces[first:])
            if name:
                yield from _there(name)


def _there(name: str) -> Iterator[Path]:
    """The files of a name: as it stands, and with "~" as the home folder."""
    literal = Path(name)
    # Of an unknown user, there is no home folder.
    with suppress(RuntimeError):
        expanded = literal.expanduser()
        if expanded != literal:
            yield from _if_there(expanded)
    yield from _if_there(literal)


def _if_there(path: Path) -> Iterator[Path]:
    # Not every text can name a file.
    with suppress(OSError, ValueError):
        if path.exists():
            yield path.resolve()


def resolved(paths: Iterable[Path | str]) -> list[str]:
    """Paths that parts may read, as they are kept with a run.

    Raises:
        GdeError: a folder has a link out of all of them, which parts would follow.
    """
    named = [Path(os.path.realpath(Path(path).expanduser())) for path in paths]
    for folder in named:
        for link in _links(folder):
            target = Path(os.path.realpath(link))
            if not any(target.is_relative_to(one) for one in named):
                raise GdeError(
                    f"{link} leads to {target}: remove the link, or add --read {target}"
                )
    return [str(path) for path in named]


def _links(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink():
                yield path


def refuse_unnamed(label: str, config: Json, named: Collection[str]) -> None:
    """Refuse a configuration that names files of this machine.

    Args:
        label: of the part.
        config: its values.
        named: files and folders that the caller lets it read.

    Raises:
        GdeError: it names another one, or a device or a pipe, with which a part would
        wait for ever or take all memory.
    """
    for path in named_files(config):
        if not (path.is_file() or path.is_dir()):
            raise GdeError(
                f"{label}: the run was made elsewhere and names {path}, which is no plain file: do not resume it"
            )
        if not any(path.is_relative_to(one) for one in named):
            raise GdeError(
                f"{label}: the run was made elsewhere and would read {path}: if you want that, resume or rescore it"
                f" with --read {path} (in Python: reads=[{str(path)!r}])"
            )


def _texts(value: Json) -> Iterator[str]:
    """The texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
