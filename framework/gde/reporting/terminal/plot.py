"""The forest plot in characters."""

from collections.abc import Sequence

from gde.reporting.forest import Group, Row
from gde.reporting.wording import number, plural, symbol

TICKS = 5
TITLE = 31
"""The most columns of a title."""
REASON = 24
"""The most columns of a control, an interval, or the reason why there is none."""
SHOWN = 12
"""The most rows; those that are worse than their control are never left out."""
PLOT = (17, 49)
"""The fewest and the most columns of an axis."""
CONTROLS = 80
"""The least width of a screen that shows controls."""
INTERVALS = 110
"""The least width of a screen that shows intervals."""
CUT = "\u2026"
LEGEND = {
    "\u25cf": "\u25cf {agent}",
    "\u25a0": "\u25a0 worse",
    "\u25cb": "\u25cb {control}",
    "\u2501": "\u2501 95 %",
    "\u254c": "\u254c its 95 %",
}
"""Signs of a plot with their meanings."""


def plot(
    groups: Sequence[Group], width: int, height: int, more: str = "--all"
) -> list[str]:
    """Lines of at most `width` columns: the heading of each group, its rows and its axis.

    Where more than `height` lines were needed, rows are left out from the last on, but
    none that is worse than its control; `more` is the option that shows all.
    """
    rows = [row for group in groups for row in group.rows]
    first = {id(group.rows[0]) for group in groups}

    def rank(row: Row) -> tuple[bool, ...]:
        # A row without a value tells only why, so it is the first to go.
        is_missing = row.beside.ours.value is None
        is_clear = row.word not in ("worse", "outside")
        return (
            row.word != "worse",
            is_missing,
            id(row) not in first,
            is_clear,
            not row.word,
        )

    rows.sort(key=rank)
    n_worse = sum(row.word == "worse" for row in rows)
    for n_kept in range(max(SHOWN, n_worse), n_worse - 1, -1):
        kept = {id(row) for row in rows[:n_kept]}
        lines = _lines(groups, kept, width)
        if len(kept) < len(rows):
            lines.append(f"and {plural(len(rows) - len(kept), 'more row')}: {more}")
        if len(lines) <= height:
            break
    return lines[: max(height, 0)]


def legend(
    lines: Sequence[str], control: str = "strongest control", agent: str = "agent"
) -> str:
    """The meanings of the signs that are drawn, of the ring and of the point."""
    drawn = "".join(lines)
    told = "  ".join(text for sign, text in LEGEND.items() if sign in drawn)
    return told.replace("{control}", control).replace("{agent}", agent)


def _lines(groups: Sequence[Group], kept: set[int], width: int) -> list[str]:
    cells = {
        id(row): _cells(row, width)
        for group in groups
        for row in group.rows
        if id(row) in kept
    }
    if not cells:
        return []
    widths = [max(map(len, column)) for column in zip(*cells.values(), strict=True)]
    least, most = PLOT
    free = width - sum(widths) - sum(1 for each in widths if each)
    room = min(max(free, least), most)
    widths[0] -= max(0, room - free)

    lines = []
    axis = ""
    for group in groups:
        rows = [row for row in group.rows if id(row) in kept]
        if not rows:
            continue
        # Groups below each other that have the same axis share it.
        own_axis = _axis(group, widths[0] + 1, room)
        if axis and axis != own_axis:
            lines.append(axis)
        axis = own_axis
        lines.append(cut(group.title, width))
        for row in rows:
            title, value, *others = (
                cut(text, each).ljust(each)
                for text, each in zip(cells[id(row)], widths, strict=True)
            )
            value = value.strip().rjust(widths[1])
            shown = [title, _drawn(row, group, room), value, *filter(None, others)]
            lines.append(" ".join(shown).rstrip())
    return [*lines, axis]


def _cells(row: Row, width: int) -> tuple[str, ...]:
    """Title, value, interval, control and verdict, as far as a screen shows them."""
    unmeasured = row.beside.ours.value is None
    interval = row.interval if width >= INTERVALS or unmeasured else ""
    control = row.control if width >= CONTROLS else ""
    by = row.by if width >= INTERVALS else row.by.partition(" [")[0]
    verdict = " ".join(filter(None, (row.mark, row.word, by)))
    texts = cut(interval, REASON), cut(control, REASON)
    return cut(row.title, TITLE), row.value, *texts, verdict


def _drawn(row: Row, group: Group, columns: int) -> str:
    """A line from end to end with the intervals and, over them, both numbers."""
    line = ["\u2500"] * columns
    for tick in range(1, TICKS - 1):
        line[_column(tick / (TICKS - 1), columns)] = "\u253c"
    line[0], line[-1] = "\u251c", "\u2524"
    agent = "\u25a0" if row.word == "worse" else "\u25cf"
    numbers = [
        (one, bar, point)
        for one, bar, point in (
            (row.beside.rival, "\u254c", "\u25cb"),
            (row.beside.ours, "\u2501", agent),
        )
        if one is not None and one.value is not None
    ]
    for one, bar, _ in numbers:
        if one.interval is not None:
            low, high = (_column(group.place(each), columns) for each in one.interval)
            line[low : high + 1] = bar * (high + 1 - low)
    # A control within the agent's interval must stay visible.
    for one, _, point in numbers:
        assert one.value is not None
        line[_column(group.place(one.value), columns)] = point
    return "".join(line)


def _axis(group: Group, before: int, columns: int) -> str:
    """The numbers at the ends and, of shares, at the ticks between them."""
    whole = group.unit == "share" and (group.low, group.high) == (0, 1)
    ticks = range(TICKS) if whole else (0, TICKS - 1)
    line = " " * (before + columns + 8)
    for tick in ticks:
        part = tick / (TICKS - 1)
        text = number(group.low + part * (group.high - group.low), group.unit, 0)
        end = before + _column(part, columns)
        start = end - (len(text) - 1 if tick else 0)
        line = line[:start] + text + line[start + len(text) :]
    return f"{line.rstrip()} {symbol(group.unit)}".rstrip()


def _column(share: float, columns: int) -> int:
    return round(share * (columns - 1))


def cut(text: str, width: int) -> str:
    """A text of at most so many columns."""
    return text if len(text) <= width else f"{text[: width - 1]}{CUT}"
