"""A run in the files of other tools, written with their packages."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, get_args

from gde.data.observation import State
from gde.data.trajectory import Trajectory
from gde.errors import ConfigError, GdeError, MissingExtra
from gde.runs.episodes import episodes_frame
from gde.runs.frames import turns_frame
from gde.stages.evidence import load_evidence
from gde_plugins.exchange.inspect_logs import write_inspect

if TYPE_CHECKING:
    import pandas

FileForm = Literal["parquet", "episodes", "datasets", "transitions", "inspect"]
FILE_FORMS: tuple[FileForm, ...] = get_args(FileForm)
NO_INFO = "{}"
"""The info of a step, as JSON, in the form of `imitation`."""


def export_file(run: Path, form: FileForm, out: Path) -> int:
    """Write a run to a new file or folder.

    Returns the number of turns, episodes or samples written.

    "parquet": the turns of `gde.turns_frame`, one a row. "episodes": likewise the
    episodes of `gde.episodes_frame`. "datasets": the same as a
    folder that `datasets.load_from_disk` reads. "transitions": trajectories in the form
    that `imitation.data.serialize.load` reads (Gleave et al. 2022), observations being
    the rows of the world's decision process. "inspect": a log of Inspect.

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
        "transitions": _transitions,
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
    return _save(
        _library("datasets").Dataset.from_pandas(
            turns_frame(run), preserve_index=False
        ),
        out,
    )


def _transitions(run: Path, out: Path) -> int:
    """Write the steps of all episodes.

    Unusable answers are no steps, because they do not change the world.
    """
    trajectories = [
        one for one in load_evidence(run).trajectories if one.ending != "failed"
    ]
    actions = list(dict.fromkeys(chain.from_iterable(map(_actions, trajectories))))
    steps = [_steps(trajectory, actions) for trajectory in trajectories]

    # Typed, since no episode may have a step to tell the types from.
    library = _library("transitions")
    columns = {
        "obs": library.Sequence(library.Value("int64")),
        "acts": library.Sequence(library.Value("int64")),
        "infos": library.Sequence(library.Value("string")),
        "rews": library.Sequence(library.Value("float64")),
        "terminal": library.Value("bool"),
    }
    rows = [row for row in steps if row["acts"]]
    table = library.Dataset.from_list(rows, features=library.Features(columns))
    table.info.description = f"acts: {', '.join(actions)}"
    return _save(table, out)


def _actions(trajectory: Trajectory) -> Iterator[str]:
    """Actions in the order in which they are offered, then as they were taken."""
    for turn in trajectory.turns:
        yield from turn.observation.actions or ()
    for turn in trajectory.turns:
        if turn.decision.action is not None:
            yield turn.decision.action


def _steps(trajectory: Trajectory, actions: list[str]) -> dict[str, Any]:
    taken = [turn for turn in trajectory.turns if turn.decision.action is not None]
    states = [*(turn.state for turn in taken), trajectory.final_state]
    return {
        "obs": [_row(state, trajectory) for state in states],
        "acts": [actions.index(turn.decision.action or "") for turn in taken],
        "infos": [NO_INFO] * len(taken),
        "terminal": trajectory.ending == "terminated",
        "rews": [float(turn.reward) for turn in taken],
    }


def _row(state: State | None, trajectory: Trajectory) -> int:
    if state is None or state.index is None:
        wanted = "an environment whose states are rows of a decision process (capabilities STATE and MDP)"
        raise GdeError(
            f"--format transitions: wanted {wanted}; a state of episode {trajectory.key} is none"
        )
    return state.index


def _library(form: str) -> Any:
    try:
        import datasets
    except ModuleNotFoundError:
        raise MissingExtra(f"--format {form}", ["datasets"], "datasets") from None
    return datasets


def _save(table: Any, out: Path) -> int:
    library = _library("datasets")
    library.disable_progress_bars()
    table.save_to_disk(str(out))
    return len(table)
