"""The secret of this user, which signs seals."""

import os
from hashlib import sha256
from hmac import digest as hmac_digest
from pathlib import Path
from tempfile import mkstemp

from gde.errors import RunFolderError

SECRET = "secret"
PRIVATE = 0o077
"""The rights of others, of which the secret gives none."""


def signature(content: bytes) -> str:
    """HMAC-SHA-256 of some content with the secret of this user.

    Raises:
        RunFolderError: the secret cannot be kept.
    """
    return hmac_digest(_secret(), content, sha256).hex()


def _secret() -> bytes:
    """The secret of this user, made when it is first needed."""
    # Imported when needed, for the start of every command would wait for it.
    from platformdirs import user_state_path

    path = user_state_path("gde") / SECRET
    try:
        if not path.exists():
            _make(path)
        if os.name == "posix" and path.stat().st_mode & PRIVATE:
            raise RunFolderError(
                f"{path}: others may read the key that marks your run folders: delete it, or give it mode 600"
            )
        return path.read_bytes()
    except OSError as error:
        raise RunFolderError(
            f"cannot keep the key that marks your run folders in {path}: {error.strerror};"
            " name another place in XDG_STATE_HOME"
        ) from error


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = mkstemp(dir=path.parent)
    unfinished = Path(name)
    try:
        os.write(handle, os.urandom(32))
        os.close(handle)
        # Of two processes, the first one's secret stays.
        if not path.exists():
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
