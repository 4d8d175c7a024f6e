"""A run in the files of other tools, written with their packages."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import quote

import numpy as np

import gde
from gde.errors import ConfigError, GdeError, MissingExtra, needing
from gde.runs.episodes import episodes_frame
from gde.runs.frames import turns_frame
from gde_plugins.exchange.inspect_logs import write_inspect

if TYPE_CHECKING:
    import pandas

FileForm = Literal["parquet", "episodes", "datasets", "activations", "inspect"]
FILE_FORMS: tuple[FileForm, ...] = get_args(FileForm)


def export_file(run: Path, form: FileForm, out: Path) -> int:
    """Write a run to a new file or folder.

    Returns the number of turns, episodes, tokens or samples written.

    "parquet": the turns of `gde.turns_frame`, one a row. "episodes": likewise the
    episodes of `gde.episodes_frame`. "datasets": the same as a
    folder that `datasets.load_from_disk` reads. "activations": a folder with an array
    for each layer, position and source, and the turns of its rows. "inspect": a log of Inspect.

    Raises:
        MissingExtra: the package is not installed.
        GdeError: there is no finished run, it lacks what the form needs, or `out`
            exists.
    """
    if out.exists():
        raise ConfigError(f"--out {out}: File exists; choose another name")
    writers: Mapping[FileForm, Callable[[Path, Path], int]] = {
        "parquet": lambda run, out: write_parquet(turns_frame(run), out),
        "episodes": lambda run, out: write_parquet(episodes_frame(run), out),
        "datasets": _datasets,
        "activations": _activations,
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
    with needing("--format datasets", "datasets", "datasets"):
        import datasets
    table = datasets.Dataset.from_pandas(turns_frame(run), preserve_index=False)
    datasets.disable_progress_bars()
    table.save_to_disk(str(out))
    return len(table)


def _activations(run: Path, out: Path) -> int:
    opened = gde.open(run)
    places = [*zip(*opened.stored.values(), strict=True)]
    if not places:
        raise GdeError(
            f"{run} holds no activations: they are stored of a run whose model has local weights (`gde probe`)"
        )
    out.mkdir()
    n = 0
    for layer, position, source in places:
        found = opened.activations(layer, position, source)
        name = quote(f"{source}-layer-{layer}-{position}", safe="")
        np.save(out / f"{name}.npy", found.values)
        frame = found.labels.to_pandas("--format activations")
        n += write_parquet(frame, out / f"{name}.parquet")
    return n
