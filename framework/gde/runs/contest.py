"""Several entrants on the same worlds: a run for each in one folder, and what they differ in.

The folder holds `contest.toml`, which names the entrants in their order, a run folder for each, and `contest.json` with
every pair compared. Each run stays what a run is everywhere: it can be opened, resumed, probed or sent to somebody by
itself.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import tomli_w

from gde.data.plan import Plan
from gde.data.result import Result, RunStatus
from gde.errors import ConfigError, GdeError, RunFolderError
from gde.files import write_whole
from gde.request.catalogue import Catalogue
from gde.request.settings import read_toml
from gde.runs.adding import report, rescore
from gde.runs.comparing import compare_all
from gde.runs.differences import Compared
from gde.runs.evaluating import prepare, resume, warm
from gde.stages.progress import Progress, Watch, ignore
from gde.store.folder import CONTEST, RESULT, RunFolder, free_name, result_json, taken
from gde.store.rows import to_json

COMPARED = "contest.json"
SCHEMA = VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What several entrants did on the same worlds."""

    folder: Path
    results: Mapping[str, Result]
    """By entrant, in the order in which they were asked for."""
    compared: tuple[Compared, ...] = ()
    """Every two of them; none where they could not be compared."""
    reason: str = ""
    """Why not; empty where they were."""

    @property
    def status(self) -> RunStatus:
        """The worst of the runs; partial where they could not be compared."""
        statuses = {result.status for result in self.results.values()}
        if "failed" in statuses:
            return "failed"
        return "partial" if "partial" in statuses or self.reason else "ok"


def contest(
    plans: Mapping[str, Plan], out: Path | None = None, catalogue: Catalogue | None = None, watch: Watch = ignore
) -> Contest:
    """Run the plan of each entrant in a folder of its own within a new folder, and compare every two of them.

    Raises:
        GdeError: a plan is refused, or `out` is there already; nothing has been written.
        RunFailed: a run was stopped from outside; `resume_contest` goes on with all.
        KeyboardInterrupt: it was interrupted, likewise.
    """
    catalogue = catalogue or Catalogue.default()
    readies = {name: prepare(plan, catalogue) for name, plan in plans.items()}
    for ready in readies.values():
        warm(ready)
    out = out or free_name(Path("runs"), _label(plans))
    if out.exists():
        raise taken(out)
    for name, ready in readies.items():
        RunFolder.create(ready.plan, out / name)
    write_whole(out / CONTEST, tomli_w.dumps({"version": VERSION, "entrants": list(plans)}))
    for done, name in enumerate(plans):
        watch(Progress("entrants", done, len(plans)))
        _noting(out, partial(resume, out / name, catalogue, watch, plan=plans[name]))
    watch(Progress("entrants", len(plans), len(plans)))
    return _concluded(out, catalogue)


def is_contest(path: Path) -> bool:
    """Whether a folder holds the runs of a contest."""
    return (path / CONTEST).is_file()


def members(path: Path) -> dict[str, Path]:
    """The run folders of a contest by entrant.

    Raises:
        RunFolderError: it is none, or names what cannot be a folder of its own.
    """
    try:
        tables = read_toml(path / CONTEST)
    except ConfigError as error:
        raise RunFolderError(f"{path} is no contest: {error}") from error
    found = tables.get("entrants")
    names = found if isinstance(found, list) and all(map(_is_name, found)) else []
    if tables.get("version") != VERSION or not names or len(set(names)) < len(names):
        wanted = f"version {VERSION} and the names of the entrants' folders, each once"
        raise RunFolderError(f"{path / CONTEST}: wanted {wanted}")
    return {name: path / name for name in names}


def resume_contest(
    path: Path,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    retry_failed: bool = False,
    keys_to: Collection[str] = (),
) -> Contest:
    """Go on with the runs that are not finished, and compare again; arguments are those of `resume`."""
    catalogue = catalogue or Catalogue.default()
    for run in members(path).values():
        if retry_failed or not _finished(run):
            _noting(path, partial(resume, run, catalogue, watch, retry_failed=retry_failed, keys_to=keys_to))
    return _concluded(path, catalogue)


def rescore_contest(
    path: Path,
    metrics: Sequence[Any] = (),
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    keys_to: Collection[str] = (),
) -> Contest:
    """Compute metrics of every run, as `rescore` does of one, and compare again."""
    catalogue = catalogue or Catalogue.default()
    for run in members(path).values():
        rescore(run, metrics, catalogue, watch, keys_to=keys_to)
    return _concluded(path, catalogue)


def report_contest(path: Path, reporters: Sequence[Any] = (), catalogue: Catalogue | None = None) -> list[Path]:
    """Render the reports of every run again, as `report` does of one. Gives the files to open."""
    catalogue = catalogue or Catalogue.default()
    return [file for run in members(path).values() for file in report(run, reporters, catalogue)]


def read_contest(path: Path, catalogue: Catalogue | None = None) -> Contest:
    """What the finished runs of a contest found, compared; nothing is written.

    Raises:
        RunFolderError: it is no contest, or one of its runs is not finished.
    """
    runs = members(path)
    results = {name: RunFolder.open(run).read_result() for name, run in runs.items()}
    try:
        return Contest(folder=path, results=results, compared=compare_all([*runs.values()], catalogue))
    except GdeError as error:
        return Contest(folder=path, results=results, reason=str(error))


def contest_json(found: Contest) -> dict[str, Any]:
    """The object that `gde eval --json` prints of several agents, and contest.json holds."""
    return {
        "schema": SCHEMA,
        "contest": str(found.folder),
        "status": found.status,
        "entrants": {name: result_json(result) for name, result in found.results.items()},
        "compared": [asdict(one) for one in found.compared],
        "reason": found.reason,
    }


def _concluded(path: Path, catalogue: Catalogue) -> Contest:
    found = read_contest(path, catalogue)
    write_whole(path / COMPARED, to_json(contest_json(found)) + "\n")
    return found


def _finished(run: Path) -> bool:
    """Whether nothing is left to do; a result can be that of an interrupted run."""
    return (run / RESULT).is_file() and RunFolder.open(run).read_result().status == "ok"


def _noting(path: Path, go_on: Callable[[], Result]) -> None:
    """A run that is stopped says where to go on: with all of them."""
    try:
        go_on()
    except (GdeError, KeyboardInterrupt) as error:
        error.__notes__ = [str(path)]
        raise


def _label(plans: Mapping[str, Plan]) -> str:
    environment = next(iter(plans.values())).environment.label
    return "-".join([environment, *plans])


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name
