"""The variants of a contest in the order of one headline, each against the best."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gde.comparisons.differences import Compared
from gde.data.measure import Measure
from gde.data.model_use import total
from gde.data.probe import Fit
from gde.data.result import Measurement, Result
from gde.data.verdict import Verdict, negated

Pairs = Mapping[tuple[str, str], Compared]
"""By the variants A and B."""
Tests = Mapping[tuple[str, str], Verdict]
"""Two variants to the verdict on the first against the second."""


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A variant in the ranking of a contest."""

    variant: str
    rank: int | None
    """1 and the number of variants that are better by a test. Variants that no test
    tells apart share a rank. None without a number.
    """
    number: Measurement | None
    """The headline over its own episodes."""
    verdict: Verdict | None
    """Against the variant with the best number. None for that one, without a number,
    and where they could not be compared.
    """
    usable: float | None
    """Share of the turns whose answer was an action; None without turns."""
    calls: float
    """Calls of language models per episode; likewise the following."""
    tokens: float | None
    """None where a server did not report them."""
    seconds: float | None
    """Response time of the models; None where it is not known."""
    cost: float | None
    """In the currency of the prices; None where a model has none."""


def rank(results: Mapping[str, Result], pairs: Pairs) -> tuple[Ranked, ...]:
    """Rank variants by the first headline with a better direction, the best first.

    Args:
        results: by variant.
        pairs: all pairs of variants that could be compared.

    Returns:
        Nothing where no number of whole runs has a better direction.
    """
    measure = _headline(results.values())
    if measure is None:
        return ()

    numbers = {name: _number(result, measure) for name, result in results.items()}
    sign = 1 if measure.better == "less" else -1
    with_value: dict[str, tuple[float, int]] = {}
    for name, number in numbers.items():
        if number is not None and number.value is not None:
            # Of equals, the one with the most worlds can be tested against.
            with_value[name] = sign * number.value, -number.n
    order = sorted(with_value, key=with_value.__getitem__)
    order += [name for name in results if name not in with_value]

    tests = _tests(measure, pairs)
    best = order[0]
    ranked = []
    for name in order:
        place = None
        if name in with_value:
            against = [tests.get((name, other)) for other in with_value]
            place = 1 + sum(
                one is not None and one.outcome == "worse" for one in against
            )
        one = _ranked(
            name, results[name], numbers[name], place, tests.get((name, best))
        )
        ranked.append(one)
    return tuple(ranked)


def _headline(results: Iterable[Result]) -> Measure | None:
    """The measure that most variants have a number of: headlines first, as declared."""
    found: dict[str, Measure] = {}
    n_values: dict[str, int] = {}
    for result in results:
        for name in result.meanings.ordered(one.name for one in result.measurements):
            measure = result.meanings[name]
            number = _number(result, measure)
            if measure.better and number is not None and number.value is not None:
                found.setdefault(name, measure)
                n_values[name] = n_values.get(name, 0) + 1

    # The first of equals, and so in the order of declaration.
    def worth(measure: Measure) -> tuple[bool, int]:
        return measure.headline, n_values[measure.name]

    return max(found.values(), key=worth, default=None)


def _number(result: Result, measure: Measure) -> Measurement | None:
    """The number of a whole run; None for a probe's."""
    for one in result.measurements:
        if one.name == measure.name and not one.where and Fit.of(one) is None:
            return one
    return None


def _tests(measure: Measure, pairs: Pairs) -> Tests:
    """The verdicts on each of two variants against the other."""
    tests = {}
    for (a, b), one in pairs.items():
        rows = {row.name: row for row in one.rows if not row.where}
        row = rows.get(measure.name)
        if row is None:
            continue
        # A row with the same test as another has its p value.
        if row.tested_as in rows:
            row = replace(row, p=rows[row.tested_as].p)
        interval = negated(row.interval)
        reverse = replace(row, difference=-row.difference, interval=interval)
        tests[b, a] = row.verdict(a)
        tests[a, b] = reverse.verdict(b)
    return tests


def _ranked(
    name: str,
    result: Result,
    number: Measurement | None,
    place: int | None,
    verdict: Verdict | None,
) -> Ranked:
    of = result.subject
    usage = total(one.usage for one in result.models)
    n = max(of.episodes, 1)
    return Ranked(
        variant=name,
        rank=place,
        number=number,
        verdict=verdict,
        usable=of.readable,
        calls=usage.calls / n,
        tokens=None if usage.untold else usage.tokens / n,
        seconds=None if usage.seconds is None else usage.seconds / n,
        cost=None if usage.cost is None or usage.untold else usage.cost / n,
    )
