"""Connections to the SQLite file of a run."""

import sqlite3
from pathlib import Path
from urllib.parse import quote

LONGEST = 2**28
"""The most bytes of a text or blob."""


def connect(
    path: Path, *, write: bool = True, frozen: bool = False
) -> sqlite3.Connection:
    """A connection that survives the death of its process with everything committed.

    A reader changes nothing in the file. The schema of the file cannot call functions,
    since the file may come from anyone.

    Args:
        path: of the file.
        write: whether the connection may write.
        frozen: whether nothing changes the file: then nothing is written beside it
            either, and nothing but the file is read.
    """
    if write:
        connection = sqlite3.connect(path, timeout=120, isolation_level=None)
    else:
        immutable = "&immutable=1" if frozen else ""
        uri = f"file:{quote(str(path.resolve()))}?mode=ro{immutable}"
        connection = sqlite3.connect(uri, uri=True, timeout=120, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        if write:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
    except UnicodeDecodeError as error:  # SQLite quotes the damaged text
        connection.close()
        raise sqlite3.DatabaseError("malformed database schema") from error
    except BaseException:
        connection.close()
        raise
    return connection
