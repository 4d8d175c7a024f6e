"""A result on one screen: claim, headlines, probes with controls, and paths."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten, wrap

from gde.data.model_use import ModelUse
from gde.data.result import Measurement, Result
from gde.reporting.asked import asked_lines
from gde.reporting.claim import Claim, claim
from gde.reporting.findings import Beside, Finding, Probed, headlines, probed
from gde.reporting.wording import (
    SPACE,
    bounds,
    brief_outcome,
    counted,
    fit_text,
    labels_text,
    number,
    plural,
    quantity,
    values_text,
    verdict_text,
)

WIDTH = 80
"""Columns of a screen."""
HEIGHT = 24
"""Lines of a screen."""
VERDICT = 4
"""Lines of the verdicts."""
CLAIM = 9
"""Lines of the claim."""
CAUTION = 2
"""Lines of each caution."""
CAUTIONS = 9
"""Lines of all cautions."""
NOTICE = 2
"""Lines of the notice about the model."""
ASKED = 2
"""Lines about each model that was asked."""
CACHE = 2
"""Lines of the note on the cache."""
FAILURES = 3
"""Lines of all failures."""
SEEN = 2
"""Headlines of a probe where there is no room for all."""
CUT = " \u2026"


@dataclass(frozen=True, kw_only=True)
class Screen:
    """At most 24 lines of at most 80 columns; only a path may be wider.

    A path must stay in one piece.
    """

    header: tuple[str, ...]
    """The language models that were asked, and what their answers took."""
    finding: tuple[str, ...]
    """The claim and the numbers."""
    notes: tuple[str, ...]
    """Cautions, failures, the notice about the model, and where the rest is."""


def screen(result: Result, report: str = "") -> Screen:
    """Show a result at a glance.

    Args:
        result: the result.
        report: the path of its report, or why there is none; empty to say nothing.
    """
    header = asked(result.models, 1)
    opening = claim(result)
    sentences = f"{opening.behaviour} {opening.belief}".strip()
    finding = wrapped(opening.verdict, VERDICT) + wrapped(sentences, CLAIM)

    notes = _cautions(opening)
    notes += _failures(result)
    notes += _cache(result)
    notes += wrapped(_notice(result), NOTICE)
    n_paths = 2 if report else 1

    # Claim and notes always stay. The fullest tables that fit between them are shown.
    found = headlines(result)
    without_phrase = [
        one for one in found if not (one.measure.phrase or one.measure.sentence)
    ]
    probes = [_probe_table(one) for one in probed(result)]
    brief = [table[: 1 + SEEN] for table in probes]
    everything = [_headline_table(found), *probes]
    choices = [
        everything,
        [_headline_table(found), *brief],
        [_headline_table(found), *brief[:1]],
        [_headline_table(without_phrase), *brief[:1]],
    ]
    room = max(0, HEIGHT - len(header) - len(finding) - len(notes) - n_paths)
    for tables in choices:
        shown = _stacked(tables)
        if len(shown) <= room:
            break
    finding += shown[:room]

    if report:
        notes.append(f"report: {report}")
    left_out = len(_stacked(everything)) - len(shown[:room])
    more = f"{left_out} more lines, " if left_out else ""
    n_numbers = len(result.measurements)
    notes.append(
        f"{result.status}: {result.run} ({more}all {n_numbers} numbers: --all)"
    )
    return Screen(header=plain(header), finding=plain(finding), notes=plain(notes))


def asked(uses: Iterable[ModelUse], most: int) -> list[str]:
    """The lines about the first models that were asked, and the number of others."""
    texts = asked_lines(uses, brief=True)
    more = len(texts) - most
    if more > 0:
        texts[most - 1] += f"; and {plural(more, 'more use')} of models (--json)"
    lines = []
    for text in texts[:most]:
        lines += wrapped(text, ASKED, indent="  ")
    return lines


def plain(lines: Iterable[str]) -> tuple[str, ...]:
    """Replace no-break spaces, once the lines are wrapped."""
    return tuple(line.replace(SPACE, " ") for line in lines)


def _headline_table(found: Sequence[Finding]) -> list[str]:
    """A line for each headline, and another for the rivals of its number."""
    if not found:
        return []
    rows: list[tuple[str, ...]] = [("", "value", "95 % interval", "n")]
    for one in found:
        best = one.numbers[0]
        title, rest = one.measure.titled(best.where)
        label = f"{title}: {labels_text(rest)}" if rest else title
        n = counted(best.n, best.clusters)
        rows.append((label, *_value_and_interval(best), n))

    heading, *lines = _table(rows)
    table = [heading]
    for one, line in zip(found, lines, strict=True):
        table += [line, *_rivals(one)]
        verdict = one.numbers[0].verdict
        if verdict is not None:
            text = verdict_text(verdict, one.measure.unit)
            table.append(f"  {shorten(text, WIDTH - 2, placeholder=CUT)}")
    return table


def _rivals(one: Finding) -> list[str]:
    """The numbers after the best in one line; nothing where there are none."""
    rivals = []
    for each in one.numbers[1:]:
        value, _ = _value_and_interval(each)
        rivals.append(f"{values_text(each.where)} {value}")
    if not rivals:
        return []
    return [f"  then {shorten(', '.join(rivals), WIDTH - 7, placeholder=CUT)}"]


def _probe_table(probe: Probed) -> list[str]:
    """A line for each headline of a probe, under the probe's name."""
    head = (
        f"{probe.fit.probe} ({fit_text(probe.fit)}), best control and test on the right"
    )
    if not probe.numbers:
        head = f"{probe.fit.probe}: {probe.reason}"
    rows = [_beside_control(one) for one in probe.numbers]
    return [shorten(head, WIDTH, placeholder=CUT), *_table(rows)]


