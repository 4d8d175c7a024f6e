"""What identifies weights: the SHA-256 of their files."""

import hashlib
from pathlib import Path


def file_digest(file: Path) -> str:
    """SHA-256 of one file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def weights_digest(folder: Path) -> str:
    """SHA-256 of a folder's only weights file, or of the sorted list of names and
    digests where there are several.
    """
    files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
    digests = [file_digest(file) for file in files]
    if len(digests) == 1:
        return digests[0]
    listed = "".join(
        f"{digest}  {file.name}\n" for file, digest in zip(files, digests, strict=True)
    )
    return hashlib.sha256(listed.encode()).hexdigest()
