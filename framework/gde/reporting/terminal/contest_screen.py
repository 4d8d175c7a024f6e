"""A contest on one screen: the ranking, other headlines, and the clearest differences."""

from collections.abc import Sequence
from textwrap import shorten

from gde.comparisons.comparison import Comparison
from gde.data.model_use import merged
from gde.reporting.asked import NO_PRICE
from gde.reporting.contest import (
    cautions,
    opening,
    side_by_side,
)
from gde.reporting.ranking import Line, Ranking, ranking
from gde.reporting.terminal.plot import cut, plot
from gde.reporting.terminal.screen import (
    CUT,
    FINDING,
    HEIGHT,
    LIMITS,
    SPARE,
    WIDTH,
    asked,
    plain,
    wrapped,
)
from gde.reporting.wording import plural

CAUTIONS = 2
"""Cautions shown."""
BELOW = 4
"""Lines that the command prints under the screen."""
SENTENCE = 2
"""Lines of each sentence."""
MODELS = 3
"""Lines of the finding and of models that were asked, together."""
RANKED = 8
"""The most variants of the ranking that are shown."""
AROUND = 7
"""Lines above and below the variants of the ranking, empty ones included."""
RANK = "10 "
"""As wide as the widest rank."""
LEAST = 16
"""Columns for the name of a variant before those between numbers."""
HEADS = ("value", "95 %", "\u2212 best", "usable")
SPENT = ("calls", "tokens", "time", "cost")
PER_EPISODE = "calls, tokens and time of models per episode"


def contest_screen(found: Comparison, width: int = WIDTH) -> tuple[str, ...]:
    """Lines of at most so many columns that leave room for the command's own lines."""
    ranked = ranking(found)
    top = opened(found, width)
    if ranked is not None:
        n_shown = min(RANKED, max(HEIGHT - BELOW - len(top) - AROUND, 1))
        top += ["", *_ranking(ranked, width, n_shown)]

    room = HEIGHT - BELOW - len(top) - SPARE
    others = side_by_side(found, ranked.measure.name if ranked else "")
    drawn = plot(others[:1], width, room)
    for n_groups in range(len(others), 1, -1):
        every = plot(others[:n_groups], width, HEIGHT)
        if len(every) <= room:
            drawn = every
            break

    below: list[str] = []
    for text in cautions(found)[:CAUTIONS]:
        sentence = wrapped(text, SENTENCE, indent="  ", width=width)
        if len(drawn) + len(below) + len(sentence) <= room:
            below += sentence
    return plain([*top, *([""] if drawn else []), *drawn, "", *below])


def opened(found: Comparison, width: int) -> list[str]:
    """Subject, finding, limits, the models that were asked, and own verdicts."""
    uses = merged(one for each in found.results.values() for one in each.models)
    told = opening(found)
    top = wrapped(told.subject, SENTENCE, width=width)
    top += wrapped(told.finding, FINDING, width=width)
    top += wrapped(told.limited, LIMITS, width=width)
    top += asked(uses, MODELS, width)
    for text in told.notes[:RANKED]:
        top += wrapped(text, SENTENCE, indent="  ", width=width)
    return top


def _ranking(ranked: Ranking, width: int, n_shown: int) -> list[str]:
    """The table under its title; columns that say nothing are left out."""
    shown = ranked.lines[:n_shown]
    columns = [*HEADS]
    notes = [ranked.note] if ranked.note else []
    if ranked.asks_models:
        columns += SPENT if ranked.has_costs else SPENT[:-1]
        notes.append(PER_EPISODE if ranked.has_costs else f"{PER_EPISODE}; {NO_PRICE}")

    rows = [[*columns], *(_numbers(one)[: len(columns)] for one in shown)]
    # Settings stand behind the names, as far as they fit.
    n_told = 0
    left_out = []
    settings = zip(ranked.settings, *(one.settings for one in shown), strict=True)
    for column in settings:
        wider = []
        for row, cell in zip(rows, column, strict=True):
            wider.append([*row[:n_told], cell, *row[n_told:]])
        if _room(wider, width) >= LEAST:
            rows = wider
            n_told += 1
        else:
            left_out.append(column[0])

    lines = [shorten(ranked.title, width, placeholder=CUT), *_table(rows, shown, width)]
    if left_out:
        others = f"they also differ in {', '.join(left_out)}"
        lines.append(shorten(others, width - len(CUT), placeholder=CUT))
    more = len(ranked.lines) - len(shown)
    if more:
        lines.append(f"and {plural(more, 'more variant')}: --json")
    return [*lines, *notes]


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _room(rows: Sequence[Sequence[str]], width: int, gap: int = 1) -> int:
    """Columns that the cells leave for the names of variants."""
    return width - len(RANK) - sum(gap + each for each in _widths(rows))


def _table(
    rows: Sequence[Sequence[str]], shown: Sequence[Line], width: int
) -> list[str]:
    """Rank and name of each variant, and the cells of the rows flush right.

    Args:
        rows: names of the columns, then the cells of each variant.
        shown: the variants.
        width: columns of the terminal.
    """
    # Two blanks between columns where they fit.
    gap = 2 if _room(rows, width, 2) >= LEAST else 1
    room = min(max(len(one.variant) for one in shown), _room(rows, width, gap))
    heads = [" " * (len(RANK) + room)]
    for one in shown:
        # Names of variants differ at their ends.
        name = cut(one.variant[::-1], room)[::-1]
        heads.append(f"{one.rank.rjust(len(RANK) - 1)} {name.ljust(room)}")

    widths = _widths(rows)
    lines = []
    for head, row in zip(heads, rows, strict=True):
        cells = [text.rjust(each) for text, each in zip(row, widths, strict=True)]
        lines.append((" " * gap).join([head, *cells]))
    return lines


def _numbers(one: Line) -> list[str]:
    """In the order of `HEADS` and `SPENT`."""
    did = [one.value, one.interval, one.against, one.usable]
    return [*did, one.calls, one.tokens, one.seconds, one.cost]
