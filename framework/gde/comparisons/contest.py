"""Several variants in the same worlds: one run each, and their comparison.

The folder holds `contest.toml`, which names the variants in their order, and a run
folder for each. Each run is an ordinary run: it can be opened, resumed, probed or sent
to somebody by itself.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import lexists
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tomli_w

from gde.before.preparing import prepare, warm
from gde.before.spending import Question, charge
from gde.comparisons.comparison import Comparison, compare_runs, comparison_json
from gde.data.how import How
from gde.data.plan import Plan
from gde.errors import ConfigError, GdeError, RunFolderError
from gde.files import CONTEST, taken, write_whole
from gde.request.catalogue import Catalogue
from gde.request.howfile import with_settings
from gde.request.settings import read_toml
from gde.runs.adding import report, rescore
from gde.runs.evaluating import resume
from gde.stages.progress import Progress, Watch, ignore
from gde.store.folder import RunFolder, free_name, runs_beside
from gde.store.trust import check_trusted

VERSION = 1
"""Of `contest.toml`."""


@dataclass(frozen=True, kw_only=True)
class Contest(Comparison):
    """The results of several variants on the same worlds."""

    folder: Path


def contest(
    plans: Mapping[str, Plan],
    out: Path | None = None,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    how: How | None = None,
    questions: Mapping[str, Sequence[Question]] = MappingProxyType({}),
) -> Contest:
    """Run each variant's plan in its own folder, and compare every pair.

    The questions of a preflight count against the limits of their variant.

    Raises:
        GdeError: a plan is refused, or `out` is there already; nothing has been
            written.
        RunFailed: a run was stopped from outside; `resume_contest` goes on with all.
        KeyboardInterrupt: it was interrupted, likewise.
    """
    catalogue = catalogue or Catalogue.default()

    # Every plan is checked before anything is written: the last one may be the wrong
    # one.
    readies = {}
    for name, plan in plans.items():
        readies[name] = prepare(plan, catalogue, how)
    for ready in readies.values():
        warm(ready)

    # All plans have the same environment.
    first = next(iter(plans.values()))
    label = "-".join([first.environment.label, *plans])
    out = out or free_name(label)
    if out.exists():
        raise taken(out)
    for name, ready in readies.items():
        folder = RunFolder.create(ready.plan, out / name, ready.how)
        with folder.writing() as journal:
            charge(journal, questions.get(name, ()))
    write_whole(out / CONTEST, _listed(plans))

    for done, (name, plan) in enumerate(plans.items()):
        watch(Progress("variants", done, len(plans), name))
        with _all_to_resume(out):
            resume(out / name, catalogue, watch, plan=plan, how=readies[name].how)
    watch(Progress("variants", len(plans), len(plans)))
    return read_contest(out, catalogue)


def is_contest(path: Path) -> bool:
    """Whether a folder holds the runs of a contest."""
    return (path / CONTEST).is_file()


def members(path: Path) -> dict[str, Path]:
    """The run folders of a contest by variant.

    Raises:
        RunFolderError: it is none, or names what cannot be a folder of its own.
    """
    if (path / CONTEST).is_symlink():
        raise RunFolderError(f"{path / CONTEST} is a link: name the folder it leads to")
    try:
        tables = read_toml(path / CONTEST)
    except ConfigError as error:
        raise RunFolderError(f"{path} is no contest: {error}") from error

    names = tables.get("variants")
    if tables.get("version") != VERSION or not isinstance(names, list) or not names:
        wanted = f"version {VERSION} and the names of the variants' folders"
        raise RunFolderError(f"{path / CONTEST}: wanted {wanted}")
    return runs_beside(path / CONTEST, names)


def last_way(path: Path) -> tuple[Plan, How]:
    """The plan of a run or of a contest's first run, and how it was done last.

    Raises:
        RunFolderError: it is neither.
    """
    runs = members(path).values() if is_contest(path) else [path]
    folders = [RunFolder.open(run) for run in runs]
    how = folders[0].last_how()
    for folder in folders[1:]:
        how = with_settings(how, folder.last_how().settings)
    return folders[0].plan(), how


def _trusted(path: Path) -> list[Path]:
    """The runs of a contest that is about to be written to.

    Raises:
        RunFolderError: the user does not trust one of them.
    """
    runs = list(members(path).values())
    for run in runs:
        # A contest that was ended early has not begun them all. A Path would raise where
        # the name is too long.
        if lexists(run):
            check_trusted(RunFolder.open(run).path)
    return runs


def resume_contest(
    path: Path,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    how: How | None = None,
    retry_failed: bool = False,
) -> Contest:
    """Resume unfinished runs, and compare again; arguments as in `resume`."""
    catalogue = catalogue or Catalogue.default()
    for run in _trusted(path):
        if retry_failed or not _finished(run):
            with _all_to_resume(path):
                resume(run, catalogue, watch, how=how, retry_failed=retry_failed)
    return read_contest(path, catalogue)


def rescore_contest(
    path: Path,
    metrics: Sequence[Any] = (),
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    how: How | None = None,
) -> Contest:
    """Compute metrics of every run as `rescore` does, and compare again."""
    catalogue = catalogue or Catalogue.default()
    for run in _trusted(path):
        rescore(run, metrics, catalogue, watch, how=how)
    return read_contest(path, catalogue)


def report_contest(
    path: Path, reporters: Sequence[Any] = (), catalogue: Catalogue | None = None
) -> list[Path]:
    """Render the reports of every run as `report` does; return the files to open."""
    catalogue = catalogue or Catalogue.default()
    files: list[Path] = []
    for run in _trusted(path):
        files += report(run, reporters, catalogue)
    return files


def read_contest(path: Path, catalogue: Catalogue | None = None) -> Contest:
    """Read and compare the finished runs of a contest; nothing is written.

    Raises:
        RunFolderError: it is no contest, or one of its runs is not finished.
    """
    found = compare_runs(members(path), catalogue)
    return Contest(folder=path, **vars(found))


def contest_json(found: Contest) -> dict[str, Any]:
    """The object of `gde eval --json` for several agents."""
    return {"contest": str(found.folder), **comparison_json(found)}


def _listed(names: Collection[str]) -> str:
    return tomli_w.dumps({"version": VERSION, "variants": list(names)})


def _finished(run: Path) -> bool:
    """Whether a run is finished."""
    folder = RunFolder.open(run)
    # An interrupted run may have a result, too.
    return folder.is_reported and folder.read_result().status == "ok"


@contextmanager
def _all_to_resume(path: Path) -> Iterator[None]:
    """Name the contest's folder in errors of stopped runs, as the one to resume."""
    try:
        yield
    except (GdeError, KeyboardInterrupt) as error:
        error.__notes__ = [str(path)]
        raise
