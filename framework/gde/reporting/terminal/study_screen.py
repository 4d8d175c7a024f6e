"""A study on one screen: subject, finding, limits, and its numbers as a forest plot."""

from gde.reporting.study import forest, opening
from gde.reporting.terminal.plot import legend, plot
from gde.reporting.terminal.screen import (
    CAUTION,
    FINDING,
    HEIGHT,
    LIMITS,
    SPARE,
    SUBJECT,
    WIDTH,
    asked,
    plain,
    wrapped,
)
from gde.studies.study import Study

BELOW = 3
"""Lines that the command prints under the screen."""


def study_screen(study: Study, width: int = WIDTH) -> tuple[str, ...]:
    """Lines of at most so many columns that leave room for the command's own lines."""
    told = opening(study)
    top = wrapped(told.subject, SUBJECT, "  ", width)
    top += wrapped(told.finding, FINDING, width=width)
    top += wrapped(told.limited, LIMITS, width=width)
    top += asked(study.models, 1, width)
    for text in (*told.notes, *study.failures):
        top += wrapped(text, CAUTION, "  ", width)

    room = HEIGHT - BELOW - len(top) - SPARE
    drawn = plot(forest(study), width, room, "--table markdown")
    return plain(
        [*top, *(["", *drawn, legend(drawn, "published, or control")] if drawn else [])]
    )
