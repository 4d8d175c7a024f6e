"""Verdicts of probes against their controls, by the scores of single turns.

A probe and its controls are scored on the same held-out worlds, so their difference is
tested paired by world. Whether two intervals overlap would be the wrong test: they
contain the variance between worlds, which cancels in the difference.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gde.data.arrays import Doubles
from gde.data.measure import Better
from gde.data.probe import CodedTurns, Fit, ProbeReport
from gde.data.verdict import Verdict
from gde.numerics.controls import compare_with_control
from gde.numerics.verdicts import judged
from gde.seeding import generator

Comparisons = Mapping[tuple[Fit, str], Verdict]
"""Fit and name of a headline to the comparison of the probe with its control."""
Direction = Callable[[Fit, str], Better | None]
"""Gives the better direction of a score; None for one that is no headline."""


def compared(
    reports: Sequence[ProbeReport], direction: Direction, seed: int
) -> Comparisons:
    """The verdicts of all headlines: of controls, and of probes on their strongest.

    Args:
        reports: of probes and their controls, with scores of turns.
        direction: of the scores that are tested.
        seed: of the run.
    """
    found: dict[tuple[Fit, str], Verdict] = {}
    for report in reports:
        if report.fit.control == "none":
            family = {}
            for control in _controls(report, reports):
                family.update(_family(report, control, direction, seed))
            found.update(family)
            found.update(_strongest(report, family, direction))
    return found


def _family(
    ours: ProbeReport, control: ProbeReport, direction: Direction, seed: int
) -> dict[tuple[Fit, str], Verdict]:
    """The comparisons of all headlines with one control, corrected together."""
    found = {}
    for name in (*ours.scores, *ours.coded.scores):
        is_headline = direction(ours.fit, name) is not None
        theirs = {*control.scores, *control.coded.scores}
        if is_headline and name in theirs:
            found[control.fit, name] = _compare(ours, control, name, seed)

    return judged(found, lambda key: direction(*key) or "")


def _controls(
    ours: ProbeReport, reports: Sequence[ProbeReport]
) -> Iterator[ProbeReport]:
    """The reports that differ from this one in nothing but the control."""
    for report in reports:
        is_control = report.fit.control != "none"
        if is_control and replace(report.fit, control="none") == ours.fit:
            yield report


def _strongest(
    ours: ProbeReport, family: Comparisons, direction: Direction
) -> Iterator[tuple[tuple[Fit, str], Verdict]]:
    """For each headline, the comparison with the control that has the best number.

    To be better than it is to be better than all, so nothing is corrected for their
    number.
    """
    for headline in (*ours.scores, *ours.coded.scores):
        better = direction(ours.fit, headline) or ""
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


def _world_shares(scores: Doubles, worlds: NDArray[np.str_]) -> Doubles:
    """(K, G) the share of each world in the means of scores (K, N) over all turns.

    Their mean over worlds is the mean over turns, so that a difference of two of them
    is that of the numbers that are shown.
    """
    names, places = np.unique(worlds, return_inverse=True)
    sums = np.zeros((len(scores), len(names)))
    for row, of_turns in zip(sums, scores, strict=True):
        np.add.at(row, places, of_turns)
    return sums * (len(names) / max(len(worlds), 1))
