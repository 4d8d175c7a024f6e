"""A result as reports show it: headlines, ranked rivals, probes and controls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gde.data.goals import GOAL_MOVED
from gde.data.grouping import grouped
from gde.data.json import is_number
from gde.data.measure import Measure, Measures
from gde.data.model_use import SERVED
from gde.data.probe import Fit
from gde.data.result import Measurement, Result
from gde.data.reward import READS_TRUTH
from gde.data.verdict import Outcome, Verdict
from gde.reporting.wording import fit_text
from gde.stages.learning import EARLY

FIRST = 3
"""Findings shown as headlines where no measure is declared one."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One measure with its numbers for the whole run.

    It has several numbers if their labels differ.
    """

    measure: Measure
    numbers: tuple[Measurement, ...]
    """The best first, those without a value last."""

    @property
    def is_breakdown(self) -> bool:
        """Whether its numbers are points of a curve or cells of a map.

        None of these stands for the run. Labels of rivals are words.
        """
        if len(self.numbers) < 2:
            return False
        labels = [value for one in self.numbers for value in one.where.values()]
        return all(map(is_number, labels))


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A number beside its strongest control: of a probe, or of a baseline's moves."""

    measure: Measure
    ours: Measurement
    control: str = ""
    """The strongest control in words; empty where no control has the number."""
    rival: Measurement | None = None
    """The number of the strongest control."""
    bounds: tuple[tuple[str, Measurement], ...] = ()
    """What no agent can exceed, with its title."""

    @property
    def verdict(self) -> Verdict | None:
        """The test against the strongest control; None where none was made."""
        return (self.rival or self.ours).verdict

    @property
    def outcome(self) -> Outcome:
        """What the test says; "untested" without one."""
        return self.verdict.outcome if self.verdict else "untested"


@dataclass(frozen=True, kw_only=True)
class Probed:
    """The findings of a probe's main fit.

    The main fit is the first that is no control, whatever its score.
    """

    fit: Fit
    numbers: tuple[Beside, ...]
    """Its headlines; its first number where it declares none."""
    variants: tuple[tuple[Fit, Beside], ...] = ()
    """The other variants at the same place, each with the first of these numbers."""
    early_worlds: int = 0
    """Worlds that an early reader was shown; 0 without one."""
    reason: str = ""
    """Why there are no numbers."""


def early_of(probe: Probed) -> list[Beside]:
    """The numbers of a reader that was shown few worlds."""
    prefix = f"{probe.fit.probe}.{EARLY}."
    return [one for one in probe.numbers if one.measure.name.startswith(prefix)]


def late_of(probe: Probed) -> list[Beside]:
    """The numbers of a reader that was shown all worlds."""
    early = early_of(probe)
    return [one for one in probe.numbers if one not in early]


