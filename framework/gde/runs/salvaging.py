"""Save what a damaged run folder still holds, in a new folder that can be resumed."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from gde.data.plan import Plan
from gde.errors import GdeError, RunFolderError
from gde.files import new_folder
from gde.request.catalogue import Catalogue
from gde.request.planfile import plan_hash, plan_of, read_plan, write_plan
from gde.runs.adding import rescore
from gde.stages.progress import Watch, ignore
from gde.store import checksums, received
from gde.store.folder import CONTEST, JOURNAL, PLAN, for_others
from gde.store.journal import SALVAGED, Journal
from gde.store.ownership import is_own, mark
from gde.store.salvage import Losses, save

LIST = "lost.txt"
"""The file with what could not be saved."""


@dataclass(frozen=True, kw_only=True)
class Salvage:
    """What was saved of a damaged run."""

    run: str
    """The new folder."""
    episodes: int
    """Finished episodes that are saved."""
    planned: int | None
    """Episodes of the plan; None where that is lost."""
    lost: tuple[str, ...]
    """What could not be saved, one line each."""
    unfinished: tuple[str, ...]
    """Episodes that had not ended; they begin anew."""

    @property
    def said(self) -> str:
        """All in one sentence."""
        of_planned = "" if self.planned is None else f" of {self.planned}"
        losses = f"{len(self.lost)} losses" if self.lost else "no losses"
        return (
            f"Salvaged from a damaged run: {self.episodes}{of_planned} episodes,"
            f" {losses} in {LIST}."
        )


def salvage(
    path: Path | str,
    out: Path | str,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
) -> Salvage:
    """Save the finished episodes and the answers of models in a damaged run folder.

    The new folder has a result of what is saved. `resume` plays the episodes that are
    lost, and makes activations, probes, rewards and all numbers anew.

    Args:
        path: the damaged folder, which is only read.
        out: the folder to make.
        catalogue: the parts that are offered.
        watch: receives the progress of scoring.

    Raises:
        GdeError: nothing can be saved, or `out` cannot be made; nothing is written.
    """
    path, out = Path(path), Path(out)
    if not path.is_dir():
        raise RunFolderError(f"no run folder {path}")
    if (path / CONTEST).is_file():
        raise RunFolderError(f"{path} is a contest: name one of its run folders")
    received.check(path)
    with new_folder(out) as folder:
        losses = save(path / JOURNAL, folder / JOURNAL)
        with closing(Journal.open(folder / JOURNAL)) as journal:
            plan, doubts = _plan(path, journal)
            found = Salvage(
                run=str(out),
                episodes=len(journal.finished()),
                planned=journal.noted("episodes", int),
                lost=(*doubts, *_told(losses, journal)),
                unfinished=losses.unfinished,
            )
            journal.note(SALVAGED, {"said": found.said, "resumed": False})
        (folder / LIST).write_text(_listed(path, found), encoding="utf-8")
        (folder / PLAN).write_text(write_plan(plan), encoding="utf-8")
        mark(folder)
    try:
        rescore(out, catalogue=catalogue, watch=watch)
    except GdeError as error:
        return replace(found, lost=(*found.lost, f"a result of what is saved: {error}"))
    return found


def _plan(path: Path, journal: Journal) -> tuple[Plan, list[str]]:
    """The plan of the run, and what is lost of it.

    Raises:
        RunFolderError: there is none.
    """
    begun = journal.noted("provenance", dict)
    with checksums.decoding("facts"):
        known = begun["plan_hash"] if begun else ""
        tables = begun["plan"] if begun else None
    try:
        plan = read_plan(path / PLAN)
        if is_own(path):
            return plan, []
        doubt = "" if tables else f"what confirms {PLAN}: it may have been changed"
        if tables and plan_hash(plan) != known:
            raise RunFolderError("it is not the plan that the run began with")
    except GdeError as error:
        if tables is None:
            raise RunFolderError(
                f"{path}: nothing can be saved without a plan: {error}"
            ) from error
        plan = plan_of(tables, f"{path / JOURNAL} (provenance)")
        doubt = f"{PLAN} ({error}): the run has the plan that it began with"

    # As in a copy of a folder from elsewhere.
    journal.mark_received()
    plan = for_others(plan)
    return plan, [doubt] if doubt else []


def _told(losses: Losses, journal: Journal) -> Iterator[str]:
    for episode, reason in losses.episodes:
        yield f"episode {episode}: {reason}"
    yield from losses.others

    known = len(losses.episodes) + len(losses.unfinished) + len(journal.finished())
    planned = journal.noted("episodes", int)
    if planned is not None and known < planned:
        yield f"{planned - known} more episodes, unless they had not begun"


def _listed(path: Path, found: Salvage) -> str:
    lines = [f"Salvaged from {path}: {found.episodes} finished episodes.", ""]
    lines += ["Lost:", *(found.lost or ("nothing",)), ""]
    if found.unfinished:
        lines += ["Not finished, begin anew with `gde resume`:", *found.unfinished, ""]
    return "\n".join(lines)
