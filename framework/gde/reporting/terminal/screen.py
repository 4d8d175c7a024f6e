"""A result on one screen: subject, finding, limits, forest plot, and paths."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap

from gde.data.model_use import ModelUse
from gde.data.result import Result
from gde.reporting.asked import agent_text, asked_lines
from gde.reporting.finding import opening
from gde.reporting.forest import forest
from gde.reporting.opening import Opening
from gde.reporting.terminal.curve_table import COLUMNS, GAP, curve_table
from gde.reporting.terminal.curve_table import WIDTH as CURVES
from gde.reporting.terminal.plot import legend, plot
from gde.reporting.wording import SPACE, plural

WIDTH = 80
"""Columns of a screen where the terminal does not tell them."""
HEIGHT = 24
"""Lines of a screen."""
SUBJECT = 2
"""Lines of the subject."""
FINDING = 6
"""Lines of the finding."""
LIMITS = 4
"""Lines of its limits."""
CAUTION = 2
"""Lines of each caution."""
CAUTIONS = 6
"""Lines of all cautions."""
SPARE = 2
"""The empty line before the figure and the legend under it."""
ASKED = 2
"""Lines about each model that was asked."""
CACHE = 2
"""Lines of the note on the cache."""
FAILURES = 3
"""Lines of each failure, and one less than of all."""
MORE = "more caution"
CUT = " \u2026"


@dataclass(frozen=True, kw_only=True)
class Screen:
    """At most 24 lines of at most so many columns; only a path may be wider.

    A path must stay in one piece.
    """

    header: tuple[str, ...]
    """The subject and the language models that were asked."""
    finding: tuple[str, ...]
    """The finding, its limits and the numbers."""
    notes: tuple[str, ...]
    """Cautions, failures, and where the rest is."""


def screen(result: Result, report: str = "", width: int = WIDTH) -> Screen:
    """Show a result at a glance.

    Args:
        result: the result.
        report: the path of its report, or why there is none; empty to say nothing.
        width: columns of the terminal.
    """
    found = opening(result)
    header = _header(result, found, width)
    finding = wrapped(found.finding, FINDING, width=width)
    finding += wrapped(found.limited, LIMITS, width=width)

    failed = [
        f"failed: {one.stage} {one.subject}: {one.reason}" for one in result.failures
    ]
    notes = _fitting(failed, FAILURES, FAILURES + 1, "more failure", width)
    notes += _cache(result, width)
    if report:
        notes.append(f"report: {report}")
    n_numbers = len(result.measurements)
    notes.append(f"{result.status}: {result.run} (all {n_numbers} numbers: --all)")

    # The first caution has a place of its own; others stand where the figure ends.
    cautions = _fitting(found.notes, CAUTION, CAUTIONS, MORE, width)
    room = HEIGHT - len(header) - len(finding) - len(notes)
    height = room - min(len(cautions), CAUTION) - SPARE
    beside = curve_table(result) if width >= CURVES else []
    columns = width - COLUMNS - GAP if beside else width
    drawn = plot(forest(result), columns, height)
    if drawn:
        drawn = _joined(drawn, beside, columns + GAP)
        drawn = ["", *drawn, legend(drawn)]
    cautions = _fitting(
        found.notes, CAUTION, max(room - len(drawn), CAUTION), MORE, width
    )
    finding += drawn
    notes = [*cautions, *notes]
    return Screen(header=plain(header), finding=plain(finding), notes=plain(notes))


def _header(result: Result, found: Opening, width: int) -> list[str]:
    """Who was evaluated where, and what the answers of the models took."""
    agent = agent_text(result.subject, result.models)
    lines = asked_lines(result.models, brief=True)
    if len(lines) == 1 and lines[0].startswith(f"{agent}, "):
        own = lines[0].removeprefix(f"{agent}, ")
        return wrapped(f"{found.subject} \u00b7 {own}", SUBJECT, "  ", width)
    subject = wrapped(found.subject, SUBJECT, "  ", width)
    return [*subject, *asked(result.models, 1, width)]


def asked(uses: Iterable[ModelUse], most: int, width: int = WIDTH) -> list[str]:
    """The lines about the first models that were asked, and the number of others."""
    texts = asked_lines(uses, brief=True)
    more = len(texts) - most
    if more > 0:
        texts[most - 1] += f"; and {plural(more, 'more use')} of models (--json)"
    lines = []
    for text in texts[:most]:
        lines += wrapped(text, ASKED, indent="  ", width=width)
    return lines


def plain(lines: Iterable[str]) -> tuple[str, ...]:
    """Replace no-break spaces, once the lines are wrapped."""
    return tuple(line.replace(SPACE, " ") for line in lines)


def _joined(left: list[str], right: list[str], column: int) -> list[str]:
    """Two texts side by side, as many lines as the first has."""
    pairs = zip_longest(left, right[: len(left)], fillvalue="")
    return [f"{first:<{column}}{second}".rstrip() for first, second in pairs]


def _fitting(
    texts: Sequence[str], each: int, most: int, more: str, width: int
) -> list[str]:
    """The first texts in full, as far as they fit, and the number of others.

    Args:
        texts: each has lines of its own.
        each: most lines of one text.
        most: most lines of all.
        more: what the others are called, e.g. "more caution".
        width: columns of the terminal.
    """
    lines: list[str] = []
    for n_shown, text in enumerate(texts):
        shown = wrapped(text, each, width=width)
        is_last = n_shown + 1 == len(texts)
        if len(lines) + len(shown) > most - (not is_last):
            return [*lines, f"and {plural(len(texts) - n_shown, more)}"]
        lines += shown
    return lines


def _cache(result: Result, width: int) -> list[str]:
    """The answers that were reused, where the plan names a cache."""
    note = result.provenance.get("cache")
    if not isinstance(note, Mapping):
        return []
    return wrapped(str(note.get("said", "")), CACHE, width=width)


def wrapped(text: str, lines: int, indent: str = "", width: int = WIDTH) -> list[str]:
    """A text as at most so many lines."""
    return wrap(
        text,
        width,
        max_lines=lines,
        placeholder=CUT,
        break_on_hyphens=False,
        subsequent_indent=indent,
    )
