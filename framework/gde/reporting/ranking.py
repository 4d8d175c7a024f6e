"""The ranking of a contest in words: one line for each variant."""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.comparisons.comparison import Comparison
from gde.comparisons.ranking import Ranked
from gde.data.measure import Measure
from gde.data.result import Measurement
from gde.data.verdict import Verdict
from gde.reporting.asked import agent_text, amount, money, seconds_text
from gde.reporting.wording import (
    SPACE,
    bounds,
    inline,
    number,
    outcome_text,
    quantity,
    setting_text,
)

ABSENT = "\u2013"
NONE = "0"
BEST = "best"
BY_WORLD = (
    "\u2212 best: mean over the worlds of both, so not the difference of the values"
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A variant in the ranking; a dash for what is not known."""

    rank: str
    variant: str
    agent: str
    """The agent with its language model."""
    settings: tuple[str, ...]
    """In the order of the ranking's; empty for one that it does not have."""
    value: str
    interval: str
    against: str
    """Difference from the best variant, and the p value."""
    verdict: str
    """The same in words; empty for the best variant."""
    usable: str
    """Share of usable answers."""
    calls: str
    """Calls of language models in an episode; the following are per episode too."""
    tokens: str
    seconds: str
    cost: str


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The ranking of a contest."""

    measure: Measure
    title: str
    settings: tuple[str, ...]
    """The settings in which variants differ, e.g. "agent.p", without those whose values
    are in all names.
    """
    lines: tuple[Line, ...]
    note: str
    """Where differences are not those of the values: what they are."""

    @property
    def asks_models(self) -> bool:
        """Whether any variant has asked a language model."""
        return any(one.calls != NONE for one in self.lines)

    @property
    def has_costs(self) -> bool:
        """Whether the cost of any variant is known."""
        return any(one.cost != ABSENT for one in self.lines)


def ranking(found: Comparison) -> Ranking | None:
    """The ranking of a contest; None where its variants cannot be ranked."""
    ranked = found.ranking
    if not ranked or ranked[0].number is None:
        return None

    best = found.results[ranked[0].variant]
    measure = best.meanings[ranked[0].number.name]
    unit = ranked[0].number.unit
    by = inline(measure.title)
    title = f"{len(ranked)} variants in {best.subject.environment} by {by}"
    settings = _settings(found)
    first, *others = ranked
    # The least bad of variants that have all failed is not the best.
    leads = (ABSENT, best.missing) if best.status == "failed" else (BEST, "")
    by_world = any(_is_by_world(one, ranked[0].number) for one in others)
    return Ranking(
        measure=measure,
        title=f"{title}; equal ranks: no clear difference shown",
        settings=settings,
        lines=(
            _line(found, first, settings, *leads),
            *(_line(found, one, settings, *_against(one, unit)) for one in others),
        ),
        note=BY_WORLD if by_world else "",
    )


def _is_by_world(one: Ranked, best: Measurement) -> bool:
    """Whether a difference over shared worlds reads otherwise than that of the values.

    A value is of all episodes of its variant.
    """
    if one.verdict is None or one.number is None or one.number.value is None:
        return False
    assert best.value is not None
    apart = one.number.value - best.value - one.verdict.difference
    return number(abs(apart), best.unit) != number(0.0, best.unit)


def _settings(found: Comparison) -> tuple[str, ...]:
    named: dict[str, bool] = {}
    for variant in found.differing:
        for key, value in _values(found, variant).items():
            named[key] = named.get(key, True) and value in variant
    return tuple(key for key, is_named in named.items() if not is_named)


def _values(found: Comparison, variant: str) -> dict[str, str]:
    """The settings of a variant that differ from others', as text."""
    return {key: setting_text(value) for key, value in found.differing[variant].items()}


def _line(
    found: Comparison,
    one: Ranked,
    settings: Sequence[str],
    against: str,
    verdict: str,
) -> Line:
    unit = one.number.unit if one.number is not None else ""
    result = found.results[one.variant]
    differing = _values(found, one.variant)
    value = interval = ABSENT
    if one.number is not None and one.number.value is not None:
        value = quantity(one.number.value, unit)
        interval = bounds(one.number.interval, unit, 0) or one.number.reason
    return Line(
        rank=ABSENT if one.rank is None else str(one.rank),
        variant=one.variant,
        agent=agent_text(result.subject, result.models),
        settings=tuple(differing.get(key, "") for key in settings),
        value=value,
        interval=interval,
        against=against,
        verdict=verdict,
        usable=ABSENT if one.usable is None else quantity(one.usable, "share", 0),
        calls=amount(one.calls),
        tokens=ABSENT if one.tokens is None else amount(one.tokens),
        seconds=ABSENT if one.seconds is None else seconds_text(one.seconds),
        cost=ABSENT if one.cost is None else money(one.cost),
    )


def _against(one: Ranked, unit: str) -> tuple[str, str]:
    """The verdict against the best variant, as numbers and in words."""
    if one.rank is None:
        reason = one.number.reason if one.number else "the run has no such number"
        return ABSENT, f"not measured: {reason}"
    if one.verdict is None:
        return ABSENT, "not compared"
    return _numbers(one.verdict, unit), outcome_text(
        one.verdict, one.verdict.control, unit
    )


def _numbers(verdict: Verdict, unit: str) -> str:
    difference = number(verdict.difference, unit)
    if verdict.p is None:
        return f"{difference}, untested"
    return f"{difference}, p{SPACE}{number(verdict.p, 'probability')}"
