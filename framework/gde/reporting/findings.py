"""A result as readers look at it: numbers with their company, headlines first, probes beside their best controls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.json import is_number
from gde.data.measure import Better, Measure
from gde.data.probe import Arm
from gde.data.result import Measurement, Result

FIRST = 3
"""Numbers that stand for a run without headlines."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One measure with its numbers for the whole run: one, or several that differ in what they are restricted to."""

    measure: Measure
    numbers: tuple[Measurement, ...]
    """The best first where there are several, those without value last."""

    @property
    def by(self) -> tuple[str, ...]:
        """The numeric labels that several numbers are broken down by, e.g. a distance: points of a curve or cells of a
        map, of which none stands for the run. Empty for rivals, whose labels are words."""
        keys = tuple(dict.fromkeys(key for one in self.numbers for key in one.where))
        numeric = all(is_number(value) for one in self.numbers for value in one.where.values())
        return keys if numeric and len(self.numbers) > 1 else ()


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A number of a probe's main arm, and of its controls the one that comes nearest to it."""

    measure: Measure
    ours: Measurement
    arm: Arm | None = None
    """Of the control; None where no control has the number."""
    rival: Measurement | None = None
    controls: tuple[tuple[Arm, Measurement], ...] = ()
    """All that have the number, in the order of the record."""

    @property
    def clear(self) -> bool:
        """Whether the intervals are apart, ours on the better side."""
        if self.rival is None or self.ours.interval is None or self.rival.interval is None:
            return False
        (low, high), (rival_low, rival_high) = self.ours.interval, self.rival.interval
        less, more = high < rival_low, low > rival_high
        return {"less": less, "more": more, "": less or more}[self.measure.better]

    @property
    def beaten(self) -> bool:
        """Whether the control has the better number."""
        if self.rival is None:
            return False
        better = self.measure.better
        return _distance(better, self.ours, self.rival) < _distance(better, self.ours, self.ours)


@dataclass(frozen=True, kw_only=True)
class Probed:
    """What the main arm of a probe found: the first that is no control. Never chosen by how well it did."""

    arm: Arm
    numbers: tuple[Beside, ...]
    """Its headlines; its first number where it declares none."""
    reason: str = ""
    """Why there are none."""


def whole(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Those of the whole run: no other of the same name is restricted by less."""
    by_name: dict[str, list[Measurement]] = {}
    for one in measurements:
        by_name.setdefault(one.name, []).append(one)
    return [one for group in by_name.values() for one in group if not _is_part(one, group)]


def swept(result: Result) -> tuple[str, ...]:
    """The settings of the environment that have several values in the plan, as the numbers of strata are labelled."""
    plan = result.provenance.get("plan", {})
    tables = plan.get("env", {}) if isinstance(plan, Mapping) else {}
    several = [name for name, value in tables.items() if isinstance(value, list)] if isinstance(tables, Mapping) else []
    return tuple(name for name in several if any(name in one.where for one in result.measurements))


def of_metrics(result: Result) -> list[Measurement]:
    """The numbers that are no probe's."""
    return [one for one in result.measurements if Arm.of(one) is None]


def findings(result: Result) -> list[Finding]:
    """What the metrics found about the whole run, in the order in which parts declare it, but for columns of tests."""
    meanings = result.meanings
    groups: dict[str, list[Measurement]] = {}
    for one in whole(of_metrics(result)):
        groups.setdefault(one.name, []).append(one)
    listed = ((meanings[name], groups[name]) for name in meanings.ordered(groups))
    return [
        Finding(measure=measure, numbers=_ranked(measure.better, numbers))
        for measure, numbers in listed
        if not measure.column
    ]


def headlines(result: Result) -> list[Finding]:
    """The findings that are shown first; where none is declared to be, the first ones that are no breakdown."""
    found = findings(result)
    return [one for one in found if one.measure.headline] or [one for one in found if not one.by][:FIRST]


def probed(result: Result) -> list[Probed]:
    """What each probe found, in the order of the plan."""
    arms: dict[Arm, list[Measurement]] = {}
    for one in result.measurements:
        if arm := Arm.of(one):
            arms.setdefault(arm, []).append(one)
    main: dict[str, Arm] = {}
    for arm in arms:
        if arm.control == "none":
            main.setdefault(arm.probe, arm)
    return [_probed(result, arm, arms) for arm in main.values()]


def _is_part(one: Measurement, group: Sequence[Measurement]) -> bool:
    return any(other.where.items() < one.where.items() for other in group)


def _ranked(better: Better, numbers: Sequence[Measurement]) -> tuple[Measurement, ...]:
    sign = 1 if better == "less" else -1
    return tuple(sorted(numbers, key=lambda one: (one.value is None, sign * (one.value or 0.0))))


def _probed(result: Result, arm: Arm, arms: Mapping[Arm, Sequence[Measurement]]) -> Probed:
    own = {one.name: one for one in whole(arms[arm]) if one.value is not None}
    if not own:
        reason = next((one.reason for one in arms[arm]), "")
        return Probed(arm=arm, numbers=(), reason=reason)
    names = [name for name in result.meanings.ordered(own) if result.meanings[name].headline] or list(own)[:1]
    rivals = [other for other in arms if other.control != "none" and replace(other, control="none") == arm]
    numbers = (beside(result.meanings[name], own[name], {rival: arms[rival] for rival in rivals}) for name in names)
    return Probed(arm=arm, numbers=tuple(numbers))


def beside(measure: Measure, ours: Measurement, controls: Mapping[Arm, Sequence[Measurement]]) -> Beside:
    """A number over the control that comes nearest to it."""
    measured = list(_measured(measure.name, controls))
    if not measured:
        return Beside(measure=measure, ours=ours)
    arm, rival = min(measured, key=lambda pair: _distance(measure.better, ours, pair[1]))
    return Beside(measure=measure, ours=ours, arm=arm, rival=rival, controls=tuple(measured))


def _measured(name: str, controls: Mapping[Arm, Sequence[Measurement]]) -> Iterator[tuple[Arm, Measurement]]:
    for arm, numbers in controls.items():
        for one in whole(each for each in numbers if each.name == name):
            if one.value is not None:
                yield arm, one


def _distance(better: Better, ours: Measurement, rival: Measurement) -> float:
    """The smaller, the stronger the control; where neither direction is better, how near it comes."""
    value = rival.value or 0.0
    return {"less": value, "more": -value, "": abs(value - (ours.value or 0.0))}[better]
