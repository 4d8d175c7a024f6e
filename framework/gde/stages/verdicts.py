"""The numbers of probes as they stand in a result, each control with its verdict.

A probe and its controls are scored on the same held-out worlds, so their difference is
tested paired by world. Whether two intervals overlap would be the wrong test: they
contain the variance between worlds, which cancels in the difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gde.data.json import Labels
from gde.data.measure import Better, Measures
from gde.data.probe import CodedTurns, Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.verdict import Verdict, outcome_of
from gde.numerics.controls import compare_with_control
from gde.numerics.stats import Floats, adjusted, holm
from gde.seeding import generator

Comparisons = Mapping[tuple[Fit, str], Verdict]
"""Control and name of a headline to the comparison of the probe with it."""


def results(
    reports: Sequence[ProbeReport],
    meanings: Measures,
    seed: int,
    conditions: Sequence[Labels] = (),
) -> Iterator[Measurement]:
    """The reports' measurements under full names, with the labels of their fits.

    Headlines have their verdicts, on the whole run and in each of several conditions.
    """
    compared = _comparisons(reports, meanings, seed)
    in_condition = []
    if len(conditions) > 1:
        for i, labels in enumerate(conditions):
            parts = [_of_condition(report, i) for report in reports]
            found = _comparisons(parts, meanings, seed)
            in_condition.append((labels, found, parts))
    for report in reports:
        fit = report.fit
        for measurement in report.measurements:
            name = f"{fit.probe}.{measurement.name}"
            verdict = None
            if not measurement.where:
                verdict = compared.get((fit, measurement.name))
            for labels, found, parts in in_condition:
                if measurement.where == labels and _is_mean(measurement, fit, parts):
                    verdict = found.get((fit, measurement.name))
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
                n=0,
                where=fit.where,
                reason=report.reason,
                source=fit.probe,
            )


def _of_condition(report: ProbeReport, condition: int) -> ProbeReport:
    """The held-out turns of one condition alone."""
    chosen = []
    for i, (episode, _) in enumerate(report.rows):
        if episode.partition("/")[0] == str(condition):
            chosen.append(i)
    scores = {name: each[:, chosen] for name, each in report.scores.items()}
    return replace(
        report,
        rows=tuple(report.rows[i] for i in chosen),
        worlds=tuple(report.worlds[i] for i in chosen if report.worlds),
        scores=scores,
        coded=CodedTurns(),
    )


def _is_mean(one: Measurement, fit: Fit, parts: Sequence[ProbeReport]) -> bool:
    """Whether a number is the mean of its scores in a condition.

    The explained variance is not: its scores are multiples of the variance of all
    held-out turns.
    """
    for part in parts:
        if part.fit == fit and one.name in part.scores and one.value is not None:
            scores = part.scores[one.name]
            if np.isfinite(scores).any():
                return bool(np.isclose(np.nanmean(scores), one.value, rtol=1e-4))
    return False


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
    for name in (*ours.scores, *ours.coded.scores):
        is_headline = meanings[f"{ours.fit.probe}.{name}"].headline
        theirs = {*control.scores, *control.coded.scores}
        if is_headline and name in theirs:
            found[control.fit, name] = _compare(ours, control, name, seed)

    made = [one.p for one in found.values()]
    corrected = adjusted(made, holm)
    judged = {}
    for ((fit, name), one), p in zip(found.items(), corrected, strict=True):
        better = meanings[f"{fit.probe}.{name}"].better
        outcome = outcome_of(one.difference, p, better)
        if p is not None and one.outside is False:
            outcome = "none"
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
    for headline in (*ours.scores, *ours.coded.scores):
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
    own_turns, theirs = _scored(ours, name), _scored(control, name)
    a = own_turns.scores[name].astype(np.float64)
    b = theirs.scores[name].astype(np.float64)
    worlds = np.array(own_turns.worlds)
    if own_turns.rows != theirs.rows:
        # Controls may lack turns, e.g. where the model with random weights fails.
        places = {row: i for i, row in enumerate(theirs.rows)}
        shared = [i for i, row in enumerate(own_turns.rows) if row in places]
        b = b[:, [places[own_turns.rows[i]] for i in shared]]
        a = a[:, shared]
        worlds = worlds[shared]

    counts = np.isfinite(a).all(axis=0) & np.isfinite(b).all(axis=0)
    of_worlds = _world_shares(np.concatenate([a, b])[:, counts], worlds[counts])
    first, *others = of_worlds
    rng = generator(seed, "verdict", control.fit.control, name)
    return compare_with_control(control.fit.control, first, np.array(others), rng)


def _scored(report: ProbeReport, name: str) -> ProbeReport | CodedTurns:
    """The turns that a score is of: the held-out or the coded ones."""
    if name in report.scores:
        return report
    return report.coded


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
