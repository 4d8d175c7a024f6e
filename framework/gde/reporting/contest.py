"""A contest in numbers and sentences: headlines and clear differences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.comparisons.comparison import Comparison
from gde.comparisons.differences import Row
from gde.comparisons.ranking import Ranked
from gde.data.measure import Measure
from gde.data.result import Identity, Measurement, readable_rates
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import adjusted, holm
from gde.reporting.findings import (
    Beside,
    Probed,
    among_baselines,
    headlines,
    probed,
)
from gde.reporting.forest import Group, on_axes, row_of
from gde.reporting.opening import (
    Opening,
    answers_limit,
    record_limits,
    worlds_limit,
    worlds_text,
)
from gde.reporting.sentences import sentences
from gde.reporting.wording import (
    NAME,
    bounds,
    difference_quantity,
    inline,
    listed,
    number,
    place_text,
    plural,
    quantity,
    short,
    titled,
)

LISTED = 3
"""The number of differences that become sentences."""
NOTHING = "No headline differs clearly between any two variants."
CLEAR = 0.05
"""Differences with a smaller corrected p value become sentences."""


@dataclass(frozen=True, kw_only=True)
class Contended:
    """A headline, and what each variant got."""

    measure: Measure
    title: str
    numbers: Mapping[str, Measurement | None]
    """Variant to number; None where it has none."""
    probe: str = ""
    """The probe that it is of, whose numbers have verdicts; empty for a metric."""


def contended(found: Comparison) -> list[Contended]:
    """The headlines of all variants, each with the numbers of all: of metrics, then of
    probes.
    """
    return [*_of_metrics(found), *_of_probes(found)]


def _of_metrics(found: Comparison) -> Iterator[Contended]:
    # The first variant that has a number gives its measure: the same parts measure all
    # variants.
    examples: dict[Identity, tuple[Measure, Measurement]] = {}
    numbers: dict[str, dict[Identity, Measurement]] = {}
    for name, result in found.results.items():
        numbers[name] = {one.identity: one for one in result.measurements}
        for finding in headlines(result):
            # The verdict of a sentence is a label that differs between variants.
            if not finding.measure.sentence:
                for one in finding.numbers:
                    examples.setdefault(one.identity, (finding.measure, one))

    for identity, (measure, example) in examples.items():
        yield Contended(
            measure=measure,
            title=titled(measure, example.where),
            numbers={name: own.get(identity) for name, own in numbers.items()},
        )


def _of_probes(found: Comparison) -> Iterator[Contended]:
    """The headlines of each probe's main fit."""
    by_probe: dict[str, dict[str, Probed]] = {}
    for variant, result in found.results.items():
        for one in probed(result):
            by_probe.setdefault(one.fit.probe, {})[variant] = one

    for probe, of_variants in by_probe.items():
        # The layers of another model may be others.
        places = {place_text(one.fit) for one in of_variants.values()}
        whose = f"{probe} ({'; '.join(sorted(places))})"
        examples: dict[str, Beside] = {}
        for one in of_variants.values():
            for example in one.numbers:
                examples.setdefault(example.measure.name, example)

        for example in examples.values():
            numbers: dict[str, Measurement | None] = dict.fromkeys(found.results)
            for variant, one in of_variants.items():
                numbers[variant] = _number(one, example.measure)
            title, _ = example.measure.titled(example.ours.where)
            yield Contended(
                measure=example.measure,
                title=f"{whose}: {inline(title)}",
                numbers=numbers,
                probe=probe,
            )


def _number(one: Probed, measure: Measure) -> Measurement | None:
    """A headline of a probe with its verdict, or why the probe has none."""
    for headline in one.numbers:
        if headline.measure.name == measure.name:
            return headline.ours
    if not one.reason:
        return None
    return unmeasured(measure.name, one.reason)


def side_by_side(found: Comparison, but: str = "") -> list[Group]:
    """A group of rows for each headline, one a variant, on one axis: first one of the
    metrics and of each probe, for there may be room for few.

    Args:
        found: the contest.
        but: name of a headline that is left out.
    """
    groups: list[Group] = []
    ranked = [one.variant for one in found.ranking or ()]
    every = [one for one in contended(found) if one.measure.name != but]
    leading = {one.probe: one for one in reversed(every)}
    for one in sorted(every, key=lambda one: leading[one.probe] is not one):
        rows = []
        for variant in ranked or one.numbers:
            own = one.numbers[variant]
            ours = own or unmeasured(one.measure.name, "not measured")
            beside = among_baselines(ours, one.measure, found.results[variant])
            rows.append(row_of(variant, beside))
        groups += on_axes(one.measure.question, one.title, rows)
    return groups


def opening(found: Comparison) -> Opening:
    """Who leads, after the shares of readable answers where these limit it, and what
    limits that.
    """
    rates = readable_rates(
        {short(name): one.subject for name, one in found.results.items()}
    )
    first = next(iter(found.results.values()))
    variants = plural(len(found.results), "variant")
    if len(found.compared) == 1:
        variants = " against ".join(map(short, found.pair(found.compared[0])[::-1]))
    ranked = [one for one in found.ranking if _value(one)]
    if ranked:
        told = _leading(found, ranked)
    else:
        clear = verdicts(found)
        told = clear[0] if clear else NOTHING
    return Opening(
        subject=f"{variants} \u00b7 {first.subject.environment} \u00b7 {worlds_text(first)}",
        finding=f"{rates} {told}".strip(),
        limits=tuple(_limits(found, ranked)),
        notes=tuple(own_verdicts(found)),
    )


