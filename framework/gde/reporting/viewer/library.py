"""The runs beneath a folder, and how each of them is; nothing is written, and nothing in them is run."""

import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from gde.errors import GdeError
from gde.reporting.findings import headlines
from gde.reporting.wording import estimate
from gde.stages.budget import spent_before
from gde.stages.models import NOTED
from gde.store.folder import CONTEST, JOURNAL, PLAN, RESULT, RunFolder
from gde.store.journal import Journal
from gde.store.lock import HOLDER

DEPTH = 3
"""Folders beneath the one that is shown in which runs are looked for."""
QUIET_SECONDS = 120.0
"""A run whose record has not changed for so long is taken as stopped."""


@dataclass(frozen=True, kw_only=True)
class RunState:
    """One run in a line of the list."""

    name: str
    """Its path beneath the folder that is shown."""
    contest: str = ""
    """The path of the contest that it is an entrant of; empty for none."""
    agent: str = ""
    environment: str = ""
    model: str = ""
    status: str
    """That of its result, or "running", "unfinished", "unreadable"."""
    done: int = 0
    total: int = 0
    """Episodes."""
    turns: int = 0
    calls: int = 0
    tokens: int | None = 0
    """Of all calls; None where a server did not tell."""
    found: str = ""
    """The first headline with its interval; why there is none."""

    @property
    def live(self) -> bool:
        """Whether there is more to come."""
        return self.status == "running"


def library(root: Path) -> dict[str, Path]:
    """The run folders in a folder, itself included, by their paths beneath it, the last one written to first and the
    entrants of a contest together; links are not followed."""
    found, level = dict[str, Path](), [root]
    for _ in range(DEPTH + 1):
        runs = [path for path in level if (path / PLAN).is_file()]
        found |= {str(path.relative_to(root)) if path != root else root.resolve().name: path for path in runs}
        level = [below for path in level if path not in runs for below in _folders(path)]
    changed = {name: _changed(path) for name, path in found.items()}
    together: dict[str, float] = {}
    for name, path in found.items():
        place = contest_of(name, path)
        together[place] = max(together.get(place, 0.0), changed[name])

    def order(name: str) -> tuple[float, str, float, str]:
        place = contest_of(name, found[name])
        return together[place], place, changed[name], name

    return {name: found[name] for name in sorted(found, key=order, reverse=True)}


def contest_of(name: str, path: Path) -> str:
    """The path of the contest that a run is an entrant of; that of any other run is its own."""
    above = name.rpartition("/")[0]
    return above if above and (path.parent / CONTEST).is_file() else name


def state(name: str, path: Path) -> RunState:
    """How a run is by now."""
    try:
        folder = RunFolder.open(path)
        plan = folder.plan()
        with closing(folder.journal(write=False)) as journal:
            calls, tokens = spent_before(journal)
            status, found = _status(folder, journal)
            return RunState(
                name=name,
                contest=contest if (contest := contest_of(name, path)) != name else "",
                agent=plan.agent.label,
                environment=plan.environment.label,
                model=", ".join(journal.noted(NOTED) or ()),
                status=status,
                done=len(journal.finished()),
                total=int(journal.noted("episodes") or 0),
                turns=journal.last_turn(),
                calls=calls,
                tokens=tokens,
                found=found,
            )
    except (GdeError, OSError, ValueError) as error:
        return RunState(name=name, status="unreadable", found=str(error))


def _status(folder: RunFolder, journal: Journal) -> tuple[str, str]:
    if not (folder.path / RESULT).is_file():
        return ("running" if _is_written(folder) else "unfinished"), f"{journal.last_turn()} turns so far"
    result = folder.read_result()
    first = next(iter(headlines(result)), None)
    return result.status, f"{first.measure.title} {estimate(first.numbers[0])}" if first else "nothing measured"


def _is_written(folder: RunFolder) -> bool:
    """Whether somebody is at it: who was killed leaves the note of the writer behind, but writes no more."""
    return (folder.path / HOLDER).is_file() and time.time() - _changed(folder.path) < QUIET_SECONDS


def _changed(run: Path) -> float:
    """When the record was last written to, in seconds since the epoch."""
    with suppress(OSError):  # the files beside the record come and go
        # Who reads makes and empties files beside the journal, too.
        files = [path.stat() for path in run.glob(f"{JOURNAL}*") if not path.name.endswith("-shm")]
        return max((each.st_mtime for each in files if each.st_size), default=0.0)
    return 0.0


def _folders(path: Path) -> list[Path]:
    try:
        return [each for each in path.iterdir() if each.is_dir() and not each.is_symlink() and each.name[0] != "."]
    except OSError:
        return []
