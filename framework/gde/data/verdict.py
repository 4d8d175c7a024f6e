"""The outcome of a test of a probe against one of its controls, or another run."""

from dataclasses import dataclass
from typing import Literal

from gde.data.measure import Better

ALPHA = 0.05
"""The level of all tests."""
Outcome = Literal["better", "worse", "different", "none", "untested"]
"""`different` is for a number of which neither direction is better, `none` for a test
that shows no difference, `untested` for no test.
"""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The difference between a probe and a control, or two runs, in the same worlds."""

    control: str
    """The control, as in `Fit.control`; in a comparison of two runs "A", the first; in
    the ranking of a contest the name of the other variant.
    """
    difference: float
    """The probe's number minus the control's."""
    interval: tuple[float, float] | None = None
    """95 % interval of the difference; None without a test."""
    p: float | None = None
    """Two-sided p value after Holm's correction for all headlines of the fit against
    this control. None without a test.
    """
    detectable: float | None = None
    """The size of a difference that would have been found with a power of 80 %, before
    the correction.
    """
    outcome: Outcome = "untested"
    worlds: int
    """Worlds that were compared: held-out ones, or those of a code length."""
    draws: int = 1
    """Fits of the control that were averaged: initialisations of random weights, or
    exchanges of labels.
    """
    outside: bool | None = None
    """Whether the number is beyond those of all draws, in the better direction or the
    worse; None of a single fit. Without it no difference is said to be shown.
    """
    assumes: Literal["", "normal"] = ""
    """What p and interval assume of the draws."""
    reason: str = ""
    """Why there is no test; empty otherwise."""


def negated(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """The interval of the difference the other way round."""
    if interval is None:
        return None
    low, high = interval
    return -high, -low


def outcome_of(difference: float, p: float | None, better: Better) -> Outcome:
    """What a difference says at the level of all tests.

    Args:
        difference: of a number from that of its control.
        p: corrected; None without a test.
        better: the better direction of the number.
    """
    if p is None:
        return "untested"
    if p >= ALPHA:
        return "none"
    if not better:
        return "different"
    is_more = difference > 0
    return "better" if is_more == (better == "more") else "worse"
