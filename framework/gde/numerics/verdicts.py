"""Verdicts on differences, and the correction of those that are a family."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gde.data.measure import Better
from gde.data.verdict import Verdict, outcome_of
from gde.numerics.stats import MINIMUM_CLUSTERS, adjusted, holm, paired_difference

KeyT = TypeVar("KeyT", bound=Hashable)


def compare_paired(
    control: str,
    ours: ArrayLike,
    theirs: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
) -> Verdict:
    """Test a number against another in the same worlds by sign flips of clusters,
    without correction.

    Args:
        control: name of the other one.
        ours: (N,) the number in each world.
        theirs: (N,).
        clusters: (N,) of the worlds.
        rng: for resampling.
    """
    found = paired_difference(ours, theirs, clusters, rng)
    return Verdict(
        control=control,
        difference=found.estimate.value,
        interval=found.estimate.interval,
        p=found.p_value,
        detectable=found.mde.value,
        worlds=found.estimate.n_clusters,
        reason=found.permutation.reason.removeprefix("not measured: "),
    )


def untested(control: str, difference: float, worlds: int, draws: int = 1) -> Verdict:
    """A verdict before its test; with the reason if worlds are too few for any.

    Args:
        control: its name.
        difference: of the number from that of the control.
        worlds: compared.
        draws: of the control.
    """
    reason = ""
    if worlds < MINIMUM_CLUSTERS:
        counted = "1 world" if worlds == 1 else f"{worlds} worlds"
        reason = f"{counted}; a test needs {MINIMUM_CLUSTERS}"
    return Verdict(
        control=control,
        difference=difference,
        worlds=worlds,
        draws=draws,
        reason=reason,
    )


def judged(
    family: Mapping[KeyT, Verdict], better: Callable[[KeyT], Better]
) -> dict[KeyT, Verdict]:
    """The verdicts of a family with p values after Holm (1979), and their outcomes.

    Args:
        family: all tests that are corrected together.
        better: gives the better direction of each.
    """
    p_values = adjusted([one.p for one in family.values()], holm)
    found = {}
    for (key, one), p in zip(family.items(), p_values, strict=True):
        outcome = outcome_of(one.difference, p, better(key))
        # A number among those of the draws is not told from one more draw.
        if p is not None and one.outside is False:
            outcome = "none"
        found[key] = replace(one, p=p, outcome=outcome)
    return found
