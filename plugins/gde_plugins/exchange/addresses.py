"""Files and folders at an address, e.g. s3://BUCKET/NAME, by the file systems of fsspec."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from gde.errors import ConfigError, GdeError, needing
from gde.files import is_address

LOCAL = ("file", "local")
"""Addresses of this machine, which are paths."""


def out(meaning: str) -> Any:
    """The option that names what is to be written, here or at an address."""
    return typer.Option("--out", metavar="PATH|ADDRESS", help=meaning)


def named(path: Path) -> str:
    """A path, or an address as it was given: a path has one slash of the two."""
    if not is_address(path):
        return str(path)
    scheme, *rest = path.parts
    return f"{scheme}//{'/'.join(rest)}"


@contextmanager
def sending(out: Path) -> Iterator[Path]:
    """A local path to write; at the end it is sent, if `out` is an address.

    What could not be sent whole is taken away again.

    Raises:
        ConfigError: something is there already, or the address cannot be written.
    """
    if not is_address(out):
        yield out
        return
    with _told(out):
        files, place = _opened(out)
        if files.exists(place):
            raise ConfigError(f"{named(out)}: File exists; choose another name")
    with TemporaryDirectory(prefix="gde-") as folder:
        written = Path(folder) / out.name
        yield written
        with _told(out):
            try:
                files.put(str(written), place, recursive=written.is_dir())
            except BaseException:
                with suppress(Exception):
                    files.rm(place, recursive=True)
                raise


@contextmanager
def fetched(source: Path) -> Iterator[Path]:
    """A local copy of a file or folder; the path itself, if it is no address.

    Raises:
        ConfigError: the address cannot be read.
    """
    if not is_address(source):
        yield source
        return
    with TemporaryDirectory(prefix="gde-") as folder:
        copy = Path(folder) / source.name
        with _told(source):
            files, place = _opened(source)
            files.get(place, str(copy), recursive=files.isdir(place))
        yield copy


def _opened(path: Path) -> tuple[Any, str]:
    """The file system of an address, and the place in it."""
    if path.parts[0].rstrip(":") in LOCAL:
        raise ConfigError(f"{path}: wanted a path, or the address of another place")
    with needing(named(path), "fsspec", "fsspec"):
        from fsspec.core import url_to_fs
    files, place = url_to_fs(named(path))
    return files, place


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """A failure of the file system in one line."""
    try:
        yield
    except GdeError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigError(f"{named(path)}: {reason}") from error
