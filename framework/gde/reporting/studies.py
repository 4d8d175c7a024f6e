"""A reproduced study as files: its tables as JSON and, where the packages for it are installed, its page."""

import json
from pathlib import Path

from gde.files import write_whole
from gde.runs.reproducing import Study, study_json

PAGE, TABLE = "reproduction.html", "reproduction.json"


def write_study(study: Study) -> tuple[Path | None, str]:
    """Write what a study found into its folder. Gives the page, or None and why there is none.

    Raises:
        RunFailed: the folder cannot be written to.
    """
    study.folder.mkdir(parents=True, exist_ok=True)
    write_whole(study.folder / TABLE, json.dumps(study_json(study), ensure_ascii=False, indent=1) + "\n")
    try:
        from gde.reporting.study import study_page

        page = study_page(study.name, study.rows, study.figures, study.notices, study.figures_missing)
    except ModuleNotFoundError as error:
        return None, f"{error.name} is not installed; pip install 'gde-eval[report]'"
    except ValueError as error:
        return None, f"a figure of {study.name} cannot be drawn: {error}"
    write_whole(study.folder / PAGE, page)
    return study.folder / PAGE, ""
