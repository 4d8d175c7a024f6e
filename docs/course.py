"""Draws the course of beliefs of a run: `python docs/course.py RUN FILE.svg`.

The run is `course` of the study in docs/course.md.
"""

import sys
from pathlib import Path

from gde.reporting.drawing import svg_file
from gde.store.folder import RunFolder
from gde_plugins.probes.course.figure import course_figure


def main(run: Path, file: Path) -> None:
    """Write the figure of a run.

    Raises:
        SystemExit: the run has no course.
    """
    figure = course_figure(RunFolder.open(run).read_result().measurements)
    if figure is None:
        raise SystemExit(f"{run} has no course: gde rescore {run} --metric course")
    file.write_text(svg_file(figure), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
