"""A result on one screen of a terminal: the claim, the headlines, probes beside their best controls, and the paths."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten, wrap

from gde.data.result import Measurement, Result
from gde.reporting.claim import claim
from gde.reporting.findings import Beside, Finding, Probed, headlines, probed
from gde.reporting.wording import SPACE, arm_text, bounds, labels_text, number, quantity

WIDTH, HEIGHT = 80, 24
"""Of a screen, in columns and lines."""
SPOKEN, CAUTION, NOTICE, COST = 9, 2, 2, 2
"""Lines that the claim, each caution, the model's notice and the cost may take."""
FAILURES = 3
"""Lines that failures may take: the cause of the first is read to its end before there are others."""
SEEN = 2
"""Headlines of a probe that are shown before anything else is left out."""
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
    notes += [*_failures(result), *_spent(result), *_wrapped(_notice(result), NOTICE)]
    room = HEIGHT - len(opening) - len(notes) - (2 if report else 1)
    pieces = [*_headlines(headlines(result)), *_probes(probed(result))]
    shown, left_out = _fitted(pieces, room)
    paths = [f"report: {report}"] if report else []
    paths.append(f"{result.status}: {result.run} ({_rest(result, left_out)})")
    return Screen(finding=_plain([*opening, *shown]), notes=_plain([*notes, *paths]))


@dataclass(frozen=True)
class Piece:
    """Lines that are shown together or not at all."""

    heading: str
    """Of the block that they are in."""
    lines: Lines
    worth: int
    """What is worth least goes first where there is no room."""


def _headlines(found: Sequence[Finding]) -> Iterator[Piece]:
    """A line for each under the names of the columns, and another for the rivals of its number. What the claim has told
    already goes before the others."""
    rows = [(_label(one), *_cells(one.numbers[0]), str(one.numbers[0].n)) for one in found]
    heading, *lines = _table([("", "value", "95 % interval", "n"), *rows])
    for one, line in zip(found, lines, strict=True):
        yield Piece(heading, [line, *_rivals(one)], worth=2 if one.measure.phrase else 3)


def _rivals(one: Finding) -> Lines:
    """Those that come after the best number, in a line of their own."""
    _, *rivals = one.numbers
    listed = ", ".join(f"{' '.join(map(str, each.where.values()))} {_cells(each)[0]}" for each in rivals)
    return [f"  then {shorten(listed, WIDTH - 7, placeholder=CUT)}"] if rivals else []


def _probes(found: Sequence[Probed]) -> Iterator[Piece]:
    """A line for each headline of a probe, under its name. All but the first go first."""
    for probe in found:
        if not probe.numbers:
            yield Piece(shorten(f"{probe.arm.probe}: {probe.reason}", WIDTH, placeholder=CUT), [], worth=1)
            continue
        head = f"{probe.arm.probe} ({arm_text(probe.arm)}), best control on the right"
        for place, line in enumerate(_table([_beside(one) for one in probe.numbers])):
            worth = 0 if place >= SEEN else 4 if probe is found[0] else 1
            yield Piece(shorten(head, WIDTH, placeholder=CUT), [line], worth)


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


def _label(one: Finding) -> str:
    title, rest = one.measure.titled(one.numbers[0].where)
    return f"{title}: {labels_text(rest)}" if rest else title


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


def _fitted(pieces: Sequence[Piece], room: int) -> tuple[Lines, int]:
    """The pieces in so many lines, each block after an empty one, and how many pieces had to go."""
    kept = list(pieces)
    while len(lines := _blocks(kept)) > room:
        kept.remove(min(reversed(kept), key=lambda piece: piece.worth))
    return lines, len(pieces) - len(kept)


def _blocks(pieces: Sequence[Piece]) -> Lines:
    lines: Lines = []
    for heading in dict.fromkeys(piece.heading for piece in pieces):
        lines += ["", heading, *(line for piece in pieces if piece.heading == heading for line in piece.lines)]
    return lines


def _failures(result: Result) -> Lines:
    lines, told = list[str](), 0
    for one in result.failures:
        whole = _wrapped(f"failed: {one.stage} {one.subject}: {one.reason}", FAILURES)
        if len(lines) + len(whole) > FAILURES:
            break
        lines, told = [*lines, *whole], told + 1
    more = len(result.failures) - told
    return [*lines, *([f"and {more} more failures"] if more else [])]


def _notice(result: Result) -> str:
    """The first sentence of what must be told of the models; the report has all."""
    first, end, _ = str(result.provenance.get("notice") or "").partition(". ")
    return f"{first}." if end else first


def _spent(result: Result) -> Lines:
    """Where the plan names prices or a cache."""
    notes = [result.provenance.get(name) for name in ("cost", "cache")]
    said = [str(note.get("said", "")) for note in notes if isinstance(note, Mapping)]
    return [line for text in said for line in _wrapped(text, COST)]


def _rest(result: Result, left_out: int) -> str:
    headings = f"{left_out} more headlines, " if left_out else ""
    return f"{headings}all {len(result.measurements)} numbers: --all"


def _wrapped(text: str, lines: int) -> Lines:
    return wrap(text, WIDTH, max_lines=lines, placeholder=CUT, break_on_hyphens=False)


def _plain(lines: Iterable[str]) -> tuple[str, ...]:
    """Ordinary spaces: those without a line break have done their duty."""
    return tuple(line.replace(SPACE, " ") for line in lines)
