"""A result as reports show it: headlines first, rivals ranked, probes beside their controls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.json import is_number
from gde.data.measure import Better, Measure
from gde.data.probe import Fit
from gde.data.result import Measurement, Result

FIRST = 3
"""Findings shown as headlines where no measure is declared one."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One measure with its numbers for the whole run: one, or several with different labels."""

    measure: Measure
    numbers: tuple[Measurement, ...]
    """The best first, those without a value last."""

    @property
    def by(self) -> tuple[str, ...]:
        """The numeric labels that break several numbers down, e.g. a distance.

        Such numbers are points of a curve or cells of a map, and none of them stands for the run. Empty for rivals,
        whose labels are words.
        """
        if len(self.numbers) < 2:
            return ()
        keys: dict[str, None] = {}
        for one in self.numbers:
            if not all(is_number(value) for value in one.where.values()):
                return ()
            keys |= dict.fromkeys(one.where)
        return tuple(keys)


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A number of a probe beside its strongest control."""

    measure: Measure
    ours: Measurement
    fit: Fit | None = None
    """The strongest control; None where no control has the number."""
    rival: Measurement | None = None
    """The number of the strongest control."""
    controls: tuple[tuple[Fit, Measurement], ...] = ()
    """All controls that have the number, in the order of the record."""

    @property
    def clear(self) -> bool:
        """Whether the intervals do not overlap and ours is on the better side."""
        if self.rival is None or self.ours.interval is None or self.rival.interval is None:
            return False
        low, high = self.ours.interval
        rival_low, rival_high = self.rival.interval
        below = high < rival_low
        above = low > rival_high
        return {"less": below, "more": above, "": below or above}[self.measure.better]

    @property
    def beaten(self) -> bool:
        """Whether the control has the better number."""
        if self.rival is None:
            return False
        better = self.measure.better
        return _distance(better, self.ours, self.rival) < _distance(better, self.ours, self.ours)


@dataclass(frozen=True, kw_only=True)
class Probed:
    """What the main fit of a probe found: the first that is no control, however well it did."""

    fit: Fit
    numbers: tuple[Beside, ...]
    """Its headlines; its first number where it declares none."""
    reason: str = ""
    """Why there are no numbers."""


def whole(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Keep the measurements of the whole run: those that are no part of another of the same name."""
    by_name: dict[str, list[Measurement]] = {}
    for one in measurements:
        by_name.setdefault(one.name, []).append(one)

    kept = []
    for group in by_name.values():
        kept += [one for one in group if not _is_part(one, group)]
    return kept


def _is_part(one: Measurement, group: Sequence[Measurement]) -> bool:
    return any(other.where.items() < one.where.items() for other in group)


def swept(result: Result) -> tuple[str, ...]:
    """The settings of the environment for which the plan lists several values, if any number is labelled with them."""
    plan = result.provenance.get("plan", {})
    settings = plan.get("env", {}) if isinstance(plan, Mapping) else {}
    if not isinstance(settings, Mapping):
        return ()
    labels = {label for one in result.measurements for label in one.where}
    return tuple(name for name, value in settings.items() if isinstance(value, list) and name in labels)


def of_metrics(result: Result) -> list[Measurement]:
    """The numbers of metrics, without those of probes."""
    return [one for one in result.measurements if Fit.of(one) is None]


def findings(result: Result) -> list[Finding]:
    """What the metrics found about the whole run, in the order of declaration, without columns of tests."""
    groups: dict[str, list[Measurement]] = {}
    for one in whole(of_metrics(result)):
        groups.setdefault(one.name, []).append(one)

    found = []
    for name in result.meanings.ordered(groups):
        measure = result.meanings[name]
        if not measure.column:
            found.append(Finding(measure=measure, numbers=_ranked(measure.better, groups[name])))
    return found


def _ranked(better: Better, numbers: Sequence[Measurement]) -> tuple[Measurement, ...]:
    sign = 1 if better == "less" else -1
    return tuple(sorted(numbers, key=lambda one: (one.value is None, sign * (one.value or 0.0))))


def headlines(result: Result) -> list[Finding]:
    """The findings to show first: the declared headlines, else the first findings that are no breakdown."""
    found = findings(result)
    declared = [one for one in found if one.measure.headline]
    return declared or [one for one in found if not one.by][:FIRST]


def probed(result: Result) -> list[Probed]:
    """What each probe found, in the order of the plan."""
    fits: dict[Fit, list[Measurement]] = {}
    for one in result.measurements:
        fit = Fit.of(one)
        if fit is not None:
            fits.setdefault(fit, []).append(one)

    main: dict[str, Fit] = {}
    for fit in fits:
        if fit.control == "none":
            main.setdefault(fit.probe, fit)
    return [_probed(result, fit, fits) for fit in main.values()]


def _probed(result: Result, fit: Fit, fits: Mapping[Fit, Sequence[Measurement]]) -> Probed:
    own = {one.name: one for one in whole(fits[fit]) if one.value is not None}
    if not own:
        reasons = [one.reason for one in fits[fit]]
        return Probed(fit=fit, numbers=(), reason=reasons[0] if reasons else "")

    meanings = result.meanings
    names = [name for name in meanings.ordered(own) if meanings[name].headline]
    if not names:
        names = list(own)[:1]

    others = [other for other in fits if other.control != "none" and replace(other, control="none") == fit]
    controls = {other: fits[other] for other in others}
    return Probed(fit=fit, numbers=tuple(beside(meanings[name], own[name], controls) for name in names))


def beside(measure: Measure, ours: Measurement, controls: Mapping[Fit, Sequence[Measurement]]) -> Beside:
    """Put a number beside the strongest of its controls."""
    measured = []
    for fit, numbers in controls.items():
        same_name = whole(each for each in numbers if each.name == measure.name)
        measured += [(fit, one) for one in same_name if one.value is not None]
    if not measured:
        return Beside(measure=measure, ours=ours)

    fit, rival = min(measured, key=lambda pair: _distance(measure.better, ours, pair[1]))
    return Beside(measure=measure, ours=ours, fit=fit, rival=rival, controls=tuple(measured))


def _distance(better: Better, ours: Measurement, rival: Measurement) -> float:
    """How weak a control is: the smaller, the stronger. Without a better direction, its distance from our number."""
    value = rival.value or 0.0
    if better == "less":
        return value
    if better == "more":
        return -value
    return abs(value - (ours.value or 0.0))