def _beside_control(one: Beside) -> tuple[str, ...]:
    """A number and its strongest control as the cells of a row."""
    # Of few held-out worlds, a tenth of a per cent says nothing.
    value, interval = _value_and_interval(one.ours, 0)
    if one.fit is None or one.rival is None:
        return one.measure.title, value, interval, "no control", ""

    # The control has our unit, which the line already shows. Only a share needs its
    # sign again.
    write = quantity if one.rival.unit == "share" else number
    text = write(one.rival.value or 0.0, one.rival.unit, 0)
    control = f"{fit_text(one.fit)} {text}"
    return one.measure.title, value, interval, control, brief_outcome(one.verdict)


def _value_and_interval(one: Measurement, digits: int = 1) -> tuple[str, str]:
    """Value and interval; a dash and the reason where there is no value."""
    if one.value is None:
        return "\u2013", shorten(one.reason, 30, placeholder=CUT)
    value = quantity(one.value, one.unit, digits)
    return value, bounds(one.interval, one.unit, digits)


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns side by side, values flush right, the first cut to fit."""
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    gaps = 2 * (len(widths) - 1)
    widths[0] = min(widths[0], WIDTH - sum(widths[1:]) - gaps)

    lines = []
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        if len(row[0]) > widths[0]:
            cells[0] = f"{row[0][: widths[0] - 1]}\u2026"
        cells[1] = row[1].rjust(widths[1])
        lines.append("  ".join(cells).rstrip())
    return lines


def _stacked(tables: Sequence[Sequence[str]]) -> list[str]:
    """Tables below each other, an empty line before each."""
    lines = []
    for table in tables:
        if table:
            lines += ["", *table]
    return lines


def _cautions(opening: Claim) -> list[str]:
    """The first cautions in full, as far as they fit, and the number of others."""
    lines: list[str] = []
    for n_shown, caution in enumerate(opening.cautions):
        shown = wrapped(caution, CAUTION)
        if len(lines) + len(shown) > CAUTIONS:
            more = len(opening.cautions) - n_shown
            return [*lines, f"and {more} more cautions in the report"]
        lines += shown
    return lines


def _failures(result: Result) -> list[str]:
    """The first failures in full, as far as they fit, and the number of others."""
    lines: list[str] = []
    n_shown = 0
    for one in result.failures:
        failure = wrapped(f"failed: {one.stage} {one.subject}: {one.reason}", FAILURES)
        if len(lines) + len(failure) > FAILURES:
            break
        lines += failure
        n_shown += 1

    more = len(result.failures) - n_shown
    if more:
        lines.append(f"and {more} more failures")
    return lines


def _notice(result: Result) -> str:
    """The first sentence of the notice about the model; the report has all."""
    notice = str(result.provenance.get("notice") or "")
    first, end, _ = notice.partition(". ")
    return f"{first}." if end else first


def _cache(result: Result) -> list[str]:
    """The answers that were reused, where the plan names a cache."""
    note = result.provenance.get("cache")
    if not isinstance(note, Mapping):
        return []
    return wrapped(str(note.get("said", "")), CACHE)


def wrapped(text: str, lines: int, indent: str = "") -> list[str]:
    """A text as at most so many lines."""
    return wrap(
        text,
        WIDTH,
        max_lines=lines,
        placeholder=CUT,
        break_on_hyphens=False,
        subsequent_indent=indent,
    )
