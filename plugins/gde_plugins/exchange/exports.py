"""A run in the files of other tools, written with their packages."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, get_args

from gde.errors import ConfigError, MissingExtra
from gde.runs.episodes import episodes_frame
from gde.runs.frames import turns_frame
from gde_plugins.exchange.inspect_logs import write_inspect

if TYPE_CHECKING:
    import pandas

FileForm = Literal["parquet", "episodes", "datasets", "inspect"]
FILE_FORMS: tuple[FileForm, ...] = get_args(FileForm)


def export_file(run: Path, form: FileForm, out: Path) -> int:
    """Write a run to a new file or folder.

    Returns the number of turns, episodes or samples written.

    "parquet": the turns of `gde.turns_frame`, one a row. "episodes": likewise the
    episodes of `gde.episodes_frame`. "datasets": the same as a
    folder that `datasets.load_from_disk` reads. "inspect": a log of Inspect.

    Raises:
        MissingExtra: the package is not installed. GdeError: there is no finished run,
        it lacks what the form needs, or `out` exists.
    """
    if out.exists():
        raise ConfigError(f"--out {out}: File exists")
    writers: Mapping[FileForm, Callable[[Path, Path], int]] = {
        "parquet": lambda run, out: write_parquet(turns_frame(run), out),
        "episodes": lambda run, out: write_parquet(episodes_frame(run), out),
        "datasets": _datasets,
        "inspect": write_inspect,
    }
    try:
        # Beside it first: what fails half-way would stand in the way of another try.
        with TemporaryDirectory(dir=out.parent, prefix=".export.") as place:
            unfinished = Path(place) / out.name
            n = writers[form](run, unfinished)
            unfinished.rename(out)
        return n
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror or error}") from error


def write_parquet(frame: "pandas.DataFrame", out: Path) -> int:
    """Write a frame to a new file; return the number of its rows.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        frame.to_parquet(out, index=False)
    except ImportError:
        raise MissingExtra("a Parquet file", ["pyarrow"], "parquet") from None
    return len(frame)


def _datasets(run: Path, out: Path) -> int:
    try:
        import datasets
    except ModuleNotFoundError:
        raise MissingExtra("--format datasets", ["datasets"], "datasets") from None
    table = datasets.Dataset.from_pandas(turns_frame(run), preserve_index=False)
    datasets.disable_progress_bars()
    table.save_to_disk(str(out))
    return len(table)
