"""A contest as a page, where the packages for it are installed."""

from pathlib import Path

from gde.files import write_whole
from gde.runs.contest import Contest


def write_page(found: Contest) -> Path | None:
    """Write the page of a contest into its folder, or nothing where packages are missing.

    Raises:
        RunFailed: the folder cannot be written to.
    """
    try:
        from gde.reporting.contest import NAME, contest_page
    except ModuleNotFoundError:
        return None
    write_whole(found.folder / NAME, contest_page(found))
    return found.folder / NAME