def _leading(found: Comparison, ranked: Sequence[Ranked]) -> str:
    """Who is ahead, as far as a test shows it, in one sentence."""
    best = ranked[0]
    assert best.number is not None
    title = inline(found.results[best.variant].meanings[best.number.name].title)
    ahead = [one for one in ranked if one.rank == 1]
    behind = [one for one in ranked if one.rank != 1]
    values = _value(best)
    if (least := _value(ahead[-1])) != values:
        values = f"{least} to {values}"
    if not behind:
        return f"In {title} {_undecided(ahead)} between {_counted(ahead)} ({values})."
    are_behind = f"{_named(behind)} {'are' if behind[1:] else 'is'} clearly behind"
    if not ahead[1:]:
        return f"{_named(ahead)} leads by {title}; {are_behind}."
    return f"{are_behind} in {title}; between {_counted(ahead)} ({values}) {_undecided(ahead)}."


def _undecided(ahead: Sequence[Ranked]) -> str:
    """What is known of those of the first rank."""
    untested = [one for one in ahead[1:] if not one.verdict or one.verdict.p is None]
    # Without a test a difference that is seen may be one.
    if any(_value(one) != _value(ahead[0]) for one in untested):
        return "a difference is not tested"
    return "no difference is shown"


def _limits(found: Comparison, ranked: Sequence[Ranked]) -> Iterator[str]:
    results = [*found.results.values()]
    yield from answers_limit({name: [one] for name, one in found.results.items()})
    yield from record_limits(results)
    untested = [
        one for one in ranked[1:] if one.verdict is None or one.verdict.p is None
    ]
    if untested:
        yield f"{_counted(untested)} not tested against {short(ranked[0].variant)}"
    yield from worlds_limit(results)


def _value(one: Ranked) -> str:
    """A variant's number; empty for none."""
    number = one.number
    if number is None or number.value is None:
        return ""
    return quantity(number.value, number.unit, 0)


def _named(variants: Sequence[Ranked]) -> str:
    """Up to three variants with their values, or the number of more and the best one's."""
    if len(variants) > LISTED:
        return f"{len(variants)} variants (at best {_value(variants[0])})"
    return listed([f"{short(one.variant)} ({_value(one)})" for one in variants])


def _counted(variants: Sequence[Ranked]) -> str:
    """The names of up to three variants, or the number of more or of long ones."""
    names = listed([short(one.variant) for one in variants])
    if len(variants) > LISTED or len(names) > 2 * NAME:
        return f"{len(variants)} variants"
    return names


def own_verdicts(found: Comparison) -> list[str]:
    """The variants' own verdicts in short; their numbers are shown beside.

    Tests of several variants are a family: what is clear alone, and not after Holm
    (1979), is not shown.
    """
    own = []
    corrected = _corrected(found)
    for name, result in found.results.items():
        measurements = []
        after = ""
        for one in result.measurements:
            where = one.where
            p_value = corrected.get((name, one.name))
            if p_value is not None and "verdict" in where:
                after = f" After Holm over {len(found.results)} variants p {quantity(p_value, one.unit)}."
                if p_value > CLEAR:
                    where = {**where, "verdict": "not shown"}
            measurements.append(replace(one, where=where))
        for sentence in sentences(measurements, result.meanings, brief=True):
            own.append(f"{name}: {sentence}{after}")
    return own


def _corrected(found: Comparison) -> dict[tuple[str, str], float]:
    """The p values of the variants' own tests by variant and name, after Holm."""
    tests: dict[tuple[str, str], float | None] = {}
    for variant, result in found.results.items():
        # The whole run is measured before its conditions.
        for one in result.measurements:
            if result.meanings[one.name].sentence and one.unit == "probability":
                tests.setdefault((variant, one.name), one.value)
    corrected = dict(zip(tests, adjusted([*tests.values()], holm), strict=True))
    made = {key: p for key, p in corrected.items() if p is not None}
    return made if len(made) > 1 else {}


def verdicts(found: Comparison) -> list[str]:
    """A sentence for each clear difference of a headline, the clearest first."""
    names = {one.measure.name for one in contended(found)}
    clear: list[tuple[float, str]] = []
    for one in found.compared:
        for row in one.rows:
            # Rows with labels are parts of the run, which a headline does not speak of.
            is_headline = row.name in names and not row.where
            if is_headline and row.p is not None and row.p < CLEAR:
                clear.append((row.p, _sentence(row, *found.pair(one))))
    return [sentence for _, sentence in sorted(clear)]


def _sentence(row: Row, a: str, b: str) -> str:
    by = difference_quantity(abs(row.difference), row.unit)
    direction = "above" if row.difference > 0 else "below"
    worlds = plural(row.n, "world")
    interval = bounds(row.interval, row.unit)
    apart = f"{b} {by} {direction} {a} on average over {worlds} {interval}".strip()

    p = p_text(row.p)
    p_value = f"p {p}" if p.startswith("<") else f"p = {p}"
    return f"{row.title}: {apart}, {p_value}."


def p_text(value: float | None) -> str:
    """A p value as a table prints it."""
    if value is None:
        return "\u2013"
    return number(value, "probability")


def cautions(found: Comparison) -> list[str]:
    """What each variant lacks, and the warnings of the comparisons, each once."""
    said = [
        f"{name}: {one.missing}" for name, one in found.results.items() if one.missing
    ]
    notes = dict.fromkeys(note for one in found.compared for note in one.notes)
    return [*said, *(f"{note[:1].upper()}{note[1:]}." for note in notes)]
