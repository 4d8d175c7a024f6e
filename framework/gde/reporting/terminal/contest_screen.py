"""A contest on one screen: all headlines, and the clearest differences."""

from textwrap import shorten

from gde.data.result import Measurement
from gde.reporting.contest import LISTED, cautions, contended, verdicts
from gde.reporting.terminal.screen import CUT, HEIGHT, WIDTH, plain, wrapped
from gde.reporting.wording import counted, estimate
from gde.runs.contest import Contest

CAUTIONS = 2
"""Cautions shown."""
BELOW = 4
"""Lines that the command prints under the screen."""


def contest_screen(found: Contest) -> tuple[str, ...]:
    """Lines of at most 80 columns that leave room for the command's own lines."""
    width = max(len(name) for name in found.results)
    lines = []
    for one in contended(found):
        lines.append(shorten(one.title, WIDTH, placeholder=CUT))
        for name, number in one.numbers.items():
            lines.append(f"  {name.ljust(width)}  {_in_words(number)}")

    sentences = []
    for text in verdicts(found)[:LISTED] + cautions(found)[:CAUTIONS]:
        sentences += wrapped(text, 2, indent="  ")

    # The sentences are the findings: where there is no room, numbers give way.
    room = HEIGHT - BELOW - len(sentences)
    left_out = len(lines) - room
    if left_out > 0:
        lines = lines[:room]
        lines.append(f"and {left_out} more lines: --all")
    return plain([*lines, "", *sentences])


def _in_words(one: Measurement | None) -> str:
    if one is None:
        return "not measured"
    if one.value is None:
        return estimate(one)
    return f"{estimate(one)}, n {counted(one.n, one.clusters)}"
