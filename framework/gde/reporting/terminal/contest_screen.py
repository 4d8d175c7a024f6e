"""A contest on one screen: all headlines, and the clearest differences."""

from collections.abc import Sequence
from textwrap import shorten

from gde.data.result import Measurement
from gde.data.verdict import Verdict
from gde.reporting.contest import LISTED, Contended, cautions, contended, verdicts
from gde.reporting.terminal.screen import CUT, HEIGHT, WIDTH, plain, wrapped
from gde.reporting.wording import CONTROLS, counted, estimate, number
from gde.runs.contest import Contest

CAUTIONS = 2
"""Cautions shown."""
BELOW = 4
"""Lines that the command prints under the screen."""


def contest_screen(found: Contest) -> tuple[str, ...]:
    """Lines of at most 80 columns that leave room for the command's own lines."""
    width = max(len(name) for name in found.results)
    lines = []
    for one in _leading_first(contended(found)):
        lines.append(shorten(one.title, WIDTH, placeholder=CUT))
        for name, own in one.numbers.items():
            text = _in_words(own, bool(one.probe))
            lines.append(f"  {name.ljust(width)}  {text}")

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


def _leading_first(every: Sequence[Contended]) -> list[Contended]:
    """The first headline of the metrics and of each probe, then all others: there may
    be room for few.
    """
    leading = {one.probe: one for one in reversed(every)}
    first = [one for one in every if leading[one.probe] is one]
    others = [one for one in every if leading[one.probe] is not one]
    return first + others


def _in_words(one: Measurement | None, of_probe: bool) -> str:
    if one is None:
        return "not measured"
    if one.value is None:
        return estimate(one)
    if of_probe:
        return f"{estimate(one)}, {_against(one.verdict)}"
    return f"{estimate(one)}, n {counted(one.n, one.clusters)}"


def _against(verdict: Verdict | None) -> str:
    """The p value against the strongest control; a worse probe is said to be so."""
    if verdict is None:
        return "no control"
    name, _ = CONTROLS[verdict.control]
    if verdict.p is None:
        return f"not tested against {name}"
    p_value = f"p {number(verdict.p, 'probability')}"
    relation = "worse than" if verdict.outcome == "worse" else "against"
    return f"{p_value} {relation} {name}"
