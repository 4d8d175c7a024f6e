"""Files and folders that are written completely or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EEXIST, ENOTEMPTY
from pathlib import Path
from tempfile import mkdtemp, mkstemp

from gde.errors import ConfigError, RunFailed, RunFolderError

PRIVATE = 0o077
PLAN = "plan.toml"
"""The file by which a folder is a run's."""
CONTEST = "contest.toml"
"""The file in a folder that holds several runs."""


def is_address(path: Path) -> bool:
    """Whether it names another file system, such as s3://BUCKET."""
    return bool(path.parts) and path.parts[0].endswith(":")


def local(path: Path) -> Path:
    """A path that is to be written, if it is no address.

    Raises:
        ConfigError: it is one.
    """
    if is_address(path):
        raise ConfigError(
            f"{path}: wanted a local path, got an address; write here, then copy it"
        )
    return path


def is_plain(path: Path) -> bool:
    """Whether it is a file or folder, and no link or special file."""
    return not path.is_symlink() and (path.is_file() or path.is_dir())


@contextmanager
def replacing(path: Path, then: str = "run the command again") -> Iterator[Path]:
    """A file to write to, which replaces `path` at the end.

    After a failure it is deleted.

    A reader, or a later process, sees the old file or the new one and nothing between.
    A link in its place is replaced, not followed: a folder from elsewhere may point
    anywhere.

    Args:
        path: of the file; folders that it needs are made.
        then: what to do after making room or giving access, for the message.

    Raises:
        RunFailed: it cannot be written; the old file is as it was.
    """
    unfinished: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        unfinished = Path(name)
        yield unfinished
        unfinished.chmod(0o666 & ~umask())
        unfinished.replace(path)
    except OSError as error:
        reason = (
            f"{error.strerror or error}; free disk space or give access, then {then}"
        )
        raise RunFailed(f"cannot write {path}: {reason}") from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file of a run folder so that it is there completely or not at all.

    Raises:
        RunFailed: it cannot be written; the old file is as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    with replacing(path, f"resume with `gde resume {path.parent}`") as unfinished:
        unfinished.write_bytes(data)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which gets its name at the end.

    After a failure it is deleted, and a process that is killed before leaves nothing
    that could be taken for a whole one.

    Raises:
        RunFolderError: it exists, or cannot be made.
        ConfigError: it is an address.
    """
    local(path)
    if path.exists() or path.is_symlink():
        raise taken(path)
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RunFolderError(
            f"{str(path)!a} has bytes that are no UTF-8: choose another folder"
        ) from None
    # Before hours of work that could not be kept.
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The beginning of the name may be as long as a name can be.
        unfinished = Path(mkdtemp(dir=path.parent, prefix=f".{path.name[:40]}."))
    except OSError as error:
        raise cannot_make(path, error) from error
    try:
        yield unfinished
        _name(unfinished, path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _name(unfinished: Path, path: Path) -> None:
    unfinished.chmod(0o777 & ~umask())
    try:
        unfinished.rename(path)
    except OSError as error:
        # Another process was faster.
        if error.errno in (ENOTEMPTY, EEXIST):
            raise taken(path) from error
        raise cannot_make(path, error) from error


def taken(path: Path) -> RunFolderError:
    """The error of an occupied path, with the command to resume a run there."""
    resumable = any((path / name).is_file() for name in (PLAN, CONTEST))
    instead = f", or resume it with `gde resume {path}`" if resumable else ""
    return RunFolderError(f"{path} exists: choose another folder{instead}")


def cannot_make(path: Path, error: Exception) -> RunFolderError:
    """The error of a folder that cannot be made, with the blocking one."""
    reason = error.strerror if isinstance(error, OSError) else error
    above = getattr(error, "filename", None) or path
    where = f" ({above})" if Path(above) in path.parents else ""
    return RunFolderError(
        f"cannot make the folder {path}: {reason}{where}; choose another one"
    )


def umask() -> int:
    """The rights that new files of this process do not give."""
    # It can only be read by setting it. For a moment, new files of other threads are
    # private.
    mask = os.umask(PRIVATE)
    os.umask(mask)
    return mask
