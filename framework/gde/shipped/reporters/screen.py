"""A result on one screen of a terminal: the claim, the headlines, probes beside their best controls, and the paths."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import shorten, wrap

from gde.data.json import Labels
from gde.data.result import Measurement, Result
from gde.shipped.reporters.claim import claim
from gde.shipped.reporters.findings import Beside, Finding, Probed, headlines, probed
from gde.shipped.reporters.wording import SPACE, arm_text, bounds, labels_text, number, quantity

WIDTH, HEIGHT = 80, 24
"""Of a screen, in columns and lines."""
SPOKEN, CAUTION, NOTICE = 9, 2, 2
"""Lines that the claim, each caution and the model's notice may take."""
FAILURES = 3
RIVALS = 3
"""Numbers of one measure that are shown, the best and those that come next."""
BARE = 2
"""Lines of a heading and one row."""
CUT = " \u2026"
Lines = list[str]


@dataclass(frozen=True, kw_only=True)
class Screen:
    """Lines of at most 80 columns, 24 in all; only a path may be wider, for it has to stay in one piece."""

    finding: tuple[str, ...]
    """What was found."""
    notes: tuple[str, ...]
    """What a reader has to know beside it: cautions, failures, the model's notice, where the rest is."""


def screen(result: Result, report: str = "") -> Screen:
    """The result at a glance.

    Args:
        result: to be shown.
        report: the path of its report; empty for none.
    """
    said = claim(result)
    opening = _wrapped(f"{said.behaviour} {said.belief}".strip(), SPOKEN)
    notes = [line for caution in said.cautions for line in _wrapped(caution, CAUTION)]
    notes += [*_failures(result), *_wrapped(_notice(result), NOTICE)]
    paths = [f"report: {report}"] if report else []
    paths.append(f"{result.status}: {result.run}")
    room = HEIGHT - len(opening) - len(notes) - len(paths) - 1
    blocks, left_out = _fitted([_headlines(headlines(result)), *map(_probe, probed(result))], room)
    shown = [line for block in blocks for line in ("", *block)]
    rest = _rest(result, left_out)
    return Screen(finding=_plain([*opening, *shown]), notes=_plain([*notes, rest, *paths]))


def _headlines(found: Sequence[Finding]) -> Lines:
    """A line for each, under the names of the columns; what has rivals is followed by those that come next."""
    rows = [
        (_label(one.measure.title, each.where), *_cells(each), str(each.n))
        for one in found
        for each in one.numbers[:RIVALS]
    ]
    return _table([("", "value", "95 % interval", "n"), *rows]) if rows else []


def _probe(found: Probed) -> Lines:
    head = f"{found.arm.probe} ({arm_text(found.arm)}), best control on the right"
    if not found.numbers:
        return [shorten(f"{found.arm.probe}: {found.reason}", WIDTH, placeholder=CUT)]
    return [shorten(head, WIDTH, placeholder=CUT), *_table([_beside(one) for one in found.numbers])]


def _beside(one: Beside) -> tuple[str, ...]:
    ours = one.measure.title, *_cells(one.ours)
    if one.arm is None or one.rival is None:
        return *ours, "no control"
    value, unit = one.rival.value or 0.0, one.rival.unit
    # Its unit is that of ours, in the same line: only shares would be taken for something else.
    text = quantity(value, unit) if unit == "share" else number(value, unit)
    return *ours, f"{arm_text(one.arm)} {text} {bounds(one.rival.interval, unit)}".rstrip()


def _cells(one: Measurement) -> tuple[str, str]:
    """Value and interval; the reason where there is no value."""
    if one.value is None:
        return "\u2013", shorten(one.reason, 30, placeholder=CUT)
    return quantity(one.value, one.unit), bounds(one.interval, one.unit)


def _label(title: str, where: Labels) -> str:
    return f"{title} {labels_text(where)}" if where else title


def _table(rows: Sequence[tuple[str, ...]]) -> Lines:
    """Columns side by side, numbers flush right; the first column gives way where a line would be too wide."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[0] = min(widths[0], WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1))
    return [_line(row, widths) for row in rows]


def _line(row: tuple[str, ...], widths: Sequence[int]) -> str:
    head = row[0] if len(row[0]) <= widths[0] else f"{row[0][: widths[0] - 1]}\u2026"
    value = row[1].rjust(widths[1])
    others = [text.ljust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
    return "  ".join([head.ljust(widths[0]), value, *others]).rstrip()


def _fitted(blocks: Sequence[Lines], room: int) -> tuple[list[Lines], int]:
    """The blocks, each after an empty line, in so many lines, and how many rows had to go: of the longest block first,
    and where none has more than a row under its heading, whole blocks from the end."""
    kept, left_out = [list(block) for block in blocks if block], 0
    while kept and sum(len(block) + 1 for block in kept) > room:
        longest = max(reversed(kept), key=len)
        if len(longest) > BARE:
            longest.pop()
            left_out += 1
        else:
            left_out += len(kept.pop()) - 1
    return kept, left_out


def _failures(result: Result) -> Lines:
    lines = [f"failed: {one.stage} {one.subject}: {one.reason}" for one in result.failures[:FAILURES]]
    more = len(result.failures) - len(lines)
    short = [shorten(line, WIDTH, placeholder=CUT) for line in lines]
    return [*short, *([f"and {more} more failures"] if more > 0 else [])]


def _notice(result: Result) -> str:
    """The first sentence of what must be told of the models; the report has all."""
    first, end, _ = str(result.provenance.get("notice") or "").partition(". ")
    return f"{first}." if end else first


def _rest(result: Result, left_out: int) -> str:
    headings = f"{left_out} more headlines, and " if left_out else ""
    return f"{headings}all {len(result.measurements)} numbers: --all, or result.json"


def _wrapped(text: str, lines: int) -> Lines:
    return wrap(text, WIDTH, max_lines=lines, placeholder=CUT, break_on_hyphens=False)


def _plain(lines: Iterable[str]) -> tuple[str, ...]:
    """Ordinary spaces: those without a line break have done their duty."""
    return tuple(line.replace(SPACE, " ") for line in lines)
