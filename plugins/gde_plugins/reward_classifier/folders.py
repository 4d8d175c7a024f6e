"""The folder of a trained model: there completely or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from gde.errors import ConfigError


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to write into, which becomes `out` when the context ends well, and is
    removed when it does not.

    Raises:
        ConfigError: `out` exists, or cannot be made; nothing is left behind.
    """
    if out.exists() or out.is_symlink():
        raise ConfigError(f"--out {out} exists: name another folder")
    try:  # before hours of work that could not be kept
        out.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(mkdtemp(dir=out.parent, prefix=f".{out.name}."))
    except OSError as error:
        raise ConfigError(
            f"--out {out} cannot be made: {error.strerror}; name another folder"
        ) from error
    try:
        yield unfinished
        unfinished.chmod(0o755)
        unfinished.rename(out)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
