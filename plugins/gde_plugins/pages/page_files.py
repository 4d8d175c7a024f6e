"""Files of contest and study pages."""

from pathlib import Path

from gde.comparisons.contest import Contest
from gde.errors import GdeError, MissingExtra
from gde.files import write_whole
from gde.studies.study import Study


def write_page(shown: Contest | Study) -> Path:
    """Write the page of a contest or study into its folder; return its path.

    Raises:
        MissingExtra: a package is not installed.
        GdeError: a figure of the study cannot be drawn.
        RunFailed: the folder is not writable.
    """
    try:
        name, text = _page(shown)
    except ModuleNotFoundError as error:
        raise MissingExtra("it", [str(error.name)], "report") from error
    page = shown.folder / name
    write_whole(page, text)
    return page


def _page(shown: Contest | Study) -> tuple[str, str]:
    """The name of the file, and its text."""
    if isinstance(shown, Contest):
        from gde_plugins.pages.contest_page import contest_page
        from gde_plugins.pages.run_page import NAME

        return NAME, contest_page(shown)

    from gde_plugins.pages.study_page import STUDY_PAGE, study_page

    try:
        return STUDY_PAGE, study_page(shown)
    except ValueError as error:
        raise GdeError(f"a figure of {shown.name} cannot be drawn: {error}") from error
