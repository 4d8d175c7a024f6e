"""A site of plain files: leaderboards, all runs with their pages, and the dataset.

It works from any web host, and from a folder. Every page lies where it would lie beside
its runs, so that the links between them hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from gde.comparisons.comparison import Comparison, compare_runs
from gde.comparisons.contest import Contest, read_contest
from gde.files import CONTEST, new_folder
from gde.reporting.ranking import ranking
from gde.request.catalogue import Catalogue
from gde.store.folder import RunFolder
from gde.store.rows import to_json
from gde.studies.study import STUDY_TABLES, read_study
from gde_plugins.exchange.site.dataset import (
    DATASET,
    HERE,
    INDEX,
    RUNS,
    collected,
    copy_marks,
    write_dataset,
)
from gde_plugins.pages.contest_page import contest_page, ranking_table
from gde_plugins.pages.library import state
from gde_plugins.pages.run_page import NAME, page_of
from gde_plugins.pages.study_page import STUDY_PAGE, study_page
from gde_plugins.pages.tables import Table
from gde_plugins.pages.templates import rendered, source


@dataclass(frozen=True, kw_only=True)
class Board:
    """Runs in the same worlds, ranked."""

    title: str
    table: Table


def publish(
    sources: Sequence[Path],
    out: Path,
    licence: str = "unknown",
    catalogue: Catalogue | None = None,
) -> int:
    """Write a site of the runs in some folders, and return their number.

    Args:
        sources: folders of runs, contests, studies and profiles.
        out: the new folder.
        licence: of the record, as Hugging Face's hub names it, e.g. cc-by-4.0.
        catalogue: the parts that are offered.

    Raises:
        ConfigError: `out` exists.
        RunFolderError: a run is not finished.
        MissingExtra: pyarrow is not installed.
    """
    catalogue = catalogue or Catalogue.default()
    originals = collected(sources)
    with new_folder(out) as site:
        copies = site / DATASET / RUNS
        for name, path in originals.items():
            RunFolder.open(path).copy_record(copies / name)
        copy_marks(sources, copies)
        runs = {name: copies / name for name in originals}
        for name, path in runs.items():
            _write(site / name / NAME, page_of(path, catalogue))
        listed = sorted(copies.rglob(CONTEST))
        contests = [read_contest(each.parent, catalogue) for each in listed]
        groups = _write_groups(copies, site, contests)

        states = [state(name, path) for name, path in runs.items()]
        write_dataset(runs, site / DATASET, states, licence)
        index = rendered(
            "index.html.j2",
            source("site.js", HERE),
            HERE,
            boards=_boards(runs, contests, catalogue),
            groups=groups,
            states=states,
            licence=licence,
            quote=quote,
        )
        _write(site / INDEX, index)
    return len(originals)


def _write_groups(
    copies: Path, site: Path, contests: Sequence[Contest]
) -> Mapping[str, str]:
    """Write the pages of contests, studies and profiles; return addresses by name."""
    written = {}
    for found in contests:
        name = found.folder.relative_to(copies)
        _write(site / name / NAME, contest_page(found))
        written[str(name)] = f"{name}/{NAME}"
    for tables in sorted(copies.rglob(STUDY_TABLES)):
        name = tables.parent.relative_to(copies)
        _write(site / name / STUDY_PAGE, study_page(read_study(tables.parent)))
        written[str(name)] = f"{name}/{STUDY_PAGE}"
    return written


def _boards(
    runs: Mapping[str, Path], contests: Sequence[Contest], catalogue: Catalogue
) -> Sequence[Board]:
    """Rank the runs that were played in the same worlds."""
    # The runs of a contest alone are compared already.
    known: dict[frozenset[Path], Comparison] = {
        frozenset(each.runs.values()): each for each in contests
    }
    groups: dict[str, dict[str, Path]] = {}
    for name, path in runs.items():
        plan = RunFolder.open(path).plan()
        worlds = [plan.environment.name, dict(plan.environment.config), plan.seed]
        groups.setdefault(to_json(worlds), {})[name] = path

    boards = []
    for group in groups.values():
        found = known.get(frozenset(group.values()))
        if found is None:
            found = compare_runs(group, catalogue)
        # Runs without a common measurement have no leaderboard.
        ranked = ranking(found) if found.compared else None
        if ranked is not None:
            boards.append(Board(title=ranked.title, table=ranking_table(ranked)))
    return boards


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
