"""A contest on one screen: the ranking, other headlines, and the clearest differences."""

from collections.abc import Sequence
from textwrap import shorten

from gde.comparisons.comparison import Comparison
from gde.data.model_use import merged
from gde.data.result import Measurement
from gde.data.verdict import Verdict
from gde.reporting.asked import NO_PRICE
from gde.reporting.contest import (
    LISTED,
    Contended,
    cautions,
    contended,
    own_verdicts,
    verdicts,
)
from gde.reporting.ranking import Line, Ranking, ranking
from gde.reporting.terminal.screen import CUT, HEIGHT, WIDTH, asked, plain, wrapped
from gde.reporting.wording import (
    CONTROLS,
    brief_outcome,
    counted,
    estimate,
    plural,
)

CAUTIONS = 2
"""Cautions shown."""
BELOW = 4
"""Lines that the command prints under the screen."""
SENTENCE = 2
"""Lines of each sentence."""
MODELS = 2
"""Models that were asked, in the header."""
RANKED = 8
"""Variants of the ranking that are shown."""
RANK = "10 "
"""As wide as the widest rank."""
LEAST = 16
"""Columns for the name of a variant before those between numbers."""
HEADS = ("value", "95 %", "\u2212 best", "usable")
SPENT = ("calls", "tokens", "time", "cost")
PER_EPISODE = "calls, tokens and time of models per episode"


def contest_screen(found: Comparison) -> tuple[str, ...]:
    """Lines of at most 80 columns that leave room for the command's own lines."""
    uses = merged(one for each in found.results.values() for one in each.models)
    header = asked(uses, MODELS)
    ranked = ranking(found)
    top = [*header]
    for text in own_verdicts(found)[:RANKED]:
        top += wrapped(text, SENTENCE, indent="  ")
    if ranked is not None:
        top += _ranking(ranked)

    # The sentences are findings: where there is no room, other numbers give way. An
    # empty line and that about what is left out take two.
    lines = _others(found, ranked)
    room = HEIGHT - BELOW - len(top) - 2
    sentences: list[str] = []
    for text in verdicts(found)[:LISTED] + cautions(found)[:CAUTIONS]:
        sentence = wrapped(text, SENTENCE, indent="  ")
        if len(sentences) + len(sentence) <= room:
            sentences += sentence
    room -= len(sentences)
    if len(lines) > room + 1:
        left_out = len(lines) - room
        lines = [*lines[:room], f"and {left_out} more lines: --json"]
    return plain([*top, *lines, "", *sentences])


def _ranking(ranked: Ranking) -> list[str]:
    """The table under its title; columns that say nothing are left out."""
    shown = ranked.lines[:RANKED]
    columns = [*HEADS]
    note = ""
    if ranked.asks_models:
        columns += SPENT if ranked.has_costs else SPENT[:-1]
        note = PER_EPISODE if ranked.has_costs else f"{PER_EPISODE}; {NO_PRICE}"

    rows = [[*columns], *(_numbers(one)[: len(columns)] for one in shown)]
    told, left_out = _with_settings(rows, ranked, shown)
    lines = [shorten(ranked.title, WIDTH, placeholder=CUT), *_table(told, shown)]
    if left_out:
        others = f"they also differ in {', '.join(left_out)}"
        lines.append(shorten(others, WIDTH - len(CUT), placeholder=CUT))
    more = len(ranked.lines) - len(shown)
    if more:
        lines.append(f"and {plural(more, 'more variant')}: --json")
    if note:
        lines.append(note)
    return lines


def _with_settings(
    rows: Sequence[Sequence[str]], ranked: Ranking, shown: Sequence[Line]
) -> tuple[list[list[str]], list[str]]:
    """The rows behind as many settings as the width holds, and the other settings."""
    room = WIDTH - len(RANK) - LEAST - sum(1 + width for width in _widths(rows))
    columns = []
    left_out = []
    for setting, *values in zip(
        ranked.settings, *(one.settings for one in shown), strict=True
    ):
        room -= 1 + max(map(len, [setting, *values]))
        if room < 0:
            left_out.append(setting)
        else:
            columns.append([setting, *values])
    told = zip(*columns, strict=True) if columns else [()] * len(rows)
    return [[*cells, *row] for cells, row in zip(told, rows, strict=True)], left_out


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _table(rows: Sequence[Sequence[str]], shown: Sequence[Line]) -> list[str]:
    """Rank and name of each variant, and the cells of the rows flush right.

    Args:
        rows: names of the columns, then the cells of each variant.
        shown: the variants.
    """
    widths = _widths(rows)

    # Names get what the numbers leave; two blanks between columns where they fit.
    longest = max(len(one.variant) for one in shown)
    left = WIDTH - len(RANK) - sum(widths)
    gap = 2 if left - 2 * len(widths) >= min(longest, LEAST) else 1
    width = min(longest, left - gap * len(widths))

    heads = [" " * (len(RANK) + width)]
    for one, name in zip(shown, _names(shown, width), strict=True):
        heads.append(f"{one.rank.rjust(len(RANK) - 1)} {name.ljust(width)}")

    lines = []
    for head, row in zip(heads, rows, strict=True):
        cells = [text.rjust(each) for text, each in zip(row, widths, strict=True)]
        lines.append((" " * gap).join([head, *cells]))
    return lines


def _names(shown: Sequence[Line], width: int) -> list[str]:
    """The variants by their names, or where these are too long by their models."""
    names = [one.variant for one in shown]
    models = [one.model for one in shown]
    if max(map(len, names)) <= width:
        return names
    if len({model[: width - 1] for model in models}) == len(shown):
        return [_cut(model, width) for model in models]

    # Names of variants differ at their ends.
    return [_cut(name[::-1], width)[::-1] for name in names]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}\u2026"


def _numbers(one: Line) -> list[str]:
    """In the order of `HEADS` and `SPENT`."""
    did = [one.value, one.interval, one.against, one.usable]
    return [*did, one.calls, one.tokens, one.seconds, one.cost]


def _others(found: Comparison, ranked: Ranking | None) -> list[str]:
    """The headlines that the ranking does not have."""
    width = max(len(name) for name in found.results)
    lines = []
    for one in _leading_first(contended(found)):
        if ranked is not None and one.measure.name == ranked.measure.name:
            continue
        lines.append(shorten(one.title, WIDTH, placeholder=CUT))
        for name, own in one.numbers.items():
            text = _in_words(own, bool(one.probe))
            lines.append(f"  {name.ljust(width)}  {text}")
    return lines


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
    """The test against the strongest control."""
    if verdict is None:
        return "no control"
    name, _ = CONTROLS[verdict.control]
    return f"{brief_outcome(verdict)} ({name})"