def whole(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Keep measurements of the whole run, not parts of others of the same name."""
    kept = []
    for group in grouped(measurements, lambda one: one.name).values():
        known = {frozenset(one.where.items()) for one in group}
        shapes = {frozenset(one.where) for one in group}
        for one in group:
            # A part shares all labels of the whole, and has more of them.
            fewer = [shape for shape in shapes if shape < one.where.keys()]
            wholes = (
                frozenset((key, one.where[key]) for key in keys) for keys in fewer
            )
            if known.isdisjoint(wholes):
                kept.append(one)
    return kept


def swept(result: Result) -> tuple[str, ...]:
    """The labels of a run's conditions: swept settings, and whether goals were moved; of
    a run without any, the label of the models that answered.
    """
    # The plan comes from a file that any version of gde may have written.
    plan = result.provenance.get("plan", {})
    if not isinstance(plan, Mapping):
        return ()
    settings = plan.get("env", {})
    if not isinstance(settings, Mapping):
        return ()

    labels = {label for one in result.measurements for label in one.where}
    names = [name for name, value in settings.items() if isinstance(value, list)]
    found = tuple(name for name in (*names, GOAL_MOVED) if name in labels)
    return found or tuple(labels & {SERVED})


def by_condition(result: Result, name: str) -> list[Measurement]:
    """A number in each condition of a sweep; empty without one."""
    names = {*swept(result)}
    return [
        one
        for one in result.measurements
        if names and one.name == name and one.where.keys() == names
    ]


def of_metrics(measurements: Iterable[Measurement]) -> list[Measurement]:
    """The numbers of metrics, without those of probes."""
    return [one for one in measurements if Fit.of(one) is None]


def findings(result: Result) -> list[Finding]:
    """The metrics' findings on the whole run, as declared, without test columns."""
    groups = grouped(whole(of_metrics(result.measurements)), lambda one: one.name)
    informed = [
        one.where for one in result.measurements if one.where.get("what") == READS_TRUTH
    ]
    found = []
    for name in result.meanings.ordered(groups):
        measure = result.meanings[name]
        if not measure.column:
            label = measure.contender
            of_truth = {where.get(label) for where in informed} - {None}
            rank = partial(_rank, measure, of_truth)
            numbers = sorted(groups[name], key=rank)
            found.append(Finding(measure=measure, numbers=tuple(numbers)))
    return found


def _rank(measure: Measure, of_truth: set[Any], one: Measurement) -> tuple[Any, ...]:
    """The best comes first, one without a value last. Contenders that read the truth
    have won nothing.
    """
    reads_truth = one.where.get(measure.contender) in of_truth
    sign = 1 if measure.better == "less" else -1
    return reads_truth, one.value is None, sign * (one.value or 0.0)


def headlines(result: Result) -> list[Finding]:
    """The declared headlines, else the first findings that are no breakdown.

    A number that its measure calls unlike another is among them where it is. Of one
    and another that stands for it where it has no value, one is among them.
    """
    every = findings(result)
    measured = {one.measure.name for one in every if one.numbers[0].value is not None}
    standing_in = {
        one.measure.instead for one in every if one.measure.name in measured
    } - measured
    found = []
    for one in every:
        if one.measure.name not in standing_in and one.measure.instead not in measured:
            found.append(one)

    values = {one.measure.name: one.numbers[0].value for one in found}
    declared = []
    for one in found:
        name, other = one.measure.name, one.measure.unlike
        if one.measure.headline or values.get(other, values[name]) != values[name]:
            declared.append(one)
    if any(one.measure.headline for one in declared):
        return declared

    no_breakdown = [one for one in found if not one.is_breakdown]
    return no_breakdown[:FIRST]


def probed(result: Result) -> list[Probed]:
    """What each probe found, in the order of the plan."""
    fits: dict[Fit, list[Measurement]] = {}
    for one in result.measurements:
        fit = Fit.of(one)
        if fit is not None:
            fits.setdefault(fit, []).append(one)

    # The first fit counts, not the best: choosing by the outcome would flatter the
    # probe.
    main: dict[str, Fit] = {}
    for fit in fits:
        if fit.control == "none":
            main.setdefault(fit.probe, fit)
    return [_probed(result, fit, fits) for fit in main.values()]


def _probed(
    result: Result, fit: Fit, fits: Mapping[Fit, Sequence[Measurement]]
) -> Probed:
    own = {one.name: one for one in whole(fits[fit]) if one.value is not None}
    if not own:
        # Every fit in the mapping has a number, if only one that gives a reason.
        return Probed(fit=fit, numbers=(), reason=fits[fit][0].reason)

    meanings = result.meanings
    names = [name for name in meanings.ordered(own) if meanings[name].headline]
    if not names:
        names = list(own)[:1]

    compared = _compared(meanings, fit, names, fits)
    variants = []
    for other in fits:
        is_variant = replace(other, variant=fit.variant) == fit
        if is_variant and other != fit:
            for one in _compared(meanings, other, names[:1], fits):
                variants.append((other, one))
    early = own.get(f"{fit.probe}.{EARLY}.worlds")
    return Probed(
        fit=fit,
        numbers=tuple(compared),
        variants=tuple(variants),
        early_worlds=int(early.value) if early and early.value else 0,
    )


def _compared(
    meanings: Measures,
    fit: Fit,
    names: Sequence[str],
    fits: Mapping[Fit, Sequence[Measurement]],
) -> list[Beside]:
    """The numbers of a fit that have a value, each beside its controls."""
    own = {one.name: one for one in whole(fits[fit]) if one.value is not None}

    # A control differs from its fit in nothing but the control.
    controls = {}
    for other, numbers in fits.items():
        if other.control != "none" and replace(other, control="none") == fit:
            controls[other] = numbers
    return [
        beside(meanings[name], own[name], controls) for name in names if name in own
    ]


def beside(
    measure: Measure, ours: Measurement, controls: Mapping[Fit, Sequence[Measurement]]
) -> Beside:
    """Put a number beside the strongest of its controls, if any can change it."""
    measured = []
    for fit, numbers in controls.items():
        same_name = [each for each in numbers if each.name == measure.name]
        for one in whole(same_name):
            if one.value is not None:
                measured.append((fit, one))
    # A baseline reads no activations, so a control changes nothing of it.
    untested = all(one.verdict is None for _, one in measured)
    if untested and {one.value for _, one in measured} <= {ours.value}:
        return Beside(measure=measure, ours=ours)

    def distance(control: tuple[Fit, Measurement]) -> float:
        _, number = control
        # The weakness of a control: the smaller, the stronger. Without a better
        # direction, its distance from our number.
        value = number.value or 0.0
        if measure.better == "less":
            return value
        if measure.better == "more":
            return -value
        return abs(value - (ours.value or 0.0))

    fit, rival = min(measured, key=distance)
    return Beside(
        measure=measure,
        ours=ours,
        control=fit_text(fit),
        rival=rival,
    )


def among_baselines(ours: Measurement, measure: Measure, result: Result) -> Beside:
    """Put a number of a metric beside the baselines in the same worlds."""
    control = ""
    rival = None
    bounds = []
    # Of thousands of conditions, most numbers are of others.
    for one in of_metrics(
        one for one in result.measurements if one.where == ours.where
    ):
        baseline = result.meanings[one.name]
        if baseline.beside == ours.name:
            if one.value is None:
                continue
            if baseline.bound:
                bounds.append((baseline.title, one))
            elif rival is None:
                control, rival = baseline.title, one
    return Beside(
        measure=measure,
        ours=ours,
        control=control,
        rival=rival,
        bounds=tuple(bounds),
    )
