"""Files of contest and study pages, if their packages are installed."""

import json
from pathlib import Path

from gde.comparisons.contest import Contest
from gde.files import write_whole
from gde.studies.study import STUDY_TABLES, Study, study_json

STUDY_PAGE = "reproduction.html"


def write_contest_page(found: Contest) -> Path | None:
    """Write the page of a contest; return its path, or None without packages.

    Raises:
        RunFailed: the folder is not writable.
    """
    try:
        from gde.reporting.page.contest_page import NAME, contest_page
    except ModuleNotFoundError:
        return None
    page = found.folder / NAME
    write_whole(page, contest_page(found))
    return page


def write_study(study: Study) -> tuple[Path | None, str]:
    """Write the tables of a reproduced study as JSON, and its page.

    Returns:
        The path of the page, or None and the reason why there is none.

    Raises:
        RunFailed: the folder is not writable.
    """
    study.folder.mkdir(parents=True, exist_ok=True)
    tables = json.dumps(study_json(study), ensure_ascii=False, indent=1)
    write_whole(study.folder / STUDY_TABLES, f"{tables}\n")

    try:
        from gde.reporting.page.study_page import study_page

        text = study_page(study)
    except ModuleNotFoundError as error:
        return None, f"{error.name} is not installed; pip install 'gde-eval[report]'"
    except ValueError as error:
        return None, f"a figure of {study.name} cannot be drawn: {error}"
    page = study.folder / STUDY_PAGE
    write_whole(page, text)
    return page, ""
