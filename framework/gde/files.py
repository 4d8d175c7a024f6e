"""Files and folders that are written completely or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp, mkstemp

from gde.errors import ConfigError, RunFailed

PRIVATE = 0o077


def local(path: Path) -> Path:
    """A path that is to be written, if it is no address such as s3://BUCKET.

    Raises:
        ConfigError: it is one.
    """
    if path.parts and path.parts[0].endswith(":"):
        raise ConfigError(
            f"{path}: wanted a local path, got an address; write here, then copy it"
        )
    return path


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
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `out` at the end.

    After a failure it is deleted.

    Raises:
        ConfigError: `out` exists, or cannot be made; nothing is left behind.
    """
    if out.exists() or out.is_symlink():
        raise ConfigError(f"--out {out} exists: name another folder")
    if not is_utf8(out):
        raise ConfigError(
            f"--out {str(out)!a} has bytes that are no UTF-8: name another folder"
        )
    # Before hours of work that could not be kept.
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(mkdtemp(dir=out.parent, prefix=f".{out.name[:40]}."))
    except OSError as error:
        raise ConfigError(
            f"--out {out} cannot be made: {error.strerror}; name another folder"
        ) from error
    try:
        yield unfinished
        unfinished.chmod(0o777 & ~umask())
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def is_utf8(path: Path) -> bool:
    """Whether files of JSON and TOML can name the path."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def umask() -> int:
    """The rights that new files of this process do not give."""
    # It can only be read by setting it. For a moment, new files of other threads are
    # private.
    mask = os.umask(PRIVATE)
    os.umask(mask)
    return mask
