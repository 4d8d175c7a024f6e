"""The numbers of probes as they stand in a result, each control with its verdict.

A probe and its controls are scored on the same held-out worlds, so their difference is
tested paired by world. Whether two intervals overlap would be the wrong test: they
contain the variance between worlds, which cancels in the difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gde.data.measure import Better, Measures
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.verdict import Outcome, Verdict
from gde.numerics.stats import (
    MINIMUM_CLUSTERS,
    Floats,
    adjusted,
    difference_from_initialisations,
    holm,
    paired_difference,
)
from gde.seeding import generator

ALPHA = 0.05
Comparisons = Mapping[tuple[Fit, str], Verdict]
"""Control and name of a headline to the comparison of the probe with it."""


def results(
    reports: Sequence[ProbeReport], meanings: Measures, seed: int
) -> Iterator[Measurement]:
    """The reports' measurements under full names, with the labels of their fits.

    Headlines have their verdicts.
    """
    compared = _comparisons(reports, meanings, seed)
    for report in reports:
        fit = report.fit
        for measurement in report.measurements:
            name = f"{fit.probe}.{measurement.name}"
            verdict = None
            if not measurement.where:
                verdict = compared.get((fit, measurement.name))
            yield replace(
                measurement,
                name=name,
                where={**fit.where, **measurement.where},
                source=fit.probe,
                verdict=verdict,
            )
        if report.reason:
            yield Measurement(
                name=fit.probe,
                value=None,
                unit="",
                n=0,
                where=fit.where,
                reason=report.reason,
                source=fit.probe,
            )


def _comparisons(
    reports: Sequence[ProbeReport], meanings: Measures, seed: int
) -> Comparisons:
    """The verdicts of all headlines: of controls, and of probes on their strongest."""
    found: dict[tuple[Fit, str], Verdict] = {}
    for report in reports:
        if report.fit.control == "none":
            family = {}
            for control in _controls(report, reports):
                family.update(_family(report, control, meanings, seed))
            found.update(family)
            found.update(_strongest(report, family, meanings))
    return found


def _family(
    ours: ProbeReport, control: ProbeReport, meanings: Measures, seed: int
) -> dict[tuple[Fit, str], Verdict]:
    """The comparisons of all headlines with one control, corrected together."""
    found = {}
    for name in ours.scores:
        is_headline = meanings[f"{ours.fit.probe}.{name}"].headline
        if is_headline and name in control.scores:
            found[control.fit, name] = _compare(ours, control, name, seed)

    made = [one.p for one in found.values()]
    corrected = adjusted(made, holm)
    judged = {}
    for ((fit, name), one), p in zip(found.items(), corrected, strict=True):
        better = meanings[f"{fit.probe}.{name}"].better
        outcome = _outcome(one.difference, p, better)
        judged[fit, name] = replace(one, p=p, outcome=outcome)
    return judged


def _controls(
    ours: ProbeReport, reports: Sequence[ProbeReport]
) -> Iterator[ProbeReport]:
    """The reports that differ from this one in nothing but the control."""
    for report in reports:
        is_control = report.fit.control != "none"
        if is_control and replace(report.fit, control="none") == ours.fit:
            yield report


def _strongest(
    ours: ProbeReport, family: Comparisons, meanings: Measures
) -> Iterator[tuple[tuple[Fit, str], Verdict]]:
    """For each headline, the comparison with the control that has the best number.

    To be better than it is to be better than all, so nothing is corrected for their
    number.
    """
    for headline in ours.scores:
        better = meanings[f"{ours.fit.probe}.{headline}"].better
        compared = [one for (_, name), one in family.items() if name == headline]
        leads = [_lead(one.difference, better) for one in compared]
        if leads:
            yield (ours.fit, headline), compared[int(np.argmin(leads))]


def _lead(difference: float, better: Better) -> float:
    """How far a probe is ahead of a control, whichever direction is better."""
    if better == "more":
        return difference
    if better == "less":
        return -difference
    return abs(difference)


def _compare(ours: ProbeReport, control: ProbeReport, name: str, seed: int) -> Verdict:
    """The difference of two reports in the mean of a score, without correction."""
    a = ours.scores[name].astype(np.float64)
    b = control.scores[name].astype(np.float64)
    if ours.rows != control.rows:
        # Controls may lack turns, e.g. where the model with random weights fails.
        places = {row: i for i, row in enumerate(control.rows)}
        shared = [i for i, row in enumerate(ours.rows) if row in places]
        b = b[:, [places[ours.rows[i]] for i in shared]]
        a = a[:, shared]
        worlds = np.array(ours.worlds)[shared]
    else:
        worlds = np.array(ours.worlds)

    counts = np.isfinite(a).all(axis=0) & np.isfinite(b).all(axis=0)
    of_worlds = _world_shares(np.concatenate([a, b])[:, counts], worlds[counts])
    first, *others = of_worlds
    several = np.array(others)
    difference = float(first.mean() - several.mean()) if first.size else 0.0
    untested = Verdict(
        control=control.fit.control,
        difference=difference,
        worlds=len(first),
        initialisations=len(others),
    )
    if len(first) < MINIMUM_CLUSTERS:
        reason = f"{len(first)} held-out worlds; a test needs {MINIMUM_CLUSTERS}"
        return replace(untested, reason=reason)
    return _tested(
        untested, first, several, generator(seed, "verdict", control.fit.name, name)
    )


def _tested(
    untested: Verdict, ours: Floats, controls: Floats, rng: np.random.Generator
) -> Verdict:
    if len(controls) > 1:
        mixed = difference_from_initialisations(ours, controls)
        if mixed is None:
            return replace(untested, reason="the scores do not differ in any world")
        return replace(
            untested,
            interval=mixed.interval,
            p=mixed.p_value,
            detectable=mixed.mde,
        )

    paired = paired_difference(ours, controls[0], np.arange(len(ours)), rng)
    return replace(
        untested,
        interval=paired.estimate.interval,
        p=paired.p_value,
        detectable=paired.mde.value,
        reason=paired.permutation.reason.removeprefix("not measured: "),
    )


def _world_shares(scores: Floats, worlds: NDArray[np.str_]) -> Floats:
    """(K, G) the share of each world in the means of scores (K, N) over all turns.

    Their mean over worlds is the mean over turns, so that a difference of two of them
    is that of the numbers that are shown.
    """
    names, places = np.unique(worlds, return_inverse=True)
    sums = np.zeros((len(scores), len(names)))
    for row, of_turns in zip(sums, scores, strict=True):
        np.add.at(row, places, of_turns)
    return sums * (len(names) / max(len(worlds), 1))


def _outcome(difference: float, p: float | None, better: Better) -> Outcome:
    if p is None or p >= ALPHA:
        return "none"
    if not better:
        return "different"
    is_more = difference > 0
    return "better" if is_more == (better == "more") else "worse"
