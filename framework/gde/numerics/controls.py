"""Comparison with a control of a probe, which is fitted once or to several draws:
random initialisations of a model, or exchanges of labels.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gde.data.arrays import Doubles
from gde.data.result import Measurement
from gde.data.verdict import Verdict
from gde.numerics.stats import difference_from_initialisations, initialisation_error
from gde.numerics.verdicts import compare_paired, untested

DRAWN = {"untrained": "random initialisations", "shuffled": "exchanges of labels"}
"""Controls that are drawn, with what each draw is."""
DRAWS = 5
"""Fewest draws of which a verdict can be given."""
MANY = 19
"""Draws beyond which one more lies, on a given side, in one of twenty cases."""


def compare_with_control(
    control: str, ours: Doubles, controls: Doubles, rng: np.random.Generator
) -> Verdict:
    """Test a number against that of a control in the same worlds, without correction.

    One fit of the control is tested by sign flips of worlds. Of several draws, worlds
    and draws are both samples, and the draws are taken to be normal. That assumption
    is not trusted alone: see `Verdict.outside`.

    Args:
        control: its name.
        ours: (G,) the number in each world.
        controls: (K, G) the same of each of K draws of the control.
        rng: for resampling.
    """
    n_draws, n_worlds = controls.shape
    difference = float(ours.mean() - controls.mean()) if n_worlds else 0.0
    verdict = untested(control, difference, n_worlds, n_draws)
    if verdict.reason:
        return verdict

    if control in DRAWN:
        if n_draws < DRAWS:
            needs = f"a verdict needs {DRAWS} {DRAWN[control]}, got {n_draws}"
            return replace(verdict, reason=needs)
        mixed = difference_from_initialisations(ours, controls)
        if mixed is None:
            return replace(verdict, reason="all scores are the same")
        means = controls.mean(axis=1)
        return replace(
            verdict,
            interval=mixed.interval,
            p=mixed.p_value,
            detectable=mixed.mde,
            outside=not means.min() <= ours.mean() <= means.max(),
            assumes="normal",
        )

    return compare_paired(control, ours, controls[0], np.arange(n_worlds), rng)


def over_initialisations(
    several: Sequence[Sequence[Measurement]],
) -> list[Measurement]:
    """The mean of each number over the draws of a control, given those of each.

    The squared distances of the bounds from the mean are added up (Zou and Donner
    2008): that of the mean interval over worlds, and that of Student's interval over
    initialisations. What one of them could not measure has its reason.
    """
    first, *others = several
    if not others:
        return list(first)
    by_identity = [{one.identity: one for one in each} for each in several]
    averaged = []
    for one in first:
        same = [found[one.identity] for found in by_identity if one.identity in found]
        averaged.append(_mean_of(same, len(several)))
    return averaged


def _mean_of(same: Sequence[Measurement], wanted: int) -> Measurement:
    """The mean of a number over initialisations, with an interval for both samples."""
    for one in same:
        if one.value is None:
            return one
    first = same[0]
    if len(same) < wanted:
        reason = "not measured for every draw"
        return replace(first, value=None, interval=None, reason=reason)

    values = np.array([one.value for one in same], dtype=np.float64)
    mean = float(values.mean())
    intervals = [one.interval for one in same if one.interval is not None]
    interval = None
    if len(intervals) == wanted:
        bounds = np.array(intervals)
        below, above = np.abs(bounds - values[:, None]).mean(axis=0)
        spread = initialisation_error(values)
        low = mean - float(np.hypot(below, spread))
        high = mean + float(np.hypot(above, spread))
        # What no single one can be, their mean cannot be either.
        if bounds.min() >= 0:
            low = max(low, 0.0)
        if first.unit == "share":
            high = min(high, 1.0)
        interval = (low, high)
    return replace(first, value=mean, interval=interval)
