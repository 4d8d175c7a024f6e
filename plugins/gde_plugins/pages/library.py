"""The runs below a folder and their states.

Nothing is written, and nothing in the runs is executed.
"""

import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Literal

from gde.data.model_use import Usage, total
from gde.errors import GdeError
from gde.files import CONTEST, PLAN
from gde.reporting.asked import model_text
from gde.reporting.findings import headlines
from gde.reporting.wording import estimate, plural, titled
from gde.stages.model_use import models_used
from gde.store.folder import JOURNAL, RESULT, RunFolder
from gde.store.journal import Journal
from gde.store.lock import HOLDER
from gde.studies.study import STUDY_TABLES

Kind = Literal["", "contest", "study"]
KINDS: Mapping[str, Kind] = {CONTEST: "contest", STUDY_TABLES: "study"}
"""The file that a group of runs has, and what the group is."""
DEPTH = 3
"""Levels of folders that are searched for runs."""
QUIET_SECONDS = 120.0
"""A run whose record has not changed for this long counts as stopped."""


@dataclass(frozen=True, kw_only=True)
class RunState:
    """A run as a line of the list."""

    name: str
    """Its path beneath the folder shown."""
    group: str = ""
    """The path of its contest or study; empty for none."""
    kind: Kind = ""
    """What the group is."""
    changed: str = ""
    """When the record last changed, to the minute: "2026-11-23 14:05"."""
    agent: str = ""
    environment: str = ""
    model: str = ""
    """The language models that were asked, each once."""
    status: str
    """The status of its result, or "running", "unfinished", "unreadable"."""
    done: int = 0
    """Finished episodes."""
    total: int = 0
    """Episodes of the plan."""
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    """What the answers of all models took."""
    days: tuple[str, ...] = ()
    """The first and the last day on which models answered."""
    found: str = ""
    """The first headline with its interval, or why there is none."""

    @property
    def live(self) -> bool:
        """Whether more is to come."""
        return self.status == "running"


def library(root: Path) -> dict[str, Path]:
    """Find the run folders in a folder, itself included, by their paths beneath it.

    The run written last comes first, and runs of a contest or study stand together.
    Links are not followed.
    """
    found: dict[str, Path] = {}
    level = [root]
    for _ in range(DEPTH + 1):
        below = []
        for path in level:
            if (path / PLAN).is_file():
                # The folder itself has an empty path beneath itself.
                name = str(path.relative_to(root))
                if path == root:
                    name = root.resolve().name
                found[name] = path
            else:
                below += _folders(path)
        level = below

    # Runs stay together because a group is as recent as its latest run.
    changed = {name: last_changed(path) for name, path in found.items()}
    groups = {name: group_of(name, path)[0] or name for name, path in found.items()}
    latest: dict[str, float] = {}
    for name, group in groups.items():
        latest[group] = max(latest.get(group, 0.0), changed[name])

    def order(name: str) -> tuple[float, str, float, str]:
        group = groups[name]
        return latest[group], group, changed[name], name

    return {name: found[name] for name in sorted(found, key=order, reverse=True)}


def group_of(name: str, path: Path) -> tuple[str, Kind]:
    """The path of a run's contest or study, and which of them; empty without one."""
    above, _, _ = name.rpartition("/")
    for file, kind in KINDS.items():
        if above and (path.parent / file).is_file():
            return above, kind
    return "", ""


def state(name: str, path: Path) -> RunState:
    """Read the present state of a run."""
    group, kind = group_of(name, path)
    # The list must show a broken run as such, whatever is broken in it.
    try:
        folder = RunFolder.open(path)
        plan = folder.plan()
        with closing(folder.journal()) as journal:
            how = folder.noted_how(journal)
            models = models_used(journal, plan, how.prices)
            names = dict.fromkeys(map(model_text, models))
            days = sorted(chain.from_iterable(one.days for one in models))
            status, found = _status(folder, journal)
            return RunState(
                name=name,
                group=group,
                kind=kind,
                changed=f"{datetime.fromtimestamp(last_changed(path)):%Y-%m-%d %H:%M}",
                agent=plan.agent.label,
                environment=plan.environment.label,
                model=", ".join(names),
                status=status,
                done=len(journal.finished()),
                total=int(journal.noted("episodes", int) or 0),
                turns=journal.last_turn(),
                usage=total(one.usage for one in models),
                days=tuple(days[:1] + days[-1:]),
                found=found,
            )
    except (GdeError, OSError, ValueError) as error:
        return RunState(name=name, status="unreadable", found=str(error))


def _status(folder: RunFolder, journal: Journal) -> tuple[str, str]:
    """The status of a run, and its first headline or how far it is."""
    if not (folder.path / RESULT).is_file():
        status = "running" if _is_written(folder) else "unfinished"
        return status, f"{plural(journal.last_turn(), 'turn')} so far"

    result = folder.read_result()
    found = headlines(result)
    if not found:
        return result.status, "nothing measured"
    first = found[0]
    best = first.numbers[0]
    title = first.measure.title
    if first.measure.contender:
        title = titled(first.measure, best.where)
    return result.status, f"{title} {estimate(best)}"


def _is_written(folder: RunFolder) -> bool:
    """Whether a run is going on."""
    if not (folder.path / HOLDER).is_file():
        return False
    # A killed run leaves the writer's note behind, but its record changes no more.
    age = time.time() - last_changed(folder.path)
    return age < QUIET_SECONDS


def last_changed(run: Path) -> float:
    """When the record last changed, in seconds since the epoch."""
    # The files beside the journal come and go while they are looked at.
    with suppress(OSError):
        latest = 0.0
        for path in run.glob(f"{JOURNAL}*"):
            found = path.stat()
            # Readers create "-shm" files and empty ones, which are no sign of a writer.
            if found.st_size and not path.name.endswith("-shm"):
                latest = max(latest, found.st_mtime)
        return latest
    return 0.0


def _folders(path: Path) -> list[Path]:
    """The visible subfolders that are no links; none if the folder is unreadable."""
    below = []
    try:
        for each in path.iterdir():
            is_visible = each.name[0] != "."
            if is_visible and each.is_dir() and not each.is_symlink():
                below.append(each)
    except OSError:
        return []
    return below
